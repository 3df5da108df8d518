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

/** Fewer points determine no more than a level. */
const POINTS_MIN = 4;
/** A third component adds three parameters. It needs quotes that determine them, and must reduce the error enough. */
const THIRD_POINTS_MIN = 8;
const THIRD_GAIN_MIN = 0.1;
/**
 * Components stay within these multiples of the at-the-money volatility, and their means within this many standard deviations of the
 * forward, so that the density has no spikes.
 */
const VOLATILITY_MIN = 0.4;
const VOLATILITY_MAX = 4;
const MEAN_DEVIATIONS_MAX = 6;
/** Limits the weight of a component to about e^-7 or more. The far tail of an index weighs a thousandth. */
const LOG_RATIO_MAX = 7;
/**
 * Pull of every parameter toward the single lognormal, as an error in volatility. It suppresses what is only noise in sparse quotes. The
 * value was chosen among 0.0002, 0.0005 and 0.002: every second strike of the recorded chains was left out of the fit, and 0.0005 met
 * these strikes best.
 */
const REGULARIZATION = 0.0005;
/** After this many iterations from each start, the best start is known. */
const TRIAL_ITERATIONS = 10;
/** Points priced in a step of some 2 ms. */
const STEP_POINTS = 5_000;

/**
 * Starts: [log weight ratio, mean in standard deviations, log volatility of the first, of the second]. The fat tail is on the left, on both
 * sides, on the right.
 */
const TWO_STARTS = [
  [-1.5, -1.5, -0.2, 0.4],
  [-0.7, -0.3, -0.3, 0.4],
  [-1.5, 0.5, -0.2, 0.4],
];
/** Starts: two ratios, two means, three log volatilities. Tails ever fatter to the left, fat on both sides, ever fatter to the right. */
const THREE_STARTS = [
  [-0.5, -2, -1, -2.5, -0.5, 0, 0.5],
  [-1, -2.5, -1, 0.5, -0.3, 0.3, 0.6],
  [-0.5, -2, 1, 2.5, -0.5, 0, 0.5],
];

/**
 * Fits two or three lognormals to a smile. The mixture is positive and has mass one by construction, and mean one (the forward) because the
 * means are normalised. Returns one lognormal with the at-the-money volatility if there are too few points, or if the fit is not finite.
 * (Bahra 1997, with the forward fixed.)
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

/** Undiscounted prices of a mixture, as multiples of the forward. */
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

/** Parameters: n-1 log weight ratios, n-1 means in standard deviations, n log volatilities relative to the at-the-money one. */
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
