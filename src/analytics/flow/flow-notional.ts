import { byRange, StepCache, type Steps } from '../../core/steps.ts';
import { isDeep, type Print } from '../../market/prints.ts';
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
}

/**
 * Returns the delta-notional of a day's large prints. `evaluateEnergy` uses `net` as its flow. Deltas come from the prepared chain, and are
 * 0 for contracts without a volatility. The feed's delta of a print decides whether the print is deep. If the feed gives no delta, the
 * chain's delta decides.
 */
export function* printsDeltaNotional(prepared: PreparedChain, large: Iterable<TapeColumns>): Steps<FlowNotional> {
  const { spot } = prepared.chain;
  const deltas = new Map<string, ReadonlyMap<number, number>>();
  let [net, leftOut] = [0, 0];
  for (const { count, contracts, contract, size, multiplier, delta: given, flags } of large) {
    for (const { root, expiry } of contracts.series) {
      const key = `${root} ${expiry}`;
      if (deltas.has(key)) continue;
      deltas.set(key, deltasOfSeries(prepared, root, expiry));
      yield ADDING_UP;
    }
    const bySeries = contracts.series.map(({ root, expiry }) => deltas.get(`${root} ${expiry}`)!);
    const delta = Float64Array.from(contracts.strike, (strike, number) => {
      const index = contracts.seriesIndex[number]!;
      return bySeries[index]!.get(contracts.series[index]!.callPut * strike) ?? 0;
    });
    for (let row = 0; row < count; row++) {
      const ofChain = delta[contract[row]!]!;
      const notional = ofChain * size[row]! * multiplier[row]! * spot;
      const isOpinion = (flags[row]! & FLAG.multiLeg) === 0 && !isDeep(deltaOf(given[row]!, ofChain));
      if (isOpinion) net += notional;
      else leftOut += Math.abs(notional);
    }
    yield ADDING_UP;
  }
  return { net, leftOut };
}

const ADDING_UP = { message: 'Adding up large prints' };

/** Returns the feed's delta, or `ofChain` if the feed gives no delta. */
function deltaOf(given: number, ofChain: number): number {
  return Number.isNaN(given) ? ofChain : given;
}

/** Returns the deltas of the contracts in a series. A call's key is its strike, and a put's key is its negative strike. */
function deltasOfSeries(prepared: PreparedChain, root: string, expiry: string): ReadonlyMap<number, number> {
  const of = prepared.series.find(({ series }) => series.root === root && series.expiry === expiry);
  if (of === undefined) return new Map();
  const { callPut, strike, tte, iv, rate, dividend } = prepared;
  const [own, known] = [(column: Float64Array) => column.subarray(of.start, of.end), iv.slice(of.start, of.end)];
  const { delta } = greeks({
    ...{ count: known.length, callPut: own(callPut), spot: prepared.chain.spot, strike: own(strike), tte: own(tte) },
    ...{ iv: known.map((each) => each || 0), rate: own(rate), dividend: own(dividend) },
  });
  return new Map(Array.from(delta, (each, i) => [own(callPut)[i]! * own(strike)[i]!, known[i]! > 0 ? each : 0]));
}

/**
 * Computes the delta-notional of a day's flow from the volumes of a snapshot. Volumes do not show which trades belong to spreads. Includes
 * only contracts whose premium on this day is at least `minPremiumUsd`. The result is cached by chain.
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

/**
 * Returns the delta of a contract, per 1.00 of spot, or 0 if the contract has no volatility. Returns `undefined` if the chain lacks the
 * contract.
 */
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
    deltas.set(`${series.root} ${series.expiry}`, deltasOfSeries(prepared, series.root, series.expiry));
  }
  return ({ root, expiry, callPut, strike }) => deltas.get(`${root} ${expiry}`)?.get(callPut * strike);
}
