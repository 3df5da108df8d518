import type { Print } from '../../market/prints.ts';
import { greeks, oneGreek } from '../../math/black-scholes.ts';
import { byRange, finish, StepCache, type Steps } from '../../steps.ts';
import { pick } from '../chain/pick.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { tradedPrice } from '../chain/quotes.ts';
import { contractKey } from './trade-side.ts';

/**
 * Net delta-notional of a day's large flow, dollars, customers taken as buyers (as in the flow figures): the kinetic term of
 * the energy reading. A contract's delta is its prepared one; contracts without a volatility are passed over.
 */
export function printsDeltaNotional(prepared: PreparedChain, large: readonly Print[]): number {
  const deltas = deltaByContract(prepared);
  return large.reduce((sum, print) => {
    const delta = deltas.get(contractKey(print)) ?? 0;
    return sum + delta * print.size * print.multiplier * prepared.chain.spot;
  }, 0);
}

/** The same from a snapshot's volumes, counting contracts whose day's premium reaches the threshold of a large print. */
export function volumeDeltaNotional(prepared: PreparedChain, minPremiumUsd: number): number {
  return finish(volumeDeltaInSteps(prepared, minPremiumUsd));
}

/** Kept with a prepared chain: it is a function of it and the threshold. */
export function volumeDeltaInSteps(prepared: PreparedChain, minPremiumUsd: number): Steps<number> {
  return volumeDeltas.of(prepared, `${minPremiumUsd}`, {
    message: MESSAGE,
    steps: () => addVolumes(prepared, minPremiumUsd),
  });
}

const volumeDeltas = new StepCache<PreparedChain, number>(() => 1);
const MESSAGE = "Adding up the day's volumes";
/** Contracts whose volumes are added up in a step. */
const STEP_CONTRACTS = 32_768;

function* addVolumes(prepared: PreparedChain, minPremiumUsd: number): Steps<number> {
  const { chain, iv, multiplier } = prepared;
  let sum = 0;
  yield* byRange(prepared.count, STEP_CONTRACTS, MESSAGE, (from, to) => {
    const large = new Uint32Array(to - from);
    let count = 0;
    for (let at = from; at < to; at++) {
      const row = prepared.row[at]!;
      const premium = chain.volume[row]! * tradedPrice(chain, row) * multiplier[at]!;
      if (premium >= minPremiumUsd && iv[at]! > 0) large[count++] = at;
    }
    const rows = large.subarray(0, count);
    const delta = oneGreek('delta', {
      count,
      callPut: pick(prepared.callPut, rows),
      spot: chain.spot,
      strike: pick(prepared.strike, rows),
      tte: pick(prepared.tte, rows),
      iv: pick(iv, rows),
      rate: pick(prepared.rate, rows),
      dividend: pick(prepared.dividend, rows),
    });
    for (let each = 0; each < count; each++) {
      const at = rows[each]!;
      sum += delta[each]! * chain.volume[prepared.row[at]!]! * multiplier[at]! * chain.spot;
    }
  });
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
