import { impliedVolatility } from '../../math/implied-volatility.ts';
import { normalCdf } from '../../math/normal.ts';
import { runToCompletion, StepCache, type Steps } from '../../steps.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { type Component, fitMixtureInSteps, mixturePrices } from './lognormal-mixture.ts';
import { fitError, pricePoints } from './price-points.ts';

/** The distribution of the price at settlement that the options of one expiry imply, under the risk-neutral measure. */
export interface Density {
  readonly forward: number;
  /** Decimal per year. */
  readonly atmIv: number;
  /** One standard deviation at the at-the-money volatility, dollars. */
  readonly expectedMove: number;
  /** Dollars, one for each probability of `QUANTILES`. */
  readonly quantiles: readonly number[];
  /** Most likely price, dollars. */
  readonly mode: number;
  /** Skewness of the log return. */
  readonly skewness: number;
  /** Kullback-Leibler divergence from the lognormal with the at-the-money volatility, nats. */
  readonly divergence: number;
  /** Root mean square error of the fit, vol points: over strikes within 2.5 standard deviations, weighted by the trust in their quotes. */
  readonly fitError: number;
  /** The number of strikes to which the density was fitted. */
  readonly points: number;
  readonly components: readonly Component[];
  /** Returns the probability of settling at or below a price. */
  cdf(price: number): number;
  /** Returns the total variance that the density's price of an option at a log-moneyness ln(K/F) implies. */
  totalVariance(logMoneyness: number): number;
}

export const QUANTILES = [0.05, 0.25, 0.5, 0.75, 0.95] as const;

/**
 * Returns the risk-neutral density of a series: a mixture of lognormals that is fitted to the smile of the series. The smile must not be
 * empty. The result is cached by series, since it depends on the snapshot only.
 */
export function densityOf(prepared: PreparedChain, series: PreparedSeries): Density {
  return runToCompletion(densityInSteps(prepared, series));
}

export function densityInSteps(prepared: PreparedChain, series: PreparedSeries): Steps<Density> {
  return fitted.of(series, '', { message: 'Fitting to the quotes', steps: () => fit(prepared, series) });
}

const fitted = new StepCache<PreparedSeries, Density>(() => 1);

function* fit(prepared: PreparedChain, series: PreparedSeries): Steps<Density> {
  const { forward, tte } = series;
  const atmIv = atmVolatility(series);
  const points = pricePoints(prepared, series);
  const components = yield* fitMixtureInSteps(points, atmIv, tte);
  yield { message: 'Reading the density' };
  const normals = components.map(({ weight, mean, volatility }) => {
    const deviation = volatility * Math.sqrt(tte);
    return { weight, mean: Math.log(mean) - deviation ** 2 / 2, deviation };
  });
  const cdfOfReturn = (y: number) =>
    normals.reduce((sum, { weight, mean, deviation }) => sum + weight * normalCdf((y - mean) / deviation), 0);
  return {
    forward,
    atmIv,
    expectedMove: forward * atmIv * Math.sqrt(tte),
    quantiles: QUANTILES.map((probability) => forward * Math.exp(quantile(normals, cdfOfReturn, probability))),
    mode: forward * Math.exp(modeOf(normals)),
    skewness: skewnessOf(normals),
    divergence: divergenceFrom(normals, atmIv * Math.sqrt(tte)),
    fitError: fitError([{ points, prices: mixturePrices(components, points, tte), atmIv, tte }]),
    points: points.strike.length,
    components,
    cdf: (price) => cdfOfReturn(Math.log(price / forward)),
    totalVariance: (logMoneyness) =>
      impliedVariance(components, clamp(logMoneyness, support(normals, PRICED_DEVIATIONS)), tte),
  };
}

/** Beyond this many standard deviations, prices are too small to imply a variance. The variance is constant from there on. */
const PRICED_DEVIATIONS = 25;

function impliedVariance(components: readonly Component[], logMoneyness: number, tte: number): number {
  const callPut = logMoneyness < 0 ? -1 : 1;
  const strike = Math.exp(logMoneyness);
  const columns = { callPut: Float64Array.of(callPut), strike: Float64Array.of(strike) };
  const price = mixturePrices(components, columns, tte);
  const volatility = impliedVolatility({ count: 1, ...columns, price, spot: 1, tte, rate: 0, dividend: 0 })[0]!;
  return volatility ** 2 * tte;
}

function clamp(value: number, [low, high]: readonly [number, number]): number {
  return Math.min(Math.max(value, low), high);
}

/** A component of the mixture, as a normal distribution of the log return ln(S/F). */
interface Normal {
  readonly weight: number;
  readonly mean: number;
  readonly deviation: number;
}

function quantile(normals: readonly Normal[], cdf: (y: number) => number, probability: number): number {
  let [low, high] = support(normals, 9);
  for (let step = 0; step < 80; step++) {
    const half = (low + high) / 2;
    if (cdf(half) < probability) low = half;
    else high = half;
  }
  return (low + high) / 2;
}

/**
 * Returns the ln(S/F) of the most likely price. The density of S is the density of the return divided by S. The best point of a grid is
 * refined by ternary search.
 */
function modeOf(normals: readonly Normal[]): number {
  const byPrice = (y: number) => densityAt(normals, y) * Math.exp(-y);
  const [low, high] = support(normals, 4);
  const step = (high - low) / 2000;
  let best = low;
  for (let y = low; y <= high; y += step) if (byPrice(y) > byPrice(best)) best = y;
  let [left, right] = [best - step, best + step];
  for (let turn = 0; turn < 60; turn++) {
    const third = (right - left) / 3;
    if (byPrice(left + third) < byPrice(right - third)) left += third;
    else right -= third;
  }
  return (left + right) / 2;
}

function skewnessOf(normals: readonly Normal[]): number {
  const mean = normals.reduce((sum, each) => sum + each.weight * each.mean, 0);
  let variance = 0;
  let third = 0;
  for (const { weight, mean: componentMean, deviation } of normals) {
    const shift = componentMean - mean;
    variance += weight * (deviation ** 2 + shift ** 2);
    third += weight * (3 * shift * deviation ** 2 + shift ** 3);
  }
  return third / variance ** 1.5;
}

function divergenceFrom(normals: readonly Normal[], deviation: number): number {
  const reference: Normal = { weight: 1, mean: -(deviation ** 2) / 2, deviation };
  const [low, high] = support(normals, 10);
  const steps = 4000;
  const step = (high - low) / steps;
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const y = low + i * step;
    const density = densityAt(normals, y);
    if (density < 1e-300) continue;
    sum += density * (Math.log(density) - logDensity(reference, y)) * step;
  }
  // The divergence is not negative (Gibbs' inequality), but rounding can make the sum negative.
  return Math.max(sum, 0);
}

function support(normals: readonly Normal[], deviations: number): [number, number] {
  return [
    Math.min(...normals.map(({ mean, deviation }) => mean - deviations * deviation)),
    Math.max(...normals.map(({ mean, deviation }) => mean + deviations * deviation)),
  ];
}

function densityAt(normals: readonly Normal[], y: number): number {
  return normals.reduce((sum, each) => sum + each.weight * Math.exp(logDensity(each, y)), 0);
}

function logDensity({ mean, deviation }: Normal, y: number): number {
  return -(((y - mean) / deviation) ** 2) / 2 - Math.log(deviation * Math.sqrt(2 * Math.PI));
}
