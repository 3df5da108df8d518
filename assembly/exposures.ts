/**
 * Worst error found: charm 0.0972, at options 7000 to 8000 of reference and vectors.ts.
 * The unit is the sum of the changes that one rounding of each input and of each Greek can cause.
 */
import { blackScholes, CHARM, DELTA, GAMMA, VANNA } from './black-scholes';
import { COLUMN, PAIR, rowAt } from './block';
import { ExposureColumn } from './columns';
import { add, mul, unless } from './lanes';

const WEIGHT: usize = <usize>ExposureColumn.weight * COLUMN;
/** The number of rows whose Greeks are computed and then added. The number is so small that the rows stay in the first-level cache. */
const STRIP: i32 = 128;

/**
 * Adds weight * Greek of each row to ten numbers at `sums`: two partial sums each of delta, gamma, |weight * gamma|, vanna and charm. The
 * block has the inputs of `blackScholes`, without discounts, and the weights.
 */
export function addExposures(count: i32, block: usize, sums: usize): void {
  let delta = v128.load(sums);
  let gamma = v128.load(sums, PAIR);
  let grossGamma = v128.load(sums, 2 * PAIR);
  let vanna = v128.load(sums, 3 * PAIR);
  let charm = v128.load(sums, 4 * PAIR);
  const end = rowAt(block, count);
  for (let from = 0; from < count; from += STRIP) {
    const strip = min(STRIP, count - from);
    const start = rowAt(block, from);
    blackScholes(strip, start, false);
    for (let row = start, stop = rowAt(start, strip); row < stop; row += PAIR) {
      // If the count is odd, the second lane of the last pair is not a row.
      const absent = i64x2.ge_s(i64x2.add(i64x2.splat(row), i64x2(0, 8)), i64x2.splat(end));
      const weight = v128.load(row, WEIGHT);
      const weighted = unless(absent, mul(weight, v128.load(row, GAMMA)));
      delta = add(delta, unless(absent, mul(weight, v128.load(row, DELTA))));
      gamma = add(gamma, weighted);
      grossGamma = add(grossGamma, f64x2.abs(weighted));
      vanna = add(vanna, unless(absent, mul(weight, v128.load(row, VANNA))));
      charm = add(charm, unless(absent, mul(weight, v128.load(row, CHARM))));
    }
  }
  v128.store(sums, delta);
  v128.store(sums, gamma, PAIR);
  v128.store(sums, grossGamma, 2 * PAIR);
  v128.store(sums, vanna, 3 * PAIR);
  v128.store(sums, charm, 4 * PAIR);
}
