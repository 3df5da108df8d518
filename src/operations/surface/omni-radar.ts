import { Type } from '@sinclair/typebox';
import { selectSeries } from '../../analytics/chain/prepare.ts';
import type { PreparedChain, PreparedSeries } from '../../analytics/chain/prepared-chain.ts';
import {
  type ConcentratedStrike,
  concentratedStrikes,
  seriesNearest,
} from '../../analytics/exposure/gamma-concentration.ts';
import { gexBySeries } from '../../analytics/exposure/gex-by-series.ts';
import { dailyMove, whipsawIndex } from '../../analytics/exposure/whipsaw.ts';
import { expectedMoves } from '../../analytics/surface/series-volatility.ts';
import { ClientError } from '../../core/errors.ts';
import type { Step } from '../../core/steps.ts';
import { daysBetween, newYorkDate } from '../../market/calendar.ts';
import { defineOperation } from '../engine/operation.ts';
import { limit } from '../engine/pages.ts';
import { defaulted, integerIn, namedObject, number, objectOf, textField, wordField } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { numberColumn, numberOrNull } from '../engine/wrapped-schemas.ts';
import { regimeNotes } from '../gex/gamma-regime.ts';
import { MILLION } from '../gex/gex-report.ts';
import { comparedLevels, wholeNotes } from '../gex/level-horizons.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { expiryChoice, expirySelection } from '../reading/expiry-choice.ts';
import {
  knownUntil,
  levelsByHorizonOf,
  levelsOf,
  provenanceOf,
  readExpiry,
  readMarket,
  reportHead,
  settledSince,
} from '../reading/market-reading.ts';
import { gexBoundaries, kineticNotes, kineticOf, reportBoundaries } from './radar-boundaries.ts';
import {
  curveOfDensity,
  densityCurve,
  densityOf,
  densityParameters,
  parametersOfDensity,
  reportDensity,
  type ScannedDensity,
  stateDensity,
} from './radar-density.ts';
import { TARGET_DTE, whipsawIv, whipsawOf } from './radar-whipsaw.ts';

/** The answer has a note if the expiry differs from target_dte by more than `FAR_DAYS` days and by more than `FAR_SHARE` of target_dte. */
const FAR_DAYS = 7;
const FAR_SHARE = 0.25;
/** The answer has a note if the expiry has less than this share of all gross gamma. */
const THIN_SHARE = 0.01;
/** The answer has a note if the error of the density fit is larger than this value, vol points. */
const ROUGH_FIT = 2;
const DTE_MAX = 3650;

const component = (description: string) => numberOrNull(`${description} 0 to 100; null if data are missing.`);

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

const concentration = (description: string) =>
  namedObject('GammaShares', description, {
    strike: numberColumn('Dollars.'),
    share_pct: numberColumn('Share of gross gamma, percent.'),
  });

