/**
 * Worst error found: sum 2.38, at strike 62 of 100 for 5000 contracts.
 * The unit is the sum of the changes that one rounding of each product can cause.
 */
/**
 * Adds gamma * weight of each row to sums[strikeIndex - first]. Leaves out rows whose strikeIndex is less than `first` or greater than
 * `first + strikes - 1`. Indices are f64, because every column is f64.
 */
export function addGammaByStrike(
  count: i32,
  gamma: usize,
  weight: usize,
  strikeIndex: usize,
  first: i32,
  strikes: i32,
  sums: usize,
): void {
  for (let offset: usize = 0, end = (<usize>count) << 3; offset < end; offset += 8) {
    const strike = <i32>load<f64>(strikeIndex + offset) - first;
    if (strike < 0 || strike >= strikes) continue;
    const sum = sums + ((<usize>strike) << 3);
    store<f64>(sum, load<f64>(sum) + load<f64>(gamma + offset) * load<f64>(weight + offset));
  }
}
