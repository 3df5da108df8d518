import { ExposureColumn } from '../../assembly/columns.ts';
import { arenaColumn, type Column, checkLengths, inChunks, kernels, mapColumns } from './kernels.ts';

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
   * The later delta of a call is `laterFactor * N((ln(F/K) + iv^2 * laterDrift) / (iv * sqrt(laterTte)))`, where `laterTte` and
   * `laterDrift` are in years.
   */
  readonly laterTte: Column;
  readonly laterDrift: Column;
  readonly laterFactor: Column;
}

/** Delta, raw vanna (as in `greeks`), and the change of delta: the later delta minus the present delta. */
export type Hedges<Value> = Readonly<Record<'delta' | 'vanna' | 'change', Value>>;

const OUTPUTS = [ExposureColumn.delta, ExposureColumn.vanna, ExposureColumn.change];

/**
 * Computes delta, vanna and the change of delta of each option. If T or iv is 0, the results are the limits as T or iv approaches 0.
 * @throws RangeError if the length of a column is not `count`.
 */
export function hedges(inputs: HedgeInputs): Hedges<Float64Array> {
  const { count, ...columns } = inputs;
  const [delta, vanna, change] = mapColumns(kernels.hedges, count, ExposureColumn, columns, OUTPUTS);
  return { delta: delta!, vanna: vanna!, change: change! };
}

/** The length of the array `partial`, which has two partial sums for each of three exposures. */
const PARTIAL_SUMS = 6;

/**
 * For each of the three hedges (delta, vanna, change), computes the sum of `weight * hedge` over all options. Writes no columns. A NaN in a
 * row makes the sums NaN, even with weight 0. A caller may add the options of a chain in several calls, one call for each range of rows.
 * `partial` passes the sums from one call to the next. If every range except the last has an even number of rows, the sums are bitwise
 * equal to the sums of one call for the whole chain.
 * @throws RangeError if the length of a column is not `count`.
 */
export function exposureSums(
  inputs: HedgeInputs & { readonly weight: Column },
  partial: Float64Array = partialSums(),
): Hedges<number> {
  const { count, ...columns } = inputs;
  checkLengths(count, columns);
  const sums = arenaColumn(ExposureColumn.sums);
  sums.set(partial);
  inChunks(count, ExposureColumn, columns, (block, start, end) => {
    kernels.addExposures(end - start, block, sums.byteOffset);
  });
  for (let i = 0; i < PARTIAL_SUMS; i++) partial[i] = sums[i]!;
  const [delta, vanna, change] = [0, 2, 4].map((i) => partial[i]! + partial[i + 1]!);
  return { delta: delta!, vanna: vanna!, change: change! };
}

/** Returns the partial sums of an empty range, for the first call of `exposureSums`. */
export function partialSums(): Float64Array {
  return new Float64Array(PARTIAL_SUMS);
}
