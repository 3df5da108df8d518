import { byRange, StepCache, type Steps } from '../../core/steps.ts';
import { closeOf } from '../../market/calendar.ts';
import { change, isDeep, type Print } from '../../market/prints.ts';
import { FLAG, type TapeColumns } from '../../market/tape-columns.ts';
import { greeks, oneGreek } from '../../math/black-scholes.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { tradedPrice } from '../chain/quotes.ts';
import { optionColumns } from '../chain/rows.ts';

/** The delta-notional of a day's large flow, dollars. As in the other flow figures, all of the flow counts as bought by customers. */
export interface FlowNotional {
  /** The net delta-notional of trades that count as opinions about the price: + for calls, - for puts. */
  readonly net: number;
  /** The sum of the absolute delta-notional of the other trades: legs of spreads, and trades in deep contracts (see `isDeep`). */
  readonly leftOut: number;
  /** The large prints behind the figures. Undefined if the figures come from volumes. */
  readonly prints?: CountedPrints;
}

/** The large prints of a day in the analysed expiries and, if these are all expiries, in settled ones. */
export interface CountedPrints {
  /** Number of prints that count in `net`. */
  readonly counted: number;
  /** Number of prints that do not count, by reason. */
  readonly leftOut: { readonly settled: number; readonly multiLeg: number; readonly deep: number };
  /** Like `net`, but prints that customers sold count with the opposite sign, and prints of unknown side count 0. Dollars. */
  readonly bySide: number;
  /** The sum of the absolute delta-notional of the prints of unknown side that count in `net`, dollars. */
  readonly ofUnknownSide: number;
}

/**
 * Returns the delta-notional of a day's large prints, whose `net` is the flow of `evaluateEnergy`. Deltas come from the prepared chain, and
 * are 0 without a volatility. Whether a print is deep follows from the feed's delta, or else from the chain's. Settled series have no
 * delta.
 */
export function* printsDeltaNotional(
  prepared: PreparedChain,
  large: Iterable<TapeColumns>,
): Steps<FlowNotional & { readonly prints: CountedPrints }> {
  const { spot } = prepared.chain;
  const deltas = new Map<string, ReadonlyMap<number, number> | 'settled' | 'other'>();
  let [net, notionalLeftOut, counted, bySide, ofUnknownSide] = [0, 0, 0, 0, 0];
  const leftOut = { settled: 0, multiLeg: 0, deep: 0 };
  for (const columns of large) {
    const { count, contracts, contract, size, multiplier, delta: given, flags } = columns;
    for (const { root, expiry } of contracts.series) {
      const key = `${root} ${expiry}`;
      if (deltas.has(key)) continue;
      deltas.set(
        key,
        deltasOfSeries(prepared, root, expiry) ?? (isSettled(prepared, root, expiry) ? 'settled' : 'other'),
      );
      yield ADDING_UP;
    }
    const bySeries = contracts.series.map(({ root, expiry }) => deltas.get(`${root} ${expiry}`)!);
    const delta = Float64Array.from(contracts.strike, (strike, number) => {
      const index = contracts.seriesIndex[number]!;
      const ofSeries = bySeries[index]!;
      return typeof ofSeries === 'string' ? 0 : (ofSeries.get(contracts.series[index]!.callPut * strike) ?? 0);
    });
    for (let row = 0; row < count; row++) {
      const ofSeries = bySeries[contracts.seriesIndex[contract[row]!]!]!;
      if (ofSeries === 'settled') leftOut.settled++;
      if (typeof ofSeries === 'string') continue;
      const ofChain = delta[contract[row]!]!;
      const notional = ofChain * size[row]! * multiplier[row]! * spot;
      const isLeg = (flags[row]! & FLAG.multiLeg) !== 0;
      if (isLeg || isDeep(deltaOf(given[row]!, ofChain))) {
        leftOut[isLeg ? 'multiLeg' : 'deep']++;
        notionalLeftOut += Math.abs(notional);
        continue;
      }
      const side = sideOfRow(columns, row);
      counted++;
      net += notional;
      bySide += side * notional;
      if (side === 0) ofUnknownSide += Math.abs(notional);
    }
    yield ADDING_UP;
  }
  return { net, leftOut: notionalLeftOut, prints: { counted, leftOut, bySide, ofUnknownSide } };
}

/** Returns +1 if a customer bought, -1 if a customer sold, and 0 if neither the feed nor the quote tells. */
function sideOfRow({ flags, price, bid, ask }: TapeColumns, row: number): number {
  const side = flags[row]! & FLAG.side;
  if (side !== 0) return side === FLAG.ask ? 1 : side === FLAG.bid ? -1 : 0;
  return ask[row]! > bid[row]! ? change((bid[row]! + ask[row]!) / 2, price[row]!) : 0;
}

