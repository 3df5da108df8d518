import { gammaByStrike } from '../math/gamma-exposure.ts';
import type { PreparedChain } from './prepared-chain.ts';

/** Gamma that counts at each strike, over all series: Gamma times contracts times multiplier, shares per 1.00 of spot. */
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
  const strike = Float64Array.from(new Set(strikes)).sort();
  const indexOf = new Map(Array.from(strike, (value, index) => [value, index]));
  const strikeIndex = Uint32Array.from(strikes, (value) => indexOf.get(value)!);
  const gamma = prepared.gamma.subarray(start, end);
  const side = (callPut: 1 | -1) => {
    const weight = new Float64Array(end - start);
    for (let at = start; at < end; at++) {
      if (prepared.callPut[at] === callPut) weight[at - start] = prepared.weight[at]! * prepared.multiplier[at]!;
    }
    return gammaByStrike(gamma, weight, strikeIndex, strike.length);
  };
  return { strike, call: side(1), put: side(-1) };
}

/** Strikes where gamma is heaped; ties go to the strike nearest spot. */
export function walls({ strike, call, put }: StrikeGamma, spot: number): Walls {
  const order = Array.from(strike.keys()).sort((a, b) => Math.abs(strike[a]! - spot) - Math.abs(strike[b]! - spot));
  const largest = (gamma: Float64Array, candidates: readonly number[]): number[] =>
    candidates.toSorted((a, b) => gamma[b]! - gamma[a]!).map((at) => strike[at]!);
  const sided = (gamma: Float64Array, onSide: (strike: number) => boolean): Wall => {
    const [first] = largest(
      gamma,
      order.filter((at) => onSide(strike[at]!)),
    );
    return first === undefined ? { strike: strike[order[0]!]!, sided: false } : { strike: first, sided: true };
  };
  const calls = largest(call, order);
  const puts = largest(put, order);
  return {
    call: sided(call, (each) => each >= spot),
    put: sided(put, (each) => each <= spot),
    callUnsided: calls[0]!,
    putUnsided: puts[0]!,
    absolute: largest(
      call.map((each, at) => each + put[at]!),
      order,
    )[0]!,
    largestCalls: calls.slice(0, LARGEST),
    largestPuts: puts.slice(0, LARGEST),
  };
}
