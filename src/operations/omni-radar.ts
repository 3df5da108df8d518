import { type Static, Type } from '@sinclair/typebox';
import { type Density, densityOf, QUANTILES } from '../analytics/density.ts';
import { printsDeltaNotional, volumeDeltaNotional } from '../analytics/flow-notional.ts';
import type { GexLevels } from '../analytics/gex-levels.ts';
import type { PreparedSeries } from '../analytics/prepared-chain.ts';
import { realisedVolatility } from '../analytics/returns.ts';
import { expiringGamma, gammaConcentration, seriesNearest } from '../analytics/scan.ts';
import { whipsawComponents, whipsawIndex } from '../analytics/whipsaw.ts';
import { Failure } from '../errors.ts';
import { daysBetween, newYorkDate } from '../market/calendar.ts';
import { levelsOf, type MarketReading, provenanceOf, readMarket } from './market-reading.ts';
import { type Context, defineOperation } from './operation.ts';
import { defaulted, nullable, number, ticker } from './schemas.ts';

const REALISED_DAYS = 20;
const TRADING_DAYS_A_YEAR = 252;
const DTE_MAX = 3650;

const probability = (description: string) => number(`${description} 0 to 1.`, { minimum: 0, maximum: 1 });
const component = (description: string) =>
  nullable(Type.Number(), `${description} 0 to 100; null where data is missing.`);

const stateDensity = Type.Object(
  {
    expiry: Type.String({ description: 'Expiry of the scan, YYYY-MM-DD.' }),
    root: Type.String({ description: 'OSI root of its series.' }),
    days_to_expiry: Type.Integer({ description: 'Calendar days from the snapshot.' }),
    forward: number('Forward price, dollars.'),
    atm_iv: number('At-the-money volatility, decimal per year.'),
    expected_move: number('One standard deviation to expiry at that volatility, dollars.'),
    quantiles: Type.Object(
      Object.fromEntries(QUANTILES.map((each) => [quantileName(each), number('Price, dollars.')])),
      { additionalProperties: false, description: 'Prices that the settlement stays below with that probability.' },
    ),
    mode: number('Most likely price, dollars.'),
    skewness: number('Skewness of the log return.'),
    probability_below_put_wall: probability('Probability of settling at or below the put wall.'),
    probability_between_walls: probability('Probability of settling between the walls.'),
    probability_above_call_wall: probability('Probability of settling above the call wall.'),
    lognormal_divergence: number(
      'Kullback-Leibler divergence from the lognormal of the at-the-money volatility, nats.',
    ),
    fit_error: number('Root mean square error of the fitted smile near the money, vol points.'),
    strikes_fitted: Type.Integer({ description: 'Strikes the density was fitted to.' }),
  },
  { additionalProperties: false, description: 'Risk-neutral density at the expiry nearest target_dte.' },
);

const gexBoundaries = Type.Object(
  {
    call_wall: number('Upside resistance, dollars.'),
    put_wall: number('Downside support, dollars.'),
    gex_flip: number('Spot at which net dealer gamma changes sign, dollars.'),
    flip_resolved: Type.Boolean({ description: 'False where it changes sign nowhere within half of spot.' }),
    max_pain: number('At the dominant expiry, dollars.'),
    max_pain_expiry: Type.String({ description: 'Dominant expiry, YYYY-MM-DD.' }),
    net_gex_mil: number('Millions of dollars per 1 % move.'),
    regime: Type.String({ description: 'positive_gamma or negative_gamma.' }),
    whale_fiat_kinetic: number(
      "Delta-notional of the day's large flow, dollars: pass it to evaluate_market_hamiltonian.",
    ),
    gex_potential_friction: number(
      'Net GEX times the expected daily move in percent, dollars: pass it to evaluate_market_hamiltonian.',
    ),
  },
  { additionalProperties: false, description: 'Structural boundaries over all expiries.' },
);

const KEYS = [
  'ticker',
  'spot_price',
  'state_density',
  'gex_boundaries',
  'institutional_concentration_pct',
  'institutional_concentration_all_expiries_pct',
  'whipsaw_risk_index',
  'whipsaw_components',
] as const;

