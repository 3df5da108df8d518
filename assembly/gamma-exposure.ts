import { logRatio } from './scalar-log';

const INV_SQRT_2_PI: f64 = 0.3989422804014327;
/** e to less than this is below the smallest normal number: nothing next to any other gamma, and slow as a subnormal. */
const EXPONENT_MIN: f64 = -708.0;
const DEVIATION_MIN: f64 = 1e-100;

/**
 * sums[k - first] += gamma * weight over the rows whose strikeIndex is k, for the `strikes` strikes from `first` on. Indices are
 * f64 like every column.
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

/**
 * sums[l] += sum over rows of weight * gamma(S_l, K, T, v, r, q), where S_l = reference * e^moves[l]: Black-Scholes-Merton
 * gamma, v held at the strike, the forward moving in proportion to spot. Rows with T = 0 or v = 0 have none.
 *
 * Levels come as logarithms from a reference near the strikes, which saves a logarithm a pair and keeps d1 exact to rounding
 * of numbers below 1.
 */
export function addGammaProfile(
  count: i32,
  strike: usize,
  tte: usize,
  iv: usize,
  rate: usize,
  dividend: usize,
  weight: usize,
  reference: f64,
  levels: i32,
  moves: usize,
  sums: usize,
): void {
  const levelsEnd = (<usize>levels) << 3;
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += 8) {
    const T = load<f64>(tte + at);
    const s = load<f64>(iv + at) * Math.sqrt(T);
    const w = load<f64>(weight + at);
    if (s < DEVIATION_MIN || w === 0.0) continue;
    const r = load<f64>(rate + at);
    const q = load<f64>(dividend + at);
    const x = logRatio(reference, load<f64>(strike + at)) + (r - q) * T;
    const scale = (w * Math.exp(-q * T) * INV_SQRT_2_PI) / (s * reference);
    for (let level: usize = 0; level < levelsEnd; level += 8) {
      const move = load<f64>(moves + level);
      const d1 = (x + move) / s + 0.5 * s;
      const exponent = -0.5 * d1 * d1 - move;
      if (exponent < EXPONENT_MIN) continue;
      store<f64>(sums + level, load<f64>(sums + level) + scale * Math.exp(exponent));
    }
  }
}

/** moves[l] = ln(levels[l] / reference). */
export function logMoves(count: i32, levels: usize, reference: f64, moves: usize): void {
  for (let at: usize = 0, end = (<usize>count) << 3; at < end; at += 8) {
    store<f64>(moves + at, logRatio(load<f64>(levels + at), reference));
  }
}
