import { oneGreek } from '../../math/black-scholes.ts';
import { ITERATIONS_MAX, type LeastSquares, leastSquaresInSteps } from '../../math/least-squares.ts';
import type { Steps } from '../../steps.ts';
import { concatenate, type PricePoints, pricingErrors, type QuotedStrikes } from './price-points.ts';

/** One lognormal of a mixture: its weight, its mean as a multiple of the forward, and its volatility per year. */
export interface Component {
  readonly weight: number;
  readonly mean: number;
  readonly volatility: number;
}

/** The least number of points for a mixture. Fewer points determine only the volatility of a single lognormal. */
const POINTS_MIN = 4;
/** The least number of points for a third component, which adds three parameters. */
const THIRD_POINTS_MIN = 8;
/** A third component is used only if it lowers the sum of squared errors by more than this share. */
const THIRD_GAIN_MIN = 0.1;
/** Bounds of a component's volatility, as multiples of the at-the-money volatility. The lower bound prevents spikes of the density. */
const VOLATILITY_MIN = 0.4;
const VOLATILITY_MAX = 4;
/**
 * The largest distance of a further component's log mean from that of the first component, in at-the-money standard deviations, before the
 * means are normalised.
 */
const MEAN_DEVIATIONS_MAX = 6;
/**
 * The weight of each further component is from e^-7 to e^7 times the weight of the first component. The far tail of an index weighs a
 * thousandth.
 */
const LOG_RATIO_MAX = 7;
/**
 * The strength of the pull of means and volatilities toward the single lognormal. A parameter of 1 costs as much as an error of 0.0005 in
 * volatility at every point. The pull suppresses noise of sparse quotes. The value was chosen among 0.0002, 0.0005 and 0.002. Every second
 * strike of the recorded chains was left out of the fit, and with 0.0005 the fits were closest to these strikes.
 */
const REGULARIZATION = 0.0005;
/** The number of iterations from each start, after which the best start is chosen. */
const TRIAL_ITERATIONS = 10;
/** The number of points that are priced in a step of some 2 ms. */
const STEP_POINTS = 5_000;

/**
 * Starts with two components, as parameters of `decode`: log ratio of the second weight to the first, mean of the second component in
 * standard deviations, and the log volatilities of both components.
 */
const TWO_STARTS = [
  // The second component is a fat tail on the left.
  [-1.5, -1.5, -0.2, 0.4],
  // The second component is wider than the first and has almost the same mean: fat tails on both sides.
  [-0.7, -0.3, -0.3, 0.4],
  // The second component is a fat tail on the right.
  [-1.5, 0.5, -0.2, 0.4],
];
/** Starts with three components: two log ratios, two means and three log volatilities. */
const THREE_STARTS = [
  // The second component lies on the left, and the third further left. Each is wider than the component before.
  [-0.5, -2, -1, -2.5, -0.5, 0, 0.5],
  // The second component is a fat tail on the left, and the third a fat tail on the right.
  [-1, -2.5, -1, 0.5, -0.3, 0.3, 0.6],
  // The second component lies on the right, and the third further right. Each is wider than the component before.
  [-0.5, -2, 1, 2.5, -0.5, 0, 0.5],
];

/**
 * Fits two or three lognormals to a smile (Bahra 1997, with the forward fixed). The mixture is positive and has mass one by construction.
 * Its mean is one, the forward, because the means are normalised. Returns one lognormal with the at-the-money volatility if there are too
 * few points, or if the fit is not finite.
 */
export function* fitMixtureInSteps(points: PricePoints, atmVolatility: number, tte: number): Steps<Component[]> {
  const single = [{ weight: 1, mean: 1, volatility: atmVolatility }];
  const count = points.strike.length;
  if (count < POINTS_MIN) return single;
  const residuals = residualsOf(points, atmVolatility, tte);
  const evaluations = Math.max(1, Math.floor(STEP_POINTS / count));
  const bestFrom = function* (starts: readonly (readonly number[])[]): Steps<LeastSquares> {
    let best: LeastSquares | undefined;
    for (const start of starts) {
      const trial = yield* leastSquaresInSteps(residuals, start, { iterationsMax: TRIAL_ITERATIONS, evaluations });
      if (!best || trial.sumOfSquares < best.sumOfSquares) best = trial;
    }
    return yield* leastSquaresInSteps(residuals, best!.parameters, { iterationsMax: ITERATIONS_MAX, evaluations });
  };
  const two = yield* bestFrom(TWO_STARTS);
  const three = count < THIRD_POINTS_MIN ? two : yield* bestFrom(THREE_STARTS);
  const chosen = three.sumOfSquares < (1 - THIRD_GAIN_MIN) * two.sumOfSquares ? three : two;
  const components = decode(chosen.parameters, atmVolatility, tte);
  return components.every(({ weight, mean, volatility }) => [weight, mean, volatility].every(Number.isFinite))
    ? components
    : single;
}

/** Returns the undiscounted option prices of a mixture, as multiples of the forward. */
export function mixturePrices(
  components: readonly Component[],
  { callPut, strike }: QuotedStrikes,
  tte: number,
): Float64Array {
  const count = strike.length;
  const prices = new Float64Array(count);
  for (const { weight, mean, volatility } of components) {
    const columns = { count, callPut, spot: mean, strike, tte, iv: volatility, rate: 0, dividend: 0 };
    const price = oneGreek('price', columns);
    for (let i = 0; i < count; i++) prices[i]! += weight * price[i]!;
  }
  return prices;
}

function residualsOf(points: PricePoints, atmVolatility: number, tte: number) {
  const penalty = REGULARIZATION * Math.sqrt(points.strike.length);
  return (parameters: readonly number[]): Float64Array => {
    const errors = pricingErrors(points, mixturePrices(decode(parameters, atmVolatility, tte), points, tte));
    const penalties = parameters.slice((parameters.length - 1) / 3).map((each) => penalty * each);
    return concatenate([errors, penalties]);
  };
}

/**
 * Returns the components that parameters describe. The parameters of n components are n - 1 logarithms of weights relative to the first
 * weight, n - 1 log means relative to the first mean in at-the-money standard deviations, and n logarithms of volatilities relative to the
 * at-the-money volatility.
 */
function decode(parameters: readonly number[], atmVolatility: number, tte: number): Component[] {
  const n = (parameters.length + 2) / 3;
  const deviation = atmVolatility * Math.sqrt(tte);
  const ratios = [1, ...parameters.slice(0, n - 1).map((each) => Math.exp(clamp(each, LOG_RATIO_MAX)))];
  const means = [
    1,
    ...parameters.slice(n - 1, 2 * n - 2).map((each) => Math.exp(deviation * clamp(each, MEAN_DEVIATIONS_MAX))),
  ];
  const total = ratios.reduce((sum, each) => sum + each, 0);
  const mean = ratios.reduce((sum, each, i) => sum + (each / total) * means[i]!, 0);
  return ratios.map((ratio, i) => ({
    weight: ratio / total,
    mean: means[i]! / mean,
    volatility:
      atmVolatility * Math.min(Math.max(Math.exp(parameters[2 * n - 2 + i]!), VOLATILITY_MIN), VOLATILITY_MAX),
  }));
}

function clamp(value: number, limit: number): number {
  return Math.min(Math.max(value, -limit), limit);
}
