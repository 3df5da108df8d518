import type { Masses } from './calendar-order.ts';
import { COEFFICIENTS } from './log-density-basis.ts';
import { type PriceBounds, type QuoteBands, SliceModel } from './slice-model.ts';

/** Masses at the nodes, and the coefficients of the log-density that they come from. */
export interface FittedDensity extends Masses {
  readonly coefficients: Float64Array;
}

/** A fit ends if an iteration gains less than this share of the sum. */
const GAIN_MIN = 3e-3;
const ITERATIONS_MAX = 40;
const DAMPING_START = 1e-2;
const DAMPING_MAX = 1e9;
/** With more than twice as many quotes, the fit begins with about this many of them. */
const COARSE_QUOTES = 28;

/**
 * Fits the density of one settlement to its quotes: least squares within the bands, with a penalty on the roughness of the log-density
 * (Gauss-Newton with Marquardt's damping). The mean of every density that is tried is the forward. `deviation` is the standard deviation
 * of the log-price at the money, which scales the nodes. `start` has the coefficients of a similar density, for example
 * of the settlement before. `bounds` are prices that the density should keep. `priorLog` replaces the normal law as the smoothest density.
 */
export function fitSlice(
  quotes: QuoteBands,
  deviation: number,
  start: Float64Array = new Float64Array(COEFFICIENTS),
  bounds?: PriceBounds,
  priorLog?: Float64Array,
): FittedDensity {
  if (quotes.price.length <= 2 * COARSE_QUOTES) return descend(quotes, deviation, start, bounds, priorLog);
  // Some of the quotes lead to almost the same density in a fraction of the time.
  const coarse = descend(
    everyNth(quotes, Math.floor(quotes.price.length / COARSE_QUOTES)),
    deviation,
    start,
    bounds,
    priorLog,
  );
  return descend(quotes, deviation, coarse.coefficients, bounds, priorLog);
}

function everyNth({ callPut, moneyness, price, halfWidth }: QuoteBands, n: number): QuoteBands {
  const pick = (column: Float64Array) => column.filter((_, i) => i % n === 0);
  return { callPut: pick(callPut), moneyness: pick(moneyness), price: pick(price), halfWidth: pick(halfWidth) };
}

/** Fits from start coefficients with all given quotes. */
function descend(
  quotes: QuoteBands,
  deviation: number,
  start: Float64Array,
  bounds: PriceBounds | undefined,
  priorLog: Float64Array | undefined,
): FittedDensity {
  const model = new SliceModel(quotes, deviation, bounds, priorLog);
  let coefficients = start.slice();
  let cost = model.evaluate(coefficients);
  let damping = DAMPING_START;
  const normal = new Float64Array(COEFFICIENTS * COEFFICIENTS);
  const gradient = new Float64Array(COEFFICIENTS);
  const damped = new Float64Array(normal.length);
  const step = new Float64Array(COEFFICIENTS);
  for (let iteration = 0; iteration < ITERATIONS_MAX; iteration++) {
    model.normalEquations(coefficients, normal, gradient);
    let gain = 0;
    while (damping < DAMPING_MAX) {
      damped.set(normal);
      for (let i = 0; i < COEFFICIENTS; i++) damped[i * (COEFFICIENTS + 1)]! *= 1 + damping;
      solveCholesky(damped, gradient, step);
      const next = coefficients.map((each, i) => each + step[i]!);
      const nextCost = model.evaluate(next);
      if (nextCost < cost) {
        gain = (cost - nextCost) / cost;
        [coefficients, cost, damping] = [next, nextCost, Math.max(damping / 8, 1e-8)];
        break;
      }
      damping *= 5;
    }
    if (gain < GAIN_MIN) break;
  }
  model.evaluate(coefficients);
  return { coefficients, masses: model.masses, nodes: model.nodes };
}

/** Solves a symmetric positive definite system, of which the lower triangle is given by rows. Overwrites the matrix. */
function solveCholesky(matrix: Float64Array, right: Float64Array, into: Float64Array): void {
  const n = right.length;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * n + j]!;
      for (let k = 0; k < j; k++) sum -= matrix[i * n + k]! * matrix[j * n + k]!;
      matrix[i * n + j] = i === j ? Math.sqrt(Math.max(sum, 1e-300)) : sum / matrix[j * n + j]!;
    }
  }
  for (let i = 0; i < n; i++) {
    let sum = right[i]!;
    for (let k = 0; k < i; k++) sum -= matrix[i * n + k]! * into[k]!;
    into[i] = sum / matrix[i * n + i]!;
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = into[i]!;
    for (let k = i + 1; k < n; k++) sum -= matrix[k * n + i]! * into[k]!;
    into[i] = sum / matrix[i * n + i]!;
  }
}
