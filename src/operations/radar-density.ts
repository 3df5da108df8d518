import { type Static, Type } from '@sinclair/typebox';
import type { PreparedSeries } from '../analytics/chain/prepared-chain.ts';
import { type Density, QUANTILES } from '../analytics/density/density.ts';
import type { GexLevels } from '../analytics/exposure/gex-levels.ts';
import { daysBetween } from '../market/calendar.ts';
import { number } from './schemas.ts';

export const probability = (description: string) => number(`${description} 0 to 1.`, { minimum: 0, maximum: 1 });
export const stateDensity = Type.Object(
  {
    expiry: Type.String({ description: 'Expiry of the scan, YYYY-MM-DD.' }),
    root: Type.String({ description: 'OSI root of the scanned series.' }),
    days_to_expiry: Type.Integer({ description: 'Calendar days from the snapshot to the expiry.' }),
    forward: number('Forward price, dollars.'),
    atm_iv: number('At-the-money volatility, decimal per year.'),
    expected_move: number('One standard deviation to expiry at atm_iv, dollars.'),
    quantiles: Type.Object(
      Object.fromEntries(QUANTILES.map((each) => [quantileName(each), number('Price, dollars.')])),
      {
        additionalProperties: false,
        description: 'Prices below which the underlying settles with a probability of 5 % (p05) to 95 % (p95).',
      },
    ),
    mode: number('Most likely price, dollars.'),
    skewness: number('Skewness of the log return.'),
    probability_below_put_wall: probability('Probability of settling at or below the put wall.'),
    probability_between_walls: probability('Probability of settling between the walls.'),
    probability_above_call_wall: probability('Probability of settling above the call wall.'),
    lognormal_divergence: number(
      'Kullback-Leibler divergence of the density from the lognormal with the at-the-money volatility, nats.',
    ),
    fit_error: number('Root mean square error of the fitted smile near the money, vol points.'),
    strikes_fitted: Type.Integer({ description: 'Number of strikes to which the density was fitted.' }),
  },
  {
    additionalProperties: false,
    description:
      'Risk-neutral density at expiry (root, days_to_expiry). Dollars: forward, mode, expected_move (one standard deviation), ' +
      'quantiles p05 to p95. 0 to 1: probability_below_put_wall, probability_between_walls, probability_above_call_wall. ' +
      'atm_iv: decimal per year. skewness: of the log return. lognormal_divergence: nats. fit_error: vol points, of ' +
      'strikes_fitted.',
  },
);

export function reportDensity(
  density: Density,
  { series }: PreparedSeries,
  { walls }: GexLevels,
  today: string,
): Static<typeof stateDensity> {
  const below = density.cdf(Math.min(walls.put.strike, walls.call.strike));
  const above = 1 - density.cdf(Math.max(walls.put.strike, walls.call.strike));
  return {
    expiry: series.expiry,
    root: series.root,
    days_to_expiry: daysBetween(today, series.expiry),
    forward: density.forward,
    atm_iv: density.atmIv,
    expected_move: density.expectedMove,
    quantiles: Object.fromEntries(QUANTILES.map((each, i) => [quantileName(each), density.quantiles[i]!])),
    mode: density.mode,
    skewness: density.skewness,
    probability_below_put_wall: clampProbability(below),
    probability_between_walls: clampProbability(1 - below - above),
    probability_above_call_wall: clampProbability(above),
    lognormal_divergence: density.divergence,
    fit_error: density.fitError,
    strikes_fitted: density.points,
  };
}

function quantileName(probability: number): string {
  return `p${String(Math.round(probability * 100)).padStart(2, '0')}`;
}

function clampProbability(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
