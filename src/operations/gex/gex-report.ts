import { type Static, Type } from '@sinclair/typebox';
import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import type { GexLevels } from '../../analytics/exposure/gex-levels.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import { seriesVolatility } from '../../analytics/surface/series-volatility.ts';
import { count, dateField, flagField, namedObject, number, objectOf, textField, wordField } from '../engine/schemas.ts';
import { numberList, numberOrNull } from '../engine/wrapped-schemas.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { reportHead } from '../reading/market-reading.ts';
import { forwardMethod, settlement } from '../reading/market-words.ts';
import { CHARM_EXPOSURE } from './charm.ts';
import { regimeFields, reportRegime } from './gamma-regime.ts';

export const MILLION = 1e6;

const seriesReading = namedObject('SeriesReading', undefined, {
  root: textField('OSI root.'),
  expiry: dateField('YYYY-MM-DD'),
  settlement,
  tte: number('Years to settlement.'),
  forward: number('Forward price, dollars.'),
  forward_method: forwardMethod,
  rate: number('Discount rate, continuous, decimal per year.'),
  atm_iv: numberOrNull('At-the-money volatility, decimal per year; null if the quotes determine none.'),
});

export const gexReport = objectOf({
  ticker: textField('Underlying symbol.'),
  spot_price: number('Spot, dollars.'),
  whale_expiry: dateField('Dominant expiry (most large-print premium), YYYY-MM-DD.'),
  max_pain: number('Strike at which the options of the dominant expiry pay out least, dollars.'),
  call_wall: number('Strike at or above spot with most call gamma: upside resistance, dollars.'),
  put_wall: number('Strike at or below spot with most put gamma: downside support, dollars.'),
  gex_flip: number('Spot at which net dealer gamma changes sign, dollars.'),
  net_gex_mil: number('Net dealer gamma exposure, millions of dollars per 1 % move.'),
  expiry: dateField('Dominant expiry, the same as whale_expiry, YYYY-MM-DD.'),
  expiry_root: textField('OSI root of the series of the dominant expiry.'),
  expiry_chosen_by: wordField(
    ['large_prints', 'gamma'],
    'Why this expiry is the dominant one: large_prints (most premium in large prints over 30 days) or gamma (most gamma).',
  ),
  flip_resolved: flagField(
    'False if net gamma has one sign within 50 % of spot: gex_flip is then the spot at which it is nearest 0. Also false if gex_flip is outside the quoted strikes.',
  ),
  call_wall_sided: flagField('False if no strike is at or above spot: the call wall is then the nearest strike.'),
  put_wall_sided: flagField('False if no strike is at or below spot: the put wall is then the nearest strike.'),
  call_wall_unsided: number('Strike with most call gamma on either side of spot, dollars.'),
  put_wall_unsided: number('Strike with most put gamma on either side of spot, dollars.'),
  absolute_gamma_strike: number('Strike with most call plus put gamma, dollars.'),
  largest_call_strikes: numberList('Strikes with most call gamma, largest first, dollars.'),
  largest_put_strikes: numberList('Strikes with most put gamma, largest first, dollars.'),
  ...regimeFields,
  gross_gex_mil: number('Sum of absolute gamma exposures, millions of dollars per 1 % move.'),
  net_over_gross_pct: number('Net gamma, percent of gross gamma: twice the sign margin, with the sign of net GEX.'),
  net_dex_mil: number('Delta exposure, millions of dollars; never negative if dealers are long calls and short puts.'),
  net_vex_mil: number('Vanna exposure, millions of dollars per vol point.'),
  net_cex_mil: number(`${CHARM_EXPOSURE}, millions of dollars.`),
  sign_convention: signConvention,
  series: Type.Array(seriesReading, { description: 'Forward and volatility of each series analysed.' }),
  contracts: namedObject('ContractCounts', 'How each contract was used.', {
    contracts: count('Contracts in the snapshot.'),
    used: count('Live contracts analysed.'),
    left_out: namedObject('ContractsLeftOut', 'Contracts left out of some or all figures.', {
      settled: count('Contracts that had settled when the snapshot was taken.'),
      adjusted: count('Contracts with an adjusted deliverable.'),
      other_expiry: count('Contracts of an expiry that was not selected.'),
      no_volatility: count('Used contracts for which no method gave a volatility.'),
    }),
    iv: namedObject('VolatilitySources', 'Used contracts by the source of their volatility.', {
      taken: count('Contracts whose volatility the feed gave.'),
      solved: count('Contracts whose volatility was solved from their mid.'),
      interpolated: count('Contracts whose volatility was interpolated between strikes.'),
      extended: count(
        'Contracts beyond the outermost strike with a volatility, which have the volatility of that strike.',
      ),
    }),
    stale_quotes: count(
      'Strikes whose quote contradicts the neighbouring quotes. The volatility smile leaves out these strikes.',
    ),
    refused: Type.Record(Type.String(), Type.Integer(), { description: 'Rejected rows of the source, by reason.' }),
  }),
});

export type GexReport = Static<typeof gexReport>;

/**
 * Returns the levels of a prepared chain with the names that the API uses. Without its surface, which no contract answer needs, `series` has
 * no volatilities.
 */
export function reportGex(prepared: PreparedChain, levels: GexLevels, surface?: FittedSurface): GexReport {
  const { exposures, walls, flip, dominant } = levels;
  return {
    ...reportHead(prepared.chain),
    whale_expiry: dominant.series.expiry,
    max_pain: levels.maxPain,
    call_wall: walls.call.strike,
    put_wall: walls.put.strike,
    gex_flip: flip.level,
    net_gex_mil: exposures.gex / MILLION,
    expiry: dominant.series.expiry,
    expiry_root: dominant.series.root,
    expiry_chosen_by: levels.dominantBy,
    flip_resolved: flip.resolved,
    call_wall_sided: walls.call.sided,
    put_wall_sided: walls.put.sided,
    call_wall_unsided: walls.callUnsided,
    put_wall_unsided: walls.putUnsided,
    absolute_gamma_strike: walls.absolute,
    largest_call_strikes: [...walls.largestCalls],
    largest_put_strikes: [...walls.largestPuts],
    ...reportRegime(exposures),
    gross_gex_mil: exposures.grossGex / MILLION,
    net_over_gross_pct: exposures.grossGex > 0 ? (100 * exposures.gex) / exposures.grossGex : 0,
    net_dex_mil: exposures.dex / MILLION,
    net_vex_mil: exposures.vex / MILLION,
    net_cex_mil: exposures.cex / MILLION,
    sign_convention: conventionOf(prepared),
    series: prepared.series.map((each) => ({
      root: each.series.root,
      expiry: each.series.expiry,
      settlement: each.series.settlement,
      tte: each.tte,
      forward: each.forward,
      forward_method: each.forwardMethod,
      rate: each.rate,
      atm_iv: surface ? seriesVolatility(surface, prepared, each).iv : null,
    })),
    contracts: {
      contracts: prepared.counts.contracts,
      used: prepared.counts.used,
      left_out: { ...prepared.counts.left_out },
      iv: { ...prepared.counts.iv },
      stale_quotes: prepared.counts.stale_quotes,
      refused: { ...prepared.counts.refused },
    },
  };
}
