import type { Static } from '@sinclair/typebox';
import type { PreparedSeries } from '../../analytics/chain/prepared-chain.ts';
import type { LevelSet } from '../../analytics/exposure/gex-levels.ts';
import {
  type DensityFigures,
  densityFigures,
  QUANTILES,
  quantileOf,
  volatilityError,
} from '../../analytics/surface/density-figures.ts';
import { type FittedSurface, type HorizonLaw, quotedRange } from '../../analytics/surface/fitted-surface.ts';
import { clampProbability, lognormalLaw, type PriceLaw } from '../../analytics/surface/price-law.ts';
import { quotedMoments } from '../../analytics/surface/smile-figures.ts';
import { cachedBy, oneStep, StepCache, type Steps } from '../../core/steps.ts';
import { daysBetween } from '../../market/calendar.ts';
import { dateField, finiteOrNull, integerField, namedObject, number, textField } from '../engine/schemas.ts';
import { numberColumn, numberOrNull } from '../engine/wrapped-schemas.ts';

const probability = (description: string) => number(`${description} 0 to 1.`, { minimum: 0, maximum: 1 });
export const stateDensity = namedObject(
  'StateDensity',
  'Risk-neutral, at expiry (root, days_to_expiry, strikes_fitted). Dollars: forward, mode, expected_move (one standard deviation), ' +
    'quantiles. 0 to 1: probability_below_put_wall, probability_between_walls, probability_above_call_wall. ' +
    'atm_iv (decimal per year), skewness, lognormal_divergence (nats), fit_error (vol points).',
  {
    expiry: dateField('Expiry of the scan, YYYY-MM-DD.'),
    root: textField('OSI root of the scanned series.'),
    days_to_expiry: integerField('Calendar days from the snapshot to the expiry.'),
    forward: number('Forward price, dollars.'),
    atm_iv: number(
      'At-the-money volatility of the density, decimal per year: that of the expiry in the surface, the term structure and the expiries.',
    ),
    expected_move: number('One standard deviation to expiry at atm_iv, dollars.'),
    quantiles: namedObject(
      'Quantiles',
      'Prices below which the underlying settles with a probability of 5 % (p05) to 95 % (p95).',
      Object.fromEntries(QUANTILES.map((each) => [quantileName(each), number('Price, dollars.')])),
    ),
    mode: number('Most likely price, dollars.'),
    skewness: numberOrNull(
      'Skewness of the log return; null if more than half of the third moment lies beyond the quoted strikes.',
    ),
    probability_below_put_wall: probability('Probability of settling at or below the put wall.'),
    probability_between_walls: probability('Probability of settling between the walls.'),
    probability_above_call_wall: probability('Probability of settling above the call wall.'),
    lognormal_divergence: number(
      'Kullback-Leibler divergence of the density from the lognormal with the at-the-money volatility, nats.',
    ),
    fit_error: number('Root mean square error of the fitted smile near the money, vol points; 0 without quotes.'),
    strikes_fitted: integerField(
      'Number of strikes to whose quotes the density was fitted; 0 if it is interpolated between other expiries.',
    ),
  },
);

export const densityParameters = namedObject(
  'DensityParameters',
  'The density of state_density as a mixture of lognormals, a row for each. The probability to settle at or below K is the sum of ' +
    'mass · N(ln(K / (forward · node)) / kernel + kernel / 2), with N the standard normal distribution function.',
  {
    node: numberColumn('Mean, as a multiple of the forward.'),
    mass: numberColumn('Probability, 0 to 1.'),
    kernel: numberColumn('Standard deviation of the log-return of each component.'),
  },
);

export const densityCurve = namedObject(
  'DensityCurve',
  'The density of state_density, and the lognormal one with the same at-the-money volatility, at prices that are closest to each other at ' +
    'the forward. Between two prices, a cubic whose slopes are the densities gives the probability.',
  {
    low: number('Price below which the underlying settles with a probability of 0.2 %, dollars.'),
    high: number('Price above which the underlying settles with a probability of 0.2 %, dollars.'),
    price: numberColumn('Dollars.'),
    density: numberColumn('Probability density, per dollar.'),
    probability_below: numberColumn('Probability of settling at or below the price, 0 to 1.'),
    lognormal_density: numberColumn('Density of the lognormal distribution, per dollar.'),
    lognormal_probability_below: numberColumn('The probability by the lognormal distribution, 0 to 1.'),
  },
);

/** The price distribution of the scanned expiry, and the quality of the fit to the quotes. */
export interface ScannedDensity {
  readonly horizon: HorizonLaw;
  readonly atmIv: number;
  /** The error of the fit, vol points. The error is 0 if there are no quotes. */
  readonly fitError: number;
  readonly figures: DensityFigures;
  /** Skewness of the log return, or null if it rests more on extrapolation than on quotes. */
  readonly skewness: number | null;
  /** The number of quotes of the expiry, or 0 if the quotes do not determine a smile. */
  readonly quotes: number;
}

