import { gammaByStrike } from '../../math/gamma-exposure.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';

/** Gamma that counts at each strike, over all series: Gamma times contracts held, either way, times multiplier, shares per 1.00 of spot. */
export interface StrikeGamma {
  /** Ascending. */
  readonly strike: Float64Array;
  readonly call: Float64Array;
  readonly put: Float64Array;
}

export interface Wall {
  readonly strike: number;
  /** False where no strike lies on its side of spot: the nearest strike stands in. */
  readonly sided: boolean;
}

export interface Walls {
  /** Argmax of call gamma at strikes at or above spot. */
  readonly call: Wall;
  /** Argmax of put gamma at strikes at or below spot. */
  readonly put: Wall;
  /** The same with no side rule, which can hide the largest strike. */
  readonly callUnsided: number;
  readonly putUnsided: number;
  /** Strike of the largest call plus put gamma. */
  readonly absolute: number;
  /** Largest first, with no side rule. */
  readonly largestCalls: readonly number[];
  readonly largestPuts: readonly number[];
}

const LARGEST = 3;

/** Over all prepared rows, or rows [start, end). */
export function strikeGamma(prepared: PreparedChain, start = 0, end = prepared.count): StrikeGamma {
  const strikes = prepared.strike.subarray(start, end);
  const strike = distinct(strikes);
  // Calls' sums first, then puts'.
  const place = new Uint32Array(strikes.length);
  const weight = new Float64Array(strikes.length);
  for (let row = 0, at = 0; row < strikes.length; row++) {
    // Strikes ascend within a series.
    if (strike[at]! > strikes[row]!) at = 0;
    while (strike[at]! < strikes[row]!) at++;
    place[row] = prepared.callPut[start + row] === 1 ? at : strike.length + at;
    weight[row] = Math.abs(prepared.position[start + row]!) * prepared.multiplier[start + row]!;
  }
  const sums = gammaByStrike(prepared.gamma.subarray(start, end), weight, place, 2 * strike.length);
  return { strike, call: sums.subarray(0, strike.length), put: sums.subarray(strike.length) };
}

/** Strikes where gamma is heaped; ties go to the strike nearest spot. */
export function walls({ strike, call, put }: StrikeGamma, spot: number): Walls {
  const largest = (gamma: Float64Array, count: number, from = 0, to = strike.length) =>
    heaviest(gamma, from, to, count, (at) => Math.abs(strike[at]! - spot)).map((at) => strike[at]!);
  let above = 0;
  while (above < strike.length && strike[above]! < spot) above++;
  const below = strike[above] === spot ? above + 1 : above;
  const [sidedCall] = largest(call, 1, above);
  const [sidedPut] = largest(put, 1, 0, below);
  const [largestCalls, largestPuts] = [largest(call, LARGEST), largest(put, LARGEST)];
  const total = call.map((each, at) => each + put[at]!);
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

/** Positions in [from, to) of most gamma, most first; of as much the nearest. */
function heaviest(
  gamma: Float64Array,
  from: number,
  to: number,
  count: number,
  distance: (at: number) => number,
): number[] {
  const found: number[] = [];
  while (found.length < Math.min(count, to - from)) {
    let best = -1;
    for (let at = from; at < to; at++) {
      if (found.includes(at)) continue;
      const ahead = best < 0 ? 1 : gamma[at]! - gamma[best]! || distance(best) - distance(at);
      if (ahead > 0) best = at;
    }
    found.push(best);
  }
  return found;
}

/** Ascending, each once. */
function distinct(values: Float64Array): Float64Array {
  const sorted = values.slice().sort();
  let count = 0;
  for (let at = 0; at < sorted.length; at++) {
    if (count === 0 || sorted[at] !== sorted[count - 1]) sorted[count++] = sorted[at]!;
  }
  return sorted.subarray(0, count);
}
