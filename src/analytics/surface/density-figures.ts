import { falsePosition } from '../../math/false-position.ts';
import type { PriceLaw } from './price-law.ts';
import type { QuoteBands } from './slice-model.ts';

/** Probabilities that the price ends at or below the quantiles. */
export const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95] as const;

export type DensityFigures = ReturnType<typeof densityFigures>;

/**
 * Returns the quantiles (`QUANTILES`) and the most likely price of a distribution, as multiples of the forward, and its Kullback-Leibler
 * divergence from the lognormal one with the same at-the-money variance, nats. `deviation` is the square root of this total variance.
 */
export function densityFigures(law: PriceLaw, deviation: number) {
  return {
    quantiles: QUANTILES.map((probability) => quantileOf(law, deviation, probability)),
    mode: modeOf(law, deviation),
    divergence: divergenceFrom(law, deviation),
  };
}

/** The search range for quantiles on each side of the forward, in standard deviations. */
const QUANTILE_REACH = 12;
/** The search ends if the quantile's logarithm is known to this share of the standard deviation. */
const QUANTILE_PRECISION = 1e-14;

/** Returns the moneyness K/F for a given probability of ending at or below it. */
export function quantileOf(law: PriceLaw, deviation: number, probability: number): number {
  const limits = { width: QUANTILE_PRECISION * deviation, value: 0, iterations: 100 };
  const above = (x: number) => probability - law.below(Math.exp(x));
  return Math.exp(falsePosition(above, [-QUANTILE_REACH * deviation, QUANTILE_REACH * deviation], limits));
}

/** The range of the grid on each side of the forward, in standard deviations. The grid has `MODE_POINTS` intervals. */
const MODE_REACH = 4;
const MODE_POINTS = 400;
const TERNARY_STEPS = 40;

/** Finds the most likely price by a grid and a ternary search. The price density is the log-price density divided by the price. */
function modeOf(law: PriceLaw, deviation: number): number {
  const density = logDensityOf(law);
  const ofPrice = (x: number) => density(x) - x;
  const step = (2 * MODE_REACH * deviation) / MODE_POINTS;
  let best = 0;
  for (let i = 0; i <= MODE_POINTS; i++) {
    const x = i * step - MODE_REACH * deviation;
    if (ofPrice(x) > ofPrice(best)) best = x;
  }
  let [left, right] = [best - step, best + step];
  for (let i = 0; i < TERNARY_STEPS; i++) {
    const third = (right - left) / 3;
    if (ofPrice(left + third) < ofPrice(right - third)) left += third;
    else right -= third;
  }
  return Math.exp((left + right) / 2);
}

/** The distance by which the integral extends beyond the outermost lognormal components, in component widths. */
const DIVERGENCE_REACH = 9;
/** The step of the integration, as a share of the narrowest component's width. */
const DIVERGENCE_STEP = 0.15;

function divergenceFrom(law: PriceLaw, deviation: number): number {
  const density = logDensityOf(law);
  const { nodes, widths } = law;
  const low = Math.min(...nodes.map((node, i) => Math.log(node) - DIVERGENCE_REACH * widths[i]!));
  const high = Math.max(...nodes.map((node, i) => Math.log(node) + DIVERGENCE_REACH * widths[i]!));
  const points = Math.ceil((high - low) / (DIVERGENCE_STEP * Math.min(...widths)));
  const step = (high - low) / points;
  let sum = 0;
  for (let i = 0; i <= points; i++) {
    const x = low + i * step;
    const own = density(x);
    const normal = -((x / deviation + deviation / 2) ** 2 / 2) - Math.log(deviation * Math.sqrt(2 * Math.PI));
    if (own > NEGLIGIBLE_DENSITY) sum += Math.exp(own) * (own - normal) * step;
  }
  // The exact divergence is never negative (Gibbs' inequality), but rounding can make the computed sum negative.
  return Math.max(0, sum);
}

/** The lowest log-density at which a point counts in the integral. Below it, the term is negligible, or `NaN` for a density of zero. */
const NEGLIGIBLE_DENSITY = -700;

/** The sum leaves out components whose log-density, relative to the largest log-density, is below this value. */
const NEGLIGIBLE = -40;

/** Returns a function that computes the logarithm of the density of ln(S/F). */
function logDensityOf({ nodes, masses, widths }: PriceLaw): (x: number) => number {
  const centers = nodes.map((node, i) => Math.log(node) - widths[i]! ** 2 / 2);
  const heights = masses.map((mass, i) => Math.log(mass / (widths[i]! * Math.sqrt(2 * Math.PI))));
  return (x) => {
    const term = (i: number) => heights[i]! - ((x - centers[i]!) / widths[i]!) ** 2 / 2;
    let top = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < centers.length; i++) top = Math.max(top, term(i));
    if (top === Number.NEGATIVE_INFINITY) return top;
    let sum = 0;
    for (let i = 0; i < centers.length; i++) {
      const difference = term(i) - top;
      if (difference > NEGLIGIBLE) sum += Math.exp(difference);
    }
    return top + Math.log(sum);
  };
}

/** Strikes more than this number of standard deviations from the forward do not count in the volatility error. */
const ERROR_REACH = 2.5;

/**
 * Returns the root mean square difference of the fitted volatilities from those of the quotes' middles (price difference over vega), in vol
 * points, for strikes within 2.5 deviations of the forward. `deviation` is the root of the at-the-money variance, and `tte` is in years. 0
 * without quotes.
 */
export function volatilityError(
  law: PriceLaw,
  { callPut, moneyness, price }: QuoteBands,
  deviation: number,
  tte: number,
): number {
  let [squares, count] = [0, 0];
  for (let i = 0; i < price.length; i++) {
    const distance = Math.log(moneyness[i]!) / deviation;
    if (Math.abs(distance) > ERROR_REACH) continue;
    const d1 = -distance + deviation / 2;
    const vega = (Math.exp(-(d1 * d1) / 2) / Math.sqrt(2 * Math.PI)) * Math.sqrt(tte);
    squares += ((100 * (law.price(callPut[i]!, moneyness[i]!) - price[i]!)) / vega) ** 2;
    count++;
  }
  return count === 0 ? 0 : Math.sqrt(squares / count);
}
