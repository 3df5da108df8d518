import type { Masses } from './calendar-order.ts';
import { COEFFICIENTS } from './log-density-basis.ts';
import { type PriceBounds, type QuoteBands, SliceModel, solveDamped } from './slice-model.ts';

/** Probability masses at the nodes, and the coefficients of the log-density that gives these masses. */
export interface FittedDensity extends Masses {
  readonly coefficients: Float64Array;
  /** The model of the fit. The first rows of the model are the quotes, and the last rows are the bounds. */
  readonly model: SliceModel;
}

/** The largest change of a coefficient in one step. Where the density is tiny, prices hardly depend on it, and steps would be huge. */
const STEP_MAX = 3;
/** A fit ends if the next step is expected to cut the cost by less than `GAIN_MIN * (cost + 1)`. The 1 ends a fit whose cost is near 0. */
const GAIN_MIN = 6e-3;
/** The maximum number of steps that a fit tries. Most fits need fewer than 15 steps. A slow fit lowers the cost by only 1 % per step. */
const TRIALS_MAX = 60;
/** The maximum number of further steps with the last weight of flat tails. */
const STEEP_TRIALS_MAX = 20;
/** If the mean loss of a quote at the start is above this number of squared half-widths, the fit looks for a better start. */
const NEAR_START = 10;
const DAMPING_START = 1e-2;
const DAMPING_MIN = 1e-4;
/**
 * The gain of a step is the decrease of the cost divided by the decrease that the normal equations predict. The damping falls after a step
 * with a good gain, and rises after a step with a poor gain.
 */
const [GOOD_GAIN, POOR_GAIN] = [0.75, 0.25];
const [DAMPING_FALL, DAMPING_RISE] = [10, 3];

/**
 * Fits the density of one settlement to its quotes. The fit minimises a cost: the losses (`Loss` of assembly/slice-model.ts) of the price errors, in half-widths of
 * the bands, plus a penalty for a rough log-density. The method is Newton's method with Marquardt's damping. Each Newton step treats prices
 * as linear functions of the coefficients. The mean of every trial density is the forward.
 *
 * `deviation` is the standard deviation of the log-price at the money, which scales the nodes. `start` has the coefficients of a similar
 * density, for example the density of the previous settlement. `bounds` limits the prices that the density gives. `priorLog` is the
 * log-density for which the penalty is 0. By default, `priorLog` is hyperbolic. `known` is the model of an earlier fit to the same quotes.
 */
export function fitSlice(
  quotes: QuoteBands,
  deviation: number,
  start: Float64Array = new Float64Array(COEFFICIENTS),
  bounds?: PriceBounds,
  priorLog?: Float64Array,
  known?: SliceModel,
): FittedDensity {
  const model = new SliceModel(quotes, deviation, bounds, priorLog, known);
  const normal = new Float64Array(COEFFICIENTS * COEFFICIENTS);
  const gradient = new Float64Array(COEFFICIENTS);
  const step = new Float64Array(COEFFICIENTS);
  let trial = new Float64Array(COEFFICIENTS);
  let coefficients = start.slice();
  let cost = model.evaluate(coefficients);
  if (cost > NEAR_START * (quotes.price.length + 1)) {
    // The prices of the other density are far from the quotes, so the given density may be a better start.
    const plain = new Float64Array(COEFFICIENTS);
    const plainCost = model.evaluate(plain);
    if (plainCost < cost) [coefficients, cost] = [plain, plainCost];
    else model.evaluate(coefficients);
  }
  let damping = DAMPING_START;
  /** True if the masses of the model belong to `coefficients`. False if the masses belong to a rejected trial. */
  let isCurrent = true;
  let most = TRIALS_MAX;
  for (let trials = 0; ; trials++) {
    if (isCurrent) model.normalEquations(coefficients, normal, gradient);
    const promised = solveDamped(normal, gradient, damping, step);
    if (trials >= most || promised < GAIN_MIN * (1 + cost)) {
      if (!model.steepen(coefficients)) break;
      cost = model.evaluate(coefficients);
      damping = DAMPING_START;
      isCurrent = true;
      most = trials + STEEP_TRIALS_MAX;
      continue;
    }
    for (let i = 0; i < COEFFICIENTS; i++) {
      trial[i] = coefficients[i]! + Math.max(-STEP_MAX, Math.min(STEP_MAX, step[i]!));
    }
    const trialCost = model.evaluate(trial);
    const gain = cost - trialCost;
    isCurrent = gain > 0;
    if (isCurrent) [coefficients, trial, cost] = [trial, coefficients, trialCost];
    if (gain > GOOD_GAIN * promised) damping = Math.max(damping / DAMPING_FALL, DAMPING_MIN);
    else if (!(gain > POOR_GAIN * promised)) damping *= DAMPING_RISE;
  }
  if (!isCurrent) model.evaluate(coefficients);
  const { masses, nodes, reach } = model;
  return { coefficients, masses, nodes, reach, model };
}
