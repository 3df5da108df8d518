import { byRange, type Steps } from '../../core/steps.ts';
import { gammaByStrike } from '../../math/gamma-exposure.ts';
import { CHUNK_ROWS } from '../../math/kernels.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { distinct, strikeIndex } from './strike-index.ts';

/** Gamma at each strike: the sum of `gamma * |contracts held| * multiplier`, in shares per 1.00 of spot. */
export interface StrikeGamma {
  /** The strikes, ascending. */
  readonly strike: Float64Array;
  readonly call: Float64Array;
  readonly put: Float64Array;
}

/** The wall on one side of spot, dollars. Not sided if no strike lies on this side: then the highest (call) or lowest (put) strike. */
export type Wall = Readonly<{ strike: number; sided: boolean }>;

/** The strikes with the most gamma, dollars. */
export interface Walls {
  /** The call wall: the strike at or above spot with the most call gamma. */
  readonly call: Wall;
  /** The put wall: the strike at or below spot with the most put gamma. */
  readonly put: Wall;
  /** The strike with the most call gamma, above or below spot. */
  readonly callUnsided: number;
  /** The strike with the most put gamma, above or below spot. */
  readonly putUnsided: number;
  /** The strike with the largest sum of call and put gamma. */
  readonly absolute: number;
  /** Up to `LARGEST` strikes with the most call gamma, above or below spot. The strike with the most gamma comes first. */
  readonly largestCalls: readonly number[];
  /** Up to `LARGEST` strikes with the most put gamma, above or below spot. The strike with the most gamma comes first. */
  readonly largestPuts: readonly number[];
}

/** Maximum number of strikes in `largestCalls` and in `largestPuts`. */
const LARGEST = 3;

/** The largest number of pairs whose gamma one step sums. */
const STEP_PAIRS = 32_768;
/** The largest number of pairs times kernel passes in one step. One kernel pass over the pairs computes `CHUNK_ROWS` sums. */
const STEP_PAIR_PASSES = 8 * STEP_PAIRS;
/** The largest number of strikes for which one step both sums and ranks the gamma. */
const STEP_STRIKES = 10_000;

/** Computes the gamma at each strike, summed over all series. The result is cached for each prepared chain. */
export function* strikeGamma(prepared: PreparedChain): Steps<StrikeGamma> {
  const known = summed.get(prepared);
  if (known) return known;
  const { strike, index } = yield* strikeIndex(prepared.pairs);
  const { count, contracts } = prepared.pairs;
  const sums = new Float64Array(2 * strike.length);
  const pairs = Math.min(STEP_PAIRS, Math.floor(STEP_PAIR_PASSES / Math.ceil(sums.length / CHUNK_ROWS)));
  if (count > pairs) yield { message: 'Summing up gamma' };
  yield* byRange(count, pairs, 'Summing up gamma', (from, to) => {
    const start = contracts[from]!;
    const strikeOfRow = new Uint32Array(contracts[to]! - start);
    for (let pair = from; pair < to; pair++) {
      for (let row = contracts[pair]!; row < contracts[pair + 1]!; row++) strikeOfRow[row - start] = index[pair]!;
    }
    addGamma(prepared, start, contracts[to]!, strikeOfRow, sums);
  });
  if (strike.length > STEP_STRIKES) yield { message: 'Summing up gamma' };
  const gamma = { strike, call: sums.subarray(0, strike.length), put: sums.subarray(strike.length) };
  summed.set(prepared, gamma);
  return gamma;
}

const summed = new WeakMap<PreparedChain, StrikeGamma>();

/** Returns the gamma at each strike of one series. */
export function strikeGammaOf(prepared: PreparedChain, { start, end }: PreparedSeries): StrikeGamma {
  const strikes = prepared.strike.subarray(start, end);
  const strike = distinct(strikes);
  const strikeOfRow = new Uint32Array(strikes.length);
  // Strikes ascend within a series.
  for (let row = 0, i = 0; row < strikes.length; row++) {
    if (strike[i] !== strikes[row]) i++;
    strikeOfRow[row] = i;
  }
  const sums = new Float64Array(2 * strike.length);
  addGamma(prepared, start, end, strikeOfRow, sums);
  return { strike, call: sums.subarray(0, strike.length), put: sums.subarray(strike.length) };
}

/** Adds the gamma of the rows [start, end) to `sums`: calls by strike, then puts. `index`, each row's strike, changes for puts. */
function addGamma(
  { callPut, position, multiplier, gamma }: PreparedChain,
  start: number,
  end: number,
  index: Uint32Array,
  sums: Float64Array,
): void {
  const strikes = sums.length >> 1;
  const weight = new Float64Array(end - start);
  for (let row = start; row < end; row++) {
    if (callPut[row] !== 1) index[row - start]! += strikes;
    weight[row - start] = Math.abs(position[row]!) * multiplier[row]!;
  }
  gammaByStrike(gamma.subarray(start, end), weight, index, sums.length, sums);
}

/** Finds the walls. If strikes have equal gamma, the strike nearest to spot is the wall. */
export function walls({ strike, call, put }: StrikeGamma, spot: number): Walls {
  const largest = (gamma: Float64Array, count: number, from = 0, to = strike.length) =>
    largestIndices(gamma, from, to, count, (i) => Math.abs(strike[i]! - spot)).map((i) => strike[i]!);
  let above = 0;
  while (above < strike.length && strike[above]! < spot) above++;
  const below = strike[above] === spot ? above + 1 : above;
  const [sidedCall] = largest(call, 1, above);
  const [sidedPut] = largest(put, 1, 0, below);
  const [largestCalls, largestPuts] = [largest(call, LARGEST), largest(put, LARGEST)];
  const total = call.map((each, i) => each + put[i]!);
  return {
    call: { strike: sidedCall ?? strike.at(-1)!, sided: sidedCall !== undefined },
    put: { strike: sidedPut ?? strike[0]!, sided: sidedPut !== undefined },
    callUnsided: largestCalls[0]!,
    putUnsided: largestPuts[0]!,
    absolute: largest(total, 1)[0]!,
    largestCalls,
    largestPuts,
  };
}

/** Returns the positions in [from, to) with the most gamma, sorted by falling gamma. On a tie, the strike nearest to spot comes first. */
function largestIndices(
  gamma: Float64Array,
  from: number,
  to: number,
  count: number,
  distance: (i: number) => number,
): number[] {
  const found: number[] = [];
  while (found.length < Math.min(count, to - from)) {
    let best = -1;
    for (let i = from; i < to; i++) {
      if (found.includes(i)) continue;
      const difference = best < 0 ? 1 : gamma[i]! - gamma[best]! || distance(best) - distance(i);
      if (difference > 0) best = i;
    }
    found.push(best);
  }
  return found;
}
