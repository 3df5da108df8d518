import type { Static } from '@sinclair/typebox';
import { gammaOfRecord, gammaRegime } from '../../analytics/exposure/sign-margin.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { dateField, momentField, namedObject, number } from '../engine/schemas.ts';
import { numberOrNull } from '../engine/wrapped-schemas.ts';
import { regimeField } from './gamma-regime.ts';
import { MILLION } from './gex-report.ts';

/** The schema of a row: the stored levels of one moment, with the units and names that models get. */
export const levelRow = namedObject('Levels', undefined, {
  as_of: momentField('When the quotes were taken, ISO 8601.'),
  spot: number('Spot, dollars.'),
  gex_flip: numberOrNull('Spot at which net dealer gamma changes sign, dollars; null if there is none.'),
  call_wall: number('Strike at or above spot with most call gamma, dollars.'),
  put_wall: number('Strike at or below spot with most put gamma, dollars.'),
  max_pain: number('Strike at which the options of the dominant expiry pay out least, dollars.'),
  expiry: dateField('Dominant expiry, YYYY-MM-DD.'),
  net_gex_mil: number('Net dealer gamma, millions of dollars per 1 % move: + damps moves, - amplifies them.'),
  gross_gex_mil: number('Sum of absolute gamma, millions of dollars per 1 % move.'),
  regime: regimeField('positive_gamma, negative_gamma or undetermined.'),
  atm_iv_30d: numberOrNull('At-the-money volatility at 30 days, decimal per year; null if unknown.'),
});

export type LevelRow = Static<typeof levelRow>;

export function reportLevels(levels: LevelRecord): LevelRow {
  return {
    as_of: new Date(levels.asOf).toISOString(),
    spot: levels.spot,
    gex_flip: levels.flipResolved ? levels.gexFlip : null,
    call_wall: levels.callWall,
    put_wall: levels.putWall,
    max_pain: levels.maxPain,
    expiry: levels.expiry,
    net_gex_mil: levels.netGex / MILLION,
    gross_gex_mil: levels.grossGex / MILLION,
    regime: gammaRegime(gammaOfRecord(levels)),
    atm_iv_30d: levels.atmIv30d,
  };
}
