import { ExposureColumn } from '../../assembly/columns.ts';
import { arenaColumn, CHUNK_ROWS, type Column, kernels, mapColumns } from './kernels.ts';

/** Options now and at a later time, as columns of `count` rows. If a column is given as a number, every row has this value. */
export interface HedgeInputs {
  readonly count: number;
  /** +1 call, -1 put. */
  readonly callPut: Column;
  /** > 0. */
  readonly spot: Column;
  /** > 0. */
  readonly strike: Column;
  /** Volatility per square root of a year, >= 0. */
  readonly iv: Column;
  /** Years to expiry, >= 0. */
  readonly tte: Column;
  /** The carry ln(F/S), where F is the forward and S is spot. */
  readonly carry: Column;
  /** The delta of a forward. The delta of a call is `factor * N(d1)`. */
  readonly factor: Column;
  /**
   * Years to expiry at the later time, at which the delta of a call is `laterFactor * N(d1)` with the same forward. A negative number says
   * that the later delta is unknown, and `change` is then 0.
   */
  readonly laterTte: Column;
  readonly laterFactor: Column;
}

/** Delta, raw vanna (as in `greeks`), and the change of delta: the later delta minus the present delta. */
export type Hedges<Value> = Readonly<Record<'delta' | 'vanna' | 'change', Value>>;

const OUTPUTS = [ExposureColumn.delta, ExposureColumn.vanna, ExposureColumn.change];

/**
 * Computes delta, vanna and the change of delta of each option. If a T or iv is 0, the results are the limits as it approaches 0.
 * @throws RangeError if the length of a column is not `count`.
 */
export function hedges(inputs: HedgeInputs): Hedges<Float64Array> {
  const { count, ...columns } = inputs;
  const [delta, vanna, change] = mapColumns(kernels.hedges, count, ExposureColumn, columns, OUTPUTS);
  return { delta: delta!, vanna: vanna!, change: change! };
}

/** The maximum number of pairs in the arena. The contracts of so many pairs, which are calls and puts, fit into a column. */
export const PAIRS_MAX = CHUNK_ROWS / 2;
/** The length of the array `partial` of `pairExposures`. */
const PARTIAL_SUMS = 8;
const PARTIAL = arenaColumn(ExposureColumn.sums).subarray(0, PARTIAL_SUMS);
const BLOCK = arenaColumn(0).byteOffset;

/**
 * For each of the three hedges, computes the sum of `position * multiplier * spot * hedge` over the contracts of the `count` pairs in the
 * arena's columns of `ExposureColumn`, and of those before. `partial` passes the sums from one call to the next. Each call except the last
 * must have an even number of pairs. The pairs stay in the arena.
 */
export function pairExposures(count: number, spot: number, partial: Float64Array): Hedges<number> {
  PARTIAL.set(partial);
  kernels.addPairExposures(count, BLOCK, spot, PARTIAL.byteOffset);
  partial.set(PARTIAL);
  const sum = (of: number) => partial[of]! + partial[of + 1]!;
  return { delta: sum(0) + partial[6]!, vanna: sum(2), change: sum(4) + partial[7]! };
}

/** Returns the partial sums of no pairs, for the first call of `pairExposures`. */
export function partialSums(): Float64Array {
  return new Float64Array(PARTIAL_SUMS);
}
