import { HORIZON_DAYS, HORIZONS, type Horizon } from '../../analytics/exposure/horizons.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { defaulted, oneOf } from '../engine/schemas.ts';

/** The argument that selects the horizon of stored levels. */
export const horizonArgument = defaulted(
  oneOf(
    HORIZONS,
    `Levels of the options that settle by the end of the session (session), within ${HORIZON_DAYS} days (35d), or of all. Delta, vanna and ` +
      'charm exposure and volatility are those of all options.',
  ),
  'all',
);

/** The same argument in few words, for tools. */
export const horizonChoice = defaulted(oneOf(HORIZONS, 'Expiries up to then.'), 'all');

/** Returns a record with the levels of a horizon in place of those of all expiries, or `undefined` if they are not stored. */
export function atHorizon<Levels extends LevelRecord>(record: Levels, horizon: Horizon): Levels | undefined {
  if (horizon === 'all') return record;
  const levels = record.byHorizon[horizon];
  return levels ? { ...record, ...levels } : undefined;
}

/** Returns the records with the levels of a horizon, without those whose levels are not stored, and a note on their number. */
export function recordsAt<Levels extends LevelRecord>(records: readonly Levels[], horizon: Horizon) {
  const found = records.flatMap((record) => atHorizon(record, horizon) ?? []);
  return { found, notes: withoutHorizonNotes(records.length - found.length, 'rows', horizon) };
}

/** Returns a note on rows that are left out, because they have no levels of the horizon. */
export function withoutHorizonNotes(count: number, what: string, horizon: Horizon): string[] {
  if (count === 0) return [];
  const which = horizon === 'session' ? 'by the end of the session' : `within ${HORIZON_DAYS} days`;
  return [
    `Left out for lack of levels of horizon=${horizon}: ${count} ${what}. No call or no put settled ${which}, or the chain is no longer stored.`,
  ];
}