export const runStrategicOmniRadar = defineOperation({
  name: 'run_strategic_omni_radar',
  title: 'Full scan',
  description:
    'One packet on a ticker: risk-neutral price density at the expiry nearest target_dte, gamma boundaries, concentration of ' +
    'gamma on few strikes, and a whipsaw risk index with its components. Example: {"ticker":"SPY","target_dte":30}.',
  input: Type.Object(
    {
      ticker,
      target_dte: defaulted(
        Type.Integer({ description: 'Days to expiry to aim at.', minimum: 0, maximum: DTE_MAX }),
        30,
      ),
    },
    { additionalProperties: false },
  ),
  full: Type.Object(
    {
      ticker: Type.String({ description: 'Underlying symbol.' }),
      spot_price: number('Spot of the snapshot, dollars.'),
      state_density: stateDensity,
      gex_boundaries: gexBoundaries,
      institutional_concentration_pct: number(
        "Share of the expiry's gross gamma on its five largest strikes, percent.",
      ),
      institutional_concentration_all_expiries_pct: number('The same over all expiries, percent.'),
      whipsaw_risk_index: nullable(
        Type.Number(),
        'Mean of the components that exist, 0 (calm) to 100; null with none.',
      ),
      whipsaw_components: Type.Object(
        {
          flip_proximity: component('Nearness of the gamma flip.'),
          regime: component('Short gamma in gross gamma.'),
          realised_over_implied: component('Realised volatility (20 days) over implied.'),
          expiring_gamma: component('Gross gamma that expires within a day.'),
        },
        { additionalProperties: false, description: 'Parts of the index.' },
      ),
      density_components: Type.Array(
        Type.Object(
          {
            weight: probability('Weight of the lognormal.'),
            mean: number('Mean as a multiple of the forward.'),
            volatility: number('Volatility, decimal per year.'),
          },
          { additionalProperties: false },
        ),
        { description: 'The fitted mixture.' },
      ),
      realised_volatility: nullable(Type.Number(), 'Over 20 daily returns, decimal per year; null with fewer closes.'),
      flow_from: Type.String({ description: 'Where the kinetic term is from: prints or snapshots.' }),
    },
    { additionalProperties: false },
  ),
  tool: { answers: KEYS },
  run(input, context) {
    const reading = readMarket(input.ticker, context);
    const { chain, prepared } = reading;
    const levels = levelsOf(reading);
    const today = newYorkDate(chain.asOf);
    const series = seriesNearest(prepared, input.target_dte);
    if (!series) {
      throw new Failure('unprocessable', `No option of ${chain.underlying} has a volatility to scan`, {
        hint: 'The snapshot has neither usable quotes nor implied volatilities.',
      });
    }
    const density = densityOf(prepared, series);
    const realised = realisedVolatility(
      context.market.closes(chain.underlying, today, REALISED_DAYS + 1),
      REALISED_DAYS,
    );
    const components = whipsawComponents({
      spot: chain.spot,
      flip: levels.flip,
      iv: density.atmIv,
      netGamma: levels.exposures.gex,
      grossGamma: levels.exposures.grossGex,
      expiringGamma: expiringGamma(prepared),
      realised,
    });
    return {
      result: {
        ticker: chain.underlying,
        spot_price: chain.spot,
        state_density: reportDensity(density, series, levels, today),
        gex_boundaries: reportBoundaries(reading, levels, density.atmIv, today, context),
        institutional_concentration_pct: gammaConcentration(prepared, series),
        institutional_concentration_all_expiries_pct: gammaConcentration(prepared),
        whipsaw_risk_index: whipsawIndex(components),
        whipsaw_components: { ...components },
        density_components: density.components.map((each) => ({ ...each })),
        realised_volatility: realised,
        flow_from: context.market.hasPrints(chain.underlying) ? 'prints' : 'snapshots',
      },
      provenance: provenanceOf(chain, context),
    };
  },
});

function reportDensity(
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
    quantiles: Object.fromEntries(QUANTILES.map((each, at) => [quantileName(each), density.quantiles[at]!])),
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

function reportBoundaries(
  { chain, prepared, large }: MarketReading,
  { exposures, walls, flip, dominant, maxPain }: GexLevels,
  atmIv: number,
  today: string,
  context: Context,
): Static<typeof gexBoundaries> {
  const kinetic = context.market.hasPrints(chain.underlying)
    ? printsDeltaNotional(
        prepared,
        large.filter(({ at }) => newYorkDate(at) === today),
      )
    : volumeDeltaNotional(prepared, context.largePrintMinUsd);
  return {
    call_wall: walls.call.strike,
    put_wall: walls.put.strike,
    gex_flip: flip.level,
    flip_resolved: flip.resolved,
    max_pain: maxPain,
    max_pain_expiry: dominant.series.expiry,
    net_gex_mil: exposures.gex / 1e6,
    regime: exposures.gex < 0 ? 'negative_gamma' : 'positive_gamma',
    whale_fiat_kinetic: Math.abs(kinetic),
    gex_potential_friction: (exposures.gex * 100 * atmIv) / Math.sqrt(TRADING_DAYS_A_YEAR),
  };
}

function quantileName(probability: number): string {
  return `p${String(Math.round(probability * 100)).padStart(2, '0')}`;
}

function clampProbability(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