/** Returns whether a series is missing in an analysis of all expiries because it has settled. */
function isSettled({ chain, options }: PreparedChain, root: string, expiry: string): boolean {
  const series = chain.series.find((each) => each.root === root && each.expiry === expiry);
  return options.expiries.kind === 'all' && (series?.settlesAt ?? closeOf(expiry)) <= chain.asOf;
}

const ADDING_UP = { message: 'Adding up large prints' };

/** Returns the feed's delta, or `ofChain` if the feed gives no delta. */
function deltaOf(given: number, ofChain: number): number {
  return Number.isNaN(given) ? ofChain : given;
}

/** Returns the deltas of a series by strike, which is negative for puts, or `undefined` if the series is not prepared. */
function deltasOfSeries(
  prepared: PreparedChain,
  root: string,
  expiry: string,
): ReadonlyMap<number, number> | undefined {
  const of = prepared.series.find(({ series }) => series.root === root && series.expiry === expiry);
  if (of === undefined) return undefined;
  const { callPut, strike, tte, iv, rate, dividend } = prepared;
  const [own, known] = [(column: Float64Array) => column.subarray(of.start, of.end), iv.slice(of.start, of.end)];
  const { delta } = greeks({
    ...{ count: known.length, callPut: own(callPut), spot: prepared.chain.spot, strike: own(strike), tte: own(tte) },
    ...{ iv: known.map((each) => each || 0), rate: own(rate), dividend: own(dividend) },
  });
  return new Map(Array.from(delta, (each, i) => [own(callPut)[i]! * own(strike)[i]!, known[i]! > 0 ? each : 0]));
}

/**
 * Computes the delta-notional of a day's flow from the volumes of a snapshot, which do not show spreads. Includes only contracts whose
 * premium on this day is at least `minPremiumUsd`. The result is cached by chain.
 */
export function volumeDeltaNotional(prepared: PreparedChain, minPremiumUsd: number): Steps<FlowNotional> {
  return volumeDeltas.of(prepared, `${minPremiumUsd}`, {
    message: MESSAGE,
    steps: () => addVolumes(prepared, minPremiumUsd),
  });
}

const volumeDeltas = new StepCache<PreparedChain, FlowNotional>(() => 1);
const MESSAGE = "Adding up the day's volumes";
/** The number of contracts whose volumes are summed in one step. */
const STEP_CONTRACTS = 32_768;

function* addVolumes(prepared: PreparedChain, minPremiumUsd: number): Steps<FlowNotional> {
  const { chain, iv, multiplier } = prepared;
  let [net, leftOut] = [0, 0];
  yield* byRange(prepared.count, STEP_CONTRACTS, MESSAGE, (from, to) => {
    const large = new Uint32Array(to - from);
    let count = 0;
    for (let i = from; i < to; i++) {
      const row = prepared.row[i]!;
      const premium = chain.volume[row]! * tradedPrice(chain, row) * multiplier[i]!;
      if (premium >= minPremiumUsd && iv[i]! > 0) large[count++] = i;
    }
    const rows = large.subarray(0, count);
    const delta = oneGreek('delta', optionColumns(prepared, rows));
    for (let i = 0; i < count; i++) {
      const row = rows[i]!;
      const inChain = prepared.row[row]!;
      const notional = delta[i]! * chain.volume[inChain]! * multiplier[row]! * chain.spot;
      if (isDeep(deltaOf(chain.delta[inChain]!, delta[i]!))) leftOut += Math.abs(notional);
      else net += notional;
    }
  });
  return { net, leftOut };
}

/** Returns the delta of a contract per 1.00 of spot, 0 without a volatility, or `undefined` if the chain lacks the contract. */
export type DeltaLookup = (contract: Pick<Print, 'root' | 'expiry' | 'callPut' | 'strike'>) => number | undefined;

/** Computes the deltas of a prepared chain's contracts, and returns a function that looks them up. */
export function* deltaLookup(prepared: PreparedChain): Steps<DeltaLookup> {
  const deltas = new Map<string, ReadonlyMap<number, number>>();
  let inStep = 0;
  for (const { series, start, end } of prepared.series) {
    inStep += end - start;
    if (inStep > STEP_CONTRACTS / 2) {
      yield { message: 'Computing deltas' };
      inStep = 0;
    }
    deltas.set(`${series.root} ${series.expiry}`, deltasOfSeries(prepared, series.root, series.expiry)!);
  }
  return ({ root, expiry, callPut, strike }) => deltas.get(`${root} ${expiry}`)?.get(callPut * strike);
}
