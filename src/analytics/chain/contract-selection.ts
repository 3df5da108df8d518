import { oneGreek } from '../../math/black-scholes.ts';
import type { PreparedChain, PreparedSeries } from './prepared-chain.ts';
import { optionColumns } from './rows.ts';

/** Which contracts of some series to list, and in which order. */
export interface ContractSelection {
  /** +1 calls only, -1 puts only. Undefined for both. */
  readonly callPut?: 1 | -1 | undefined;
  /** Lowest and highest strike, both included, dollars. */
  readonly strikeMin: number;
  readonly strikeMax: number;
  /** The target that orders the contracts. Undefined for the order of the strikes. */
  readonly near: Target | undefined;
}

/** A target: an absolute delta (0 to 1), or a strike in dollars. */
export type Target =
  | { readonly kind: 'delta'; readonly delta: number }
  | { readonly kind: 'strike'; readonly strike: number };

/**
 * Returns the contracts that a selection has, as rows of the prepared chain. Without a target, they are in order of strike, series, and
 * call before put. With a target, the nearest contract of each side of each series comes first, then the second nearest of each, and so on.
 * So the first contracts of a list of calls and puts are as many calls as puts. Contracts without a delta are the last if the target is a
 * delta.
 */
export function selectContracts(
  prepared: PreparedChain,
  series: readonly PreparedSeries[],
  selection: ContractSelection,
): number[] {
  const groups = series.flatMap((each) =>
    [1, -1].map((callPut) => contractsOfSide(prepared, each, callPut, selection)),
  );
  const { near } = selection;
  if (near === undefined) return inOrderOfStrike(prepared, series, groups.flat());
  const ranked = groups.map((group) => rankedByDistance(prepared, group, near));
  const longest = Math.max(0, ...ranked.map((each) => each.length));
  return Array.from({ length: longest }, (_, rank) => ranked.flatMap((each) => each.slice(rank, rank + 1))).flat();
}

/** Returns contracts in order of strike, then in the given order of the series, call before put. */
export function inOrderOfStrike(
  { strike, callPut, series, seriesIndex }: PreparedChain,
  order: readonly PreparedSeries[],
  contracts: readonly number[],
): number[] {
  const place = (contract: number) => order.indexOf(series[seriesIndex[contract]!]!);
  return contracts.toSorted((a, b) => strike[a]! - strike[b]! || place(a) - place(b) || callPut[b]! - callPut[a]!);
}

function contractsOfSide(
  { callPut, strike }: PreparedChain,
  { start, end }: PreparedSeries,
  side: number,
  { callPut: wanted, strikeMin, strikeMax }: ContractSelection,
): number[] {
  const contracts: number[] = [];
  if (wanted !== undefined && wanted !== side) return contracts;
  for (let i = start; i < end; i++) {
    if (callPut[i] === side && strike[i]! >= strikeMin && strike[i]! <= strikeMax) contracts.push(i);
  }
  return contracts;
}

/**
 * Returns contracts of one side of one series, the nearest to the target first. Of two at the same distance, the lower strike comes first.
 */
function rankedByDistance(prepared: PreparedChain, contracts: readonly number[], near: Target): number[] {
  const distances = distancesTo(near, prepared, Uint32Array.from(contracts));
  const byContract = new Map(contracts.map((contract, i) => [contract, distances[i]!]));
  // `toSorted` keeps the order of contracts at the same distance, which is that of the strikes.
  return contracts.toSorted((a, b) => byContract.get(a)! - byContract.get(b)!);
}

function distancesTo(near: Target, prepared: PreparedChain, contracts: Uint32Array): Float64Array {
  if (near.kind === 'strike') {
    return Float64Array.from(contracts, (contract) => Math.abs(prepared.strike[contract]! - near.strike));
  }
  const delta = oneGreek('delta', optionColumns(prepared, contracts));
  // Without a delta, the distance is larger than that of any contract with a delta.
  return delta.map((each) => (Number.isNaN(each) ? 2 : Math.abs(Math.abs(each) - near.delta)));
}
