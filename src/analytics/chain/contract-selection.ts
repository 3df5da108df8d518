import { oneGreek } from '../../math/black-scholes.ts';
import type { PreparedChain, PreparedSeries } from './prepared-chain.ts';
import { optionColumns } from './rows.ts';

/** A selection of contracts to list, and the order of the list. */
export interface ContractSelection {
  /** +1 for only calls, -1 for only puts, undefined for both. */
  readonly callPut?: 1 | -1 | undefined;
  /** Lowest and highest strike of the selection, dollars. Both strikes are included. */
  readonly strikeMin: number;
  readonly strikeMax: number;
  /** Contracts are listed by their distance from this target. Without a target, contracts are listed in order of strike. */
  readonly near: Target | undefined;
}

/** A target is an absolute delta (0 to 1) or a strike in dollars. */
export type Target =
  | { readonly kind: 'delta'; readonly delta: number }
  | { readonly kind: 'strike'; readonly strike: number };

/**
 * Returns the selected contracts, as rows of the prepared chain. Without a target, contracts are sorted by strike. Contracts with the same
 * strike follow the order of the series, and a call comes before its put. With a target, the nearest call and the nearest put of each
 * series come first, followed by the second nearest call and put of each series. The start of the list therefore has as many calls as puts.
 * If the target is a delta, contracts without a delta come last.
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

/** Returns contracts sorted by strike. Contracts with the same strike follow the order of the series, and a call comes before its put. */
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

/** Returns the calls or the puts of one series, nearest to the target first. At the same distance, the lower strike comes first. */
function rankedByDistance(prepared: PreparedChain, contracts: readonly number[], near: Target): number[] {
  const distances = distancesTo(near, prepared, Uint32Array.from(contracts));
  const byContract = new Map(contracts.map((contract, i) => [contract, distances[i]!]));
  // `toSorted` is stable, so contracts at the same distance stay in order of strike.
  return contracts.toSorted((a, b) => byContract.get(a)! - byContract.get(b)!);
}

function distancesTo(near: Target, prepared: PreparedChain, contracts: Uint32Array): Float64Array {
  if (near.kind === 'strike') {
    return Float64Array.from(contracts, (contract) => Math.abs(prepared.strike[contract]! - near.strike));
  }
  const delta = oneGreek('delta', optionColumns(prepared, contracts));
  // A contract without a delta gets the distance 2, because no real distance between two deltas reaches 2.
  return delta.map((each) => (Number.isNaN(each) ? 2 : Math.abs(Math.abs(each) - near.delta)));
}
