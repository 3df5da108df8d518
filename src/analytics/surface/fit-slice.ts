import { solveCholesky } from '../../math/cholesky.ts';
import type { Masses } from './calendar-order.ts';
import { COEFFICIENTS } from './log-density-basis.ts';
import { type PriceBounds, type QuoteBands, SliceModel } from './slice-model.ts';

/** Masses at the nodes, and the coefficients of the log-density that they come from. */
export interface FittedDensity extends Masses {
  readonly coefficients: Float64Array;
  /** The model of the quotes, then of the bounds. */
  readonly model: SliceModel;
}

/** A fit ends if the next step promises to gain less than this share of the cost plus one. */
const GAIN_MIN = 3e-3;
/** Most fits take fewer than 15 trials. Some gain only one per cent with each. */
const TRIALS_MAX = 60;
const DAMPING_START = 1e-2;
const DAMPING_MIN = 1e-4;
/** The damping falls after a step that gains nearly what its equations promise, and rises after one that gains far less. */
const [GOOD_GAIN, POOR_GAIN] = [0.75, 0.25];
const [DAMPING_FALL, DAMPING_RISE] = [10, 3];

/**
 * Fits the density of one settlement to its quotes: least squares within the bands, with a penalty on the roughness of the log-density (Newton's
 * method with Marquardt's damping, where prices count as linear in the coefficients). The mean of every density that is tried is the forward.
 * `deviation` is the standard deviation of the log-price at the money, which scales the nodes. `start` has the coefficients of a similar
 * density, for example of the settlement before. `bounds` are prices that the density should keep. `priorLog` replaces the normal law as
 * the smoothest density.
 */
export function fitSlice(
  quotes: QuoteBands,
  deviation: number,
  start: Float64Array = new Float64Array(COEFFICIENTS),
  bounds?: PriceBounds,
  priorLog?: Float64Array,
): FittedDensity {
  const model = new SliceModel(quotes, deviation, bounds, priorLog);
  const normal = new Float64Array(COEFFICIENTS * COEFFICIENTS);
  const gradient = new Float64Array(COEFFICIENTS);
  const matrix = new Float64Array(normal.length);
  const step = new Float64Array(COEFFICIENTS);
  let trial = new Float64Array(COEFFICIENTS);
  let coefficients = start.slice();
  let cost = model.evaluate(coefficients);
  if (cost === Number.POSITIVE_INFINITY) cost = model.evaluate(coefficients.fill(0));
  let damping = DAMPING_START;
  /** Whether the model has the masses of the coefficients, and not those of a rejected trial. */
  let isCurrent = true;
  for (let trials = 0; trials < TRIALS_MAX; trials++) {
    if (isCurrent) model.normalEquations(coefficients, normal, gradient);
    const promised = dampedStep(normal, gradient, damping, { matrix, step });
    if (promised < GAIN_MIN * (1 + cost)) break;
    for (let i = 0; i < COEFFICIENTS; i++) trial[i] = coefficients[i]! + step[i]!;
    const trialCost = model.evaluate(trial);
    const gain = cost - trialCost;
    isCurrent = gain > 0;
    if (isCurrent) [coefficients, trial, cost] = [trial, coefficients, trialCost];
    if (gain > GOOD_GAIN * promised) damping = Math.max(damping / DAMPING_FALL, DAMPING_MIN);
    else if (!(gain > POOR_GAIN * promised)) damping *= DAMPING_RISE;
  }
  if (!isCurrent) model.evaluate(coefficients);
  return { coefficients, masses: model.masses, nodes: model.nodes, model };
}

/** Solves the normal equations with a damped diagonal. Returns by how much the cost falls if prices are linear in the coefficients. */
function dampedStep(
  normal: Float64Array,
  gradient: Float64Array,
  damping: number,
  into: { readonly matrix: Float64Array; readonly step: Float64Array },
): number {
  const { matrix, step } = into;
  matrix.set(normal);
  step.set(gradient);
  for (let i = 0; i < COEFFICIENTS; i++) matrix[i * (COEFFICIENTS + 1)]! *= 1 + damping;
  solveCholesky(matrix, step);
  let promised = 0;
  for (let i = 0; i < COEFFICIENTS; i++) {
    promised += step[i]! * (gradient[i]! + damping * normal[i * (COEFFICIENTS + 1)]! * step[i]!);
  }
  return promised;
}
