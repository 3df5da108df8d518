import type { TapeColumns } from '../../market/tape-columns.ts';
import { greeks } from '../../math/black-scholes.ts';
import type { Steps } from '../../steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { tradedPrice } from '../chain/quotes.ts';
import { contractKey } from './trade-side.ts';

/**
 * Net delta-notional of a day's large flow, dollars, customers taken as buyers (as in the flow figures): the kinetic term of
 * the energy reading. A contract's delta is its prepared one; contracts without a volatility are passed over.
 */
export function* printsDeltaNotional(prepared: PreparedChain, large: Iterable<TapeColumns>): Steps<number> {
  const { spot } = prepared.chain;
  const deltas = new Map<string, ReadonlyMap<number, number>>();
  let sum = 0;
  for (const { count, contracts, contract, size, multiplier } of large) {
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
    for (let row = 0; row < count; row++) sum += delta[contract[row]!]! * size[row]! * multiplier[row]! * spot;
    yield ADDING_UP;
  }
  return sum;
}

const ADDING_UP = { message: 'Adding large prints up' };

/** Delta by strike, puts' with a minus before it. */
function deltasOfSeries(prepared: PreparedChain, root: string, expiry: string): ReadonlyMap<number, number> {
  const of = prepared.series.find(({ series }) => series.root === root && series.expiry === expiry);
  if (of === undefined) return new Map();
  const { callPut, strike, tte, iv, rate, dividend } = prepared;
  const [own, known] = [(column: Float64Array) => column.subarray(of.start, of.end), iv.slice(of.start, of.end)];
  const { delta } = greeks({
    ...{ count: known.length, callPut: own(callPut), spot: prepared.chain.spot, strike: own(strike), tte: own(tte) },
    ...{ iv: known.map((each) => each || 0), rate: own(rate), dividend: own(dividend) },
  });
  return new Map(Array.from(delta, (each, at) => [own(callPut)[at]! * own(strike)[at]!, known[at]! > 0 ? each : 0]));
}

/** The same from a snapshot's volumes, counting contracts whose day's premium reaches the threshold of a large print. */
export function volumeDeltaNotional(prepared: PreparedChain, minPremiumUsd: number): number {
  const { chain, multiplier } = prepared;
  const delta = deltasOf(prepared);
  let sum = 0;
  for (let at = 0; at < prepared.count; at++) {
    const row = prepared.row[at]!;
    const volume = chain.volume[row]!;
    if (volume * tradedPrice(chain, row) * multiplier[at]! >= minPremiumUsd) {
      sum += delta[at]! * volume * multiplier[at]! * chain.spot;
    }
  }
  return sum;
}

/** Delta of each contract by its key. */
export function deltaByContract(prepared: PreparedChain): Map<string, number> {
  const delta = deltasOf(prepared);
  const byContract = new Map<string, number>();
  for (let at = 0; at < prepared.count; at++) {
    const { root, expiry } = prepared.series[prepared.seriesIndex[at]!]!.series;
    byContract.set(
      contractKey({ root, expiry, callPut: prepared.callPut[at]!, strike: prepared.strike[at]! }),
      delta[at]!,
    );
  }
  return byContract;
}

function deltasOf({ chain, count, callPut, strike, tte, iv, rate, dividend }: PreparedChain): Float64Array {
  const known = iv.map((each) => each || 0);
  const { delta } = greeks({ count, callPut, spot: chain.spot, strike, tte, iv: known, rate, dividend });
  return delta.map((each, at) => (known[at]! > 0 ? each : 0));
}
