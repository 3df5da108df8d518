/**
 * Worst error found: price 2.16, at put, S=1, K=1, T=1, v=2.1747547248212443e-7, r=0, q=0.
 * The unit is one rounding of the larger of the forward and the strike.
 *
 * A mixture of lognormals (src/analytics/surface/price-law.ts), with one lognormal in each row. Each sum adds its terms in the order of rows.
 */
import { COLUMN } from './block';
import { MixtureColumn } from './columns';
import { Exponential } from './exp';
import { cumulative } from './normal';

const NODE: usize = <usize>MixtureColumn.nodes * COLUMN;
const MASS: usize = <usize>MixtureColumn.masses * COLUMN;
const WIDTH: usize = <usize>MixtureColumn.widths * COLUMN;

/** At more than this number of standard deviations, the mass of a lognormal is too small to change a sum of doubles. */
const FAR: f64 = 9.0;

/** Returns the undiscounted price of an option. The strike is a multiple of the forward. `callPut` is +1 for a call, -1 for a put. */
export function mixturePrice(count: i32, callPut: f64, strike: f64, block: usize): f64 {
  let sum = 0.0;
  for (let row = block, end = block + ((<usize>count) << 3); row < end; row += 8) {
    const node = load<f64>(row + NODE);
    const width = load<f64>(row + WIDTH);
    const mass = load<f64>(row + MASS);
    const distance = Math.log(node / strike) / width;
    const inMoney = callPut * distance;
    if (inMoney < -FAR) continue;
    if (inMoney > FAR) {
      sum += mass * callPut * (node - strike);
      continue;
    }
    const above = node * cumulative(callPut * (distance + width / 2.0));
    sum += mass * callPut * (above - strike * cumulative(callPut * (distance - width / 2.0)));
  }
  return sum;
}

/** Returns the probability of ending at or below the strike (`side` 1), or at or above the strike (`side` -1). */
export function mixtureShare(count: i32, side: f64, strike: f64, block: usize): f64 {
  let sum = 0.0;
  for (let row = block, end = block + ((<usize>count) << 3); row < end; row += 8) {
    const width = load<f64>(row + WIDTH);
    const node = load<f64>(row + NODE);
    const ratio = side > 0.0 ? strike / node : node / strike;
    sum += load<f64>(row + MASS) * cumulative(Math.log(ratio) / width + (side * width) / 2.0);
  }
  return sum;
}

const CENTER: usize = <usize>MixtureColumn.centers * COLUMN;
const HEIGHT: usize = <usize>MixtureColumn.heights * COLUMN;
const LOG_DENSITY: usize = <usize>MixtureColumn.logDensity * COLUMN;

/** A sum of densities leaves out lognormals whose log-density, relative to the largest log-density, is below this value. */
const NEGLIGIBLE: f64 = -40.0;

/**
 * Writes the logarithm of the density of ln(S/F) at `points` points, the first at `from`, `step` apart. `centers` and `heights` are the mean
 * of each lognormal's logarithm and the logarithm of its greatest density.
 */
export function mixtureLogDensities(count: i32, points: i32, from: f64, step: f64, block: usize): void {
  const end = block + ((<usize>count) << 3);
  for (let i = 0; i < points; i++) {
    const x = from + <f64>i * step;
    let top = -Infinity;
    for (let row = block; row < end; row += 8) top = Math.max(top, logDensity(row, x));
    let sum = 0.0;
    for (let row = block; row < end; row += 8) {
      const difference = logDensity(row, x) - top;
      if (difference > NEGLIGIBLE) sum += f64x2.extract_lane(Exponential.of(f64x2.splat(difference)), 0);
    }
    const log = top === -Infinity ? top : top + Math.log(sum);
    store<f64>(block + LOG_DENSITY + ((<usize>i) << 3), log);
  }
}

function logDensity(row: usize, x: f64): f64 {
  const z = (x - load<f64>(row + CENTER)) / load<f64>(row + WIDTH);
  return load<f64>(row + HEIGHT) - (z * z) / 2.0;
}
