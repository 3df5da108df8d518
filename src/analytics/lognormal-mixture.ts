import { greeks } from '../math/black-scholes.ts';
import { leastSquares } from '../math/least-squares.ts';

/** One lognormal of a mixture: its weight, its mean as a multiple of the forward, and its volatility per year. */
export interface Component {
  readonly weight: number;
  readonly mean: number;
  readonly volatility: number;
}

/** A target: out-of-the-money undiscounted price at a strike, both as multiples of the forward. */
export interface PricePoint {
  /** +1 call, -1 put. */
  readonly callPut: number;
  readonly strike: number;
  readonly price: number;
  /** Price per 1.00 of volatility: turns a price error into one of volatility. */
  readonly vega: number;
  /** How much the quote can be trusted, 0 to 1: less the wider it is. */
  readonly weight: number;
}

const POINTS_MIN = 5;
/** Tails are quoted in ticks, not in volatility: their errors are damped by this share of the largest vega. */
const VEGA_FLOOR = 0.05;
/** A third component must earn its three parameters. */
const THIRD_GAIN_MIN = 0.2;
/**
 * Components stay within these multiples of the at-the-money volatility, and their means within so many deviations of the
 * forward: no spikes, no ghosts of vanishing weight.
 */
const VOLATILITY_MIN = 0.4;
const VOLATILITY_MAX = 4;
const MEAN_DEVIATIONS_MAX = 3;
/** Least weight of a component, about e^-5. */
const LOG_RATIO_MAX = 5;
/** Pull of every parameter toward the single lognormal, as an error in volatility: what noise in sparse quotes cannot pay for. */
const PULL = 0.002;
/** Errors beyond this, in volatility, are a quote's fault rather than the fit's. */
const OUTLIER = 0.03;

/**
 * Fits two or three lognormals to a smile: positive and of mass one by construction, and of mean one (the forward) because the
 * means are normalised. One lognormal of the at-the-money volatility where the points are too few. (Bahra 1997, with the
 * forward pinned.)
 */
export function fitMixture(points: readonly PricePoint[], atmVolatility: number, tte: number): Component[] {
  const single = [{ weight: 1, mean: 1, volatility: atmVolatility }];
  if (points.length < POINTS_MIN) return single;
  const residuals = residualsOf(points, atmVolatility, tte);
  // [log weight ratio, mean in deviations, log volatility of the first, of the second]: fat to the left, to both, to the right.
  const two = [
    [-1.5, -1.5, -0.2, 0.4],
    [-0.7, -0.3, -0.3, 0.4],
    [-1.5, 0.5, -0.2, 0.4],
  ]
    .map((start) => leastSquares(residuals, start))
    .reduce((best, each) => (each.sumOfSquares < best.sumOfSquares ? each : best));
  const [weight, mean, first, second] = two.parameters as [number, number, number, number];
  const three = leastSquares(residuals, [weight, -2, mean, -mean, first, second, first - 0.1]);
  const best = three.sumOfSquares < (1 - THIRD_GAIN_MIN) * two.sumOfSquares ? three : two;
  const components = decode(best.parameters, atmVolatility, tte);
  return components.every(({ weight, mean, volatility }) => [weight, mean, volatility].every(Number.isFinite))
    ? components
    : single;
}

/** Prices of a mixture at strikes (multiples of the forward), undiscounted, one kernel call. */
export function mixturePrices(
  components: readonly Component[],
  points: readonly Pick<PricePoint, 'callPut' | 'strike'>[],
  tte: number,
): Float64Array {
  const n = points.length;
  const count = n * components.length;
  const spread = (value: (component: Component, point: (typeof points)[number]) => number) =>
    Float64Array.from({ length: count }, (_, at) => value(components[Math.floor(at / n)]!, points[at % n]!));
  const { price } = greeks({
    count,
    callPut: spread((_, point) => point.callPut),
    spot: spread((component) => component.mean),
    strike: spread((_, point) => point.strike),
    tte,
    iv: spread((component) => component.volatility),
    rate: 0,
    dividend: 0,
  });
  const prices = new Float64Array(n);
  price.forEach((each, at) => {
    prices[at % n]! += components[Math.floor(at / n)]!.weight * each;
  });
  return prices;
}

function residualsOf(points: readonly PricePoint[], atmVolatility: number, tte: number) {
  const floor = VEGA_FLOOR * Math.max(...points.map(({ vega }) => vega));
  const pull = PULL * Math.sqrt(points.length);
  return (parameters: readonly number[]): Float64Array => {
    const prices = mixturePrices(decode(parameters, atmVolatility, tte), points, tte);
    const errors = prices.map((price, at) => {
      const { price: target, vega, weight } = points[at]!;
      return weight * softened((price - target) / (vega + floor));
    });
    return Float64Array.from([...errors, ...parameters.slice((parameters.length - 1) / 3).map((each) => pull * each)]);
  };
}

/** Parameters: n-1 log weight ratios, n-1 means in deviations, n log volatilities over the at-the-money one. */
function decode(parameters: readonly number[], atmVolatility: number, tte: number): Component[] {
  const n = (parameters.length + 2) / 3;
  const deviation = atmVolatility * Math.sqrt(tte);
  const ratios = [1, ...parameters.slice(0, n - 1).map((each) => Math.exp(clamp(each, LOG_RATIO_MAX)))];
  const means = [
    1,
    ...parameters.slice(n - 1, 2 * n - 2).map((each) => Math.exp(deviation * clamp(each, MEAN_DEVIATIONS_MAX))),
  ];
  const total = ratios.reduce((sum, each) => sum + each, 0);
  const mean = ratios.reduce((sum, each, at) => sum + (each / total) * means[at]!, 0);
  return ratios.map((ratio, at) => ({
    weight: ratio / total,
    mean: means[at]! / mean,
    volatility:
      atmVolatility * Math.min(Math.max(Math.exp(parameters[2 * n - 2 + at]!), VOLATILITY_MIN), VOLATILITY_MAX),
  }));
}

/** Grows like the root of an error beyond OUTLIER: one absurd quote does not bend the rest (soft L1 loss). */
function softened(error: number): number {
  const ratio = error / OUTLIER;
  return OUTLIER * Math.sign(error) * Math.sqrt(2 * (Math.sqrt(1 + ratio * ratio) - 1));
}

function clamp(value: number, limit: number): number {
  return Math.min(Math.max(value, -limit), limit);
}