/** Returns a series' price distribution, cached by the surface, and without a smile interpolated between other expiries. */
export function densityOf(surface: FittedSurface, { series: { settlesAt } }: PreparedSeries): Steps<ScannedDensity> {
  const steps = () => oneStep(() => densityAt(surface, settlesAt));
  return densities.of(surface, String(settlesAt), { message: 'Density of the expiry', steps });
}

const DENSITIES_CACHED = 4;
const densities = new StepCache<FittedSurface, ScannedDensity>(() => DENSITIES_CACHED);

function densityAt(surface: FittedSurface, settlesAt: number): ScannedDensity {
  const horizon = surface.lawAt(settlesAt);
  const { law, atmVariance, tte } = horizon;
  const quotes = surface.slices.find((slice) => slice.settlesAt === settlesAt)?.quotes;
  const near = surface.slices.find((slice) => slice.settlesAt >= settlesAt) ?? surface.slices.at(-1);
  return {
    horizon,
    atmIv: Math.sqrt(atmVariance / tte),
    fitError: quotes ? volatilityError(law, quotes, Math.sqrt(atmVariance), tte) : 0,
    quotes: quotes?.price.length ?? 0,
    // Between settlements, the quotes of the next one reach as many standard deviations. Without settlements, the law is lognormal.
    skewness: near ? finiteOrNull(quotedMoments(law, quotedRange(near, atmVariance)).skewness) : 0,
    figures: densityFigures(law, Math.sqrt(atmVariance)),
  };
}

export function reportDensity(
  { horizon, atmIv, fitError, quotes, skewness, figures }: ScannedDensity,
  { series }: PreparedSeries,
  { walls }: LevelSet,
  today: string,
): Static<typeof stateDensity> {
  const { law, forward, atmVariance } = horizon;
  const { quantiles, mode, divergence } = figures;
  const below = law.below(Math.min(walls.put.strike, walls.call.strike) / forward);
  const above = law.above(Math.max(walls.put.strike, walls.call.strike) / forward);
  return {
    expiry: series.expiry,
    root: series.root,
    days_to_expiry: daysBetween(today, series.expiry),
    forward,
    atm_iv: atmIv,
    expected_move: forward * Math.sqrt(atmVariance),
    quantiles: Object.fromEntries(QUANTILES.map((each, i) => [quantileName(each), forward * quantiles[i]!])),
    mode: forward * mode,
    skewness,
    probability_below_put_wall: clampProbability(below),
    probability_between_walls: clampProbability(1 - below - above),
    probability_above_call_wall: clampProbability(above),
    lognormal_divergence: divergence,
    fit_error: fitError,
    strikes_fitted: quotes,
  };
}

export function parametersOfDensity({ horizon: { law } }: ScannedDensity): Static<typeof densityParameters> {
  return { node: [...law.nodes], mass: [...law.masses], kernel: [...law.widths] };
}

/** The probability below `low`, and above `high`. */
const TAIL = 0.002;
/** The number of intervals of the curve, and its reach on each side of the forward: in standard deviations, and at most in ln(K/F). */
const INTERVALS = 240;
const REACH = 16;
const REACH_MAX = Math.log(1000);

/** Returns the curve of a density, cached by the density. */
export const curveOfDensity = cachedBy('Curve of the density', ({ horizon }: ScannedDensity) =>
  oneStep(() => curveOf(horizon)),
);

function curveOf({ law, forward, atmVariance }: HorizonLaw): Static<typeof densityCurve> {
  const deviation = Math.sqrt(atmVariance);
  const reach = Math.asinh(Math.min(REACH, REACH_MAX / deviation));
  const price = Array.from(
    { length: INTERVALS + 1 },
    (_, i) => forward * Math.exp(deviation * Math.sinh(reach * ((2 * i) / INTERVALS - 1))),
  );
  const densities = (of: PriceLaw) => price.map((each) => of.density(each / forward) / forward);
  const below = (of: PriceLaw) => price.map((each) => clampProbability(of.below(each / forward)));
  const flat = lognormalLaw(atmVariance);
  return {
    low: forward * quantileOf(law, deviation, TAIL),
    high: forward * quantileOf(law, deviation, 1 - TAIL),
    price,
    density: densities(law),
    probability_below: below(law),
    lognormal_density: densities(flat),
    lognormal_probability_below: below(flat),
  };
}

function quantileName(probability: number): string {
  return `p${String(Math.round(probability * 100)).padStart(2, '0')}`;
}
