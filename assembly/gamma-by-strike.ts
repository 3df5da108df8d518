/** Worst error found: sum 2.38, at strike 62 of 100 for 5000 contracts. */
/**
 * For the `strikes` strikes from `first` on: sums[k - first] += gamma * weight over the rows whose strikeIndex is k. Indices are f64, as
 * every column is.
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
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += 8) {
    const strike = <i32>load<f64>(strikeIndex + at) - first;
    if (strike < 0 || strike >= strikes) continue;
    const sum = sums + ((<usize>strike) << 3);
    store<f64>(sum, load<f64>(sum) + load<f64>(gamma + at) * load<f64>(weight + at));
  }
}