export const runStrategicOmniRadar = defineOperation({
  name: 'run_strategic_omni_radar',
  ofMarket: true,
  title: 'Full scan',
  page: 'odds',
  description:
    'Use this first for a whole picture. state_density at the expiry nearest target_dte, fitted to all strikes: quantiles 5 to 95 %, expected_move (dollars), atm_iv (decimal), probabilities (0 to 1), skewness. ' +
    'gex_boundaries (of 35 days, or of expiry): call_wall, put_wall, gex_flip, dollars; net_gex_mil, million dollars per 1 % move, + if dealers damp moves, - if they amplify them; ' +
    'whale_fiat_kinetic and gex_potential_friction, dollars. Concentration of gamma, percent. Whipsaw risk and its components: scores, 0 (calm) to 100. Realised and implied volatility.',
  example: { ticker: 'SPY' },
  input: objectOf({
    ticker,
    target_dte: defaulted(integerIn('Wanted days to expiry.', 0, DTE_MAX), TARGET_DTE),
    expiry: { ...expiryChoice, description: 'Scan this expiry and its boundaries instead, YYYY-MM-DD or 0dte.' },
    limit: limit('List this many strikes with most gamma.'),
  }),
  full: objectOf({
    ticker: textField('Underlying symbol.'),
    spot_price: number('Dollars.'),
    state_density: stateDensity,
    gex_boundaries: gexBoundaries,
    institutional_concentration_pct: number("Percent of the expiry's gross gamma at its five largest strikes."),
    institutional_concentration_all_expiries_pct: number('The same over all expiries, percent.'),
    whipsaw_risk_index: numberOrNull('Mean of the components, 0 to 100.'),
    whipsaw_components: namedObject(
      'WhipsawComponents',
      'Scores, null if unknown: flip_proximity, regime, realised_over_implied, expiring_gamma.',
      {
        flip_proximity: component('Nearness of the gamma flip.'),
        regime: component('Share of short gamma in gross gamma.'),
        realised_over_implied: component('Realised volatility over 20 days compared with implied volatility.'),
        expiring_gamma: component('Share of gross gamma that settles within a day.'),
      },
    ),
    largest_gamma_strikes: Type.Optional(
      concentration('With limit: strike (dollars), share_pct (percent of gross gamma).'),
    ),
    straddle_move: number(
      'Expected distance of the price at expiry from the forward by the density, dollars: the price of the straddle at the forward, without discounting, which traders call the expected move.',
    ),
    density_parameters: densityParameters,
    density_curve: densityCurve,
    concentrated_strikes: concentration('The five strikes with most gross gamma at the expiry of the density.'),
    concentrated_strikes_all_expiries: concentration('The five strikes with most gross gamma over all expiries.'),
    whipsaw_inputs: namedObject(
      'WhipsawInputs',
      'Inputs of the components of the index, except realised and implied volatility.',
      {
        flip_distance: numberOrNull('Distance between spot and flip, dollars; null if the flip is not resolved.'),
        daily_move: number('One standard deviation of a trading day at the at-the-money volatility, dollars.'),
        net_gex_mil: number('Net gamma exposure, millions of dollars per 1 % move.'),
        gross_gex_mil: number('Gross gamma exposure, millions of dollars per 1 % move.'),
        expiring_gex_mil: number('Gross gamma exposure that settles within a day, millions of dollars per 1 % move.'),
      },
    ),
    realised_volatility: numberOrNull('Over 20 daily returns, decimal per year; null if unknown.'),
    implied_volatility: number('At the money of the expiry nearest 30 days, decimal per year.'),
    flow_from: wordField(['prints', 'snapshots'], 'Prints, or snapshots (daily volumes).'),
    kinetic_left_out: number(
      'Large flow that whale_fiat_kinetic leaves out (legs of spreads, contracts of |delta| above 0.9): sum of its absolute ' +
        'delta-notionals, dollars.',
    ),
  }),
  tool: {
    question: 'a whole picture of a ticker; realised against implied volatility',
    method: 'radar-run_strategic_omni_radar',
    units: ['dollars', '0 to 1', '+ if dealers damp moves, - if they amplify', 'percent', '0 (calm) to 100'],
    answers: KEYS,
    onDemand: ['largest_gamma_strikes'],
    echoes: ['flow_from', 'realised_volatility', 'implied_volatility'],
  },
  *run(input, context) {
    yield step('Reading the chain and its volatilities');
    const reading = yield* readMarket(input.ticker, context);
    const { chain, prepared } = reading;
    yield step('Levels over all expiries');
    const levels = yield* levelsOf(reading);
    // A brief on one expiry is about its own walls and flip. The index of whipsaw risk is always about the ticker.
    const ofExpiries = yield* readExpiry(input.expiry, input.ticker, context);
    const ofFriction = yield* levelsOf(ofExpiries);
    const month = input.expiry === undefined ? (yield* levelsByHorizonOf(reading))['35d'] : null;
    const boundaries = month ?? ofFriction;
    const isOne = ofExpiries.prepared !== prepared;
    const today = newYorkDate(chain.asOf);
    const selected = selectSeries(prepared, expirySelection(input.expiry), knownUntil(chain, context));
    const series = seriesNearest(prepared, input.target_dte, selected);
    if (!series) {
      throw new ClientError('unprocessable', `No selected option of ${chain.underlying} has a volatility to scan`, {
        hint: 'Load a snapshot with usable quotes or implied volatilities.',
      });
    }
    yield step('Density of the expiry');
    const density = yield* densityOf(yield* surfaceOfPrepared(prepared), series);
    yield step('Concentration and whipsaw risk');
    const implied = (yield* whipsawIv(prepared))!;
    const { components, realised, expiring } = whipsawOf(reading, levels, implied, context);
    const fromPrints = context.market.hasPrints(chain.underlying);
    const ofExpiry = columnsOf(yield* concentratedStrikes(prepared, series));
    const ofAll = columnsOf(yield* concentratedStrikes(prepared));
    const kinetic = yield* kineticOf(ofExpiries, context);
    return {
      result: {
        ...reportHead(chain),
        state_density: reportDensity(density, series, boundaries, today),
        gex_boundaries: reportBoundaries(
          isOne ? series.series.expiry : month ? '35d' : 'all',
          boundaries,
          ofFriction,
          density.atmIv,
          kinetic,
        ),
        institutional_concentration_pct: sum(ofExpiry.share_pct),
        institutional_concentration_all_expiries_pct: sum(ofAll.share_pct),
        straddle_move: expectedMoves(density.horizon, density.atmIv).straddle,
        density_parameters: parametersOfDensity(density),
        density_curve: yield* curveOfDensity(density),
        concentrated_strikes: ofExpiry,
        concentrated_strikes_all_expiries: ofAll,
        whipsaw_inputs: {
          flip_distance: levels.flip.resolved ? Math.abs(chain.spot - levels.flip.level) : null,
          daily_move: dailyMove(chain.spot, implied),
          net_gex_mil: levels.exposures.gex / MILLION,
          gross_gex_mil: levels.exposures.grossGex / MILLION,
          expiring_gex_mil: expiring / MILLION,
        },
        whipsaw_risk_index: whipsawIndex(components),
        whipsaw_components: { ...components },
        ...(input.limit !== undefined && {
          largest_gamma_strikes: columnsOf(yield* concentratedStrikes(prepared, series, input.limit)),
        }),
        realised_volatility: realised,
        implied_volatility: implied,
        flow_from: fromPrints ? ('prints' as const) : ('snapshots' as const),
        kinetic_left_out: kinetic.leftOut,
      },
      provenance: provenanceOf(chain, context, [
        ...settledSince([series.series], context),
        ...scanCaveats(prepared, series, density, input.expiry === undefined ? input.target_dte : undefined),
        ...(isOne ? [`gex_boundaries are of ${series.series.expiry} alone. Whipsaw risk is over all expiries.`] : []),
        ...(month ? wholeNotes(comparedLevels(levels), comparedLevels(month)) : []),
        ...regimeNotes(boundaries.exposures),
        ...kineticNotes(kinetic, isOne ? series.series.expiry : undefined),
      ]),
    };
  },
});

function step(message: string): Step {
  return { message, total: 4 };
}

/** Returns notes on weaknesses in the data of the scanned expiry, because the figures do not show these weaknesses. */
function scanCaveats(prepared: PreparedChain, of: PreparedSeries, density: ScannedDensity, target?: number): string[] {
  const { series } = of;
  const notes: string[] = [];
  const days = daysBetween(newYorkDate(prepared.chain.asOf), series.expiry);
  if (target !== undefined && Math.abs(days - target) > Math.max(FAR_DAYS, FAR_SHARE * target)) {
    notes.push(`The expiry nearest to ${target} days is in ${days} days.`);
  }
  const others =
    target === undefined ? prepared.series.filter((each) => each !== of && each.series.expiry === series.expiry) : [];
  for (const { series: other } of others) {
    notes.push(
      `${series.expiry} has several settlements: the density is that of ${named(series)}, not of ${named(other)}.`,
    );
  }
  const { gross, grossOfAll } = gexBySeries(prepared);
  const share = gross[prepared.series.indexOf(of)]! / grossOfAll;
  if (share < THIN_SHARE) {
    notes.push(`${series.expiry} has ${(100 * share).toPrecision(2)} % of all gamma: its concentration means little.`);
  }
  if (density.quotes === 0) {
    notes.push(`${series.expiry} has too few quotes: its density is interpolated between other expiries.`);
  }
  if (density.fitError > ROUGH_FIT) {
    notes.push(
      `Quotes of ${series.expiry} are few, wide or contradictory, so the density misses their mids by ` +
        `${density.fitError.toFixed(1)} vol points (root mean square).`,
    );
  }
  return notes;
}

function named({ root, settlement }: PreparedSeries['series']): string {
  return `${root}, which settles ${settlement === 'AM' ? 'at the open' : 'at the close'}`;
}

function columnsOf(strikes: readonly ConcentratedStrike[]) {
  return { strike: strikes.map(({ strike }) => strike), share_pct: strikes.map(({ share }) => 100 * share) };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, each) => all + each, 0);
}
