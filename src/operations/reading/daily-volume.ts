import { averageVolume } from '../../analytics/returns.ts';
import { addDays, closeOf, newYorkDate } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import type { Context } from '../engine/operation.ts';
import { numberOrNull } from '../engine/wrapped-schemas.ts';

/** Number of trading days in the average of the daily volume. */
const VOLUME_DAYS = 20;

/** The schema of the field for the daily volume of an underlying. */
export const averageDailyVolume = numberOrNull(
  `Shares of the underlying traded per day, mean of the known volumes of the last ${VOLUME_DAYS} closes; null if none is known.`,
);

/** Returns the average daily volume of a chain's underlying, shares. Returns null if no volume was known at the time of the snapshot. */
export function averageDailyVolumeOf({ underlying, asOf }: Chain, { market }: Context): number | null {
  const today = newYorkDate(asOf);
  // The volume of a day is not complete before the close.
  const last = asOf >= closeOf(today) ? today : addDays(today, -1);
  return averageVolume(market.closes(underlying, last, VOLUME_DAYS));
}

/** Returns a note if the daily volume of a chain's underlying is not known. */
export function volumeNotes({ underlying }: Chain, dailyVolume: number | null): string[] {
  if (dailyVolume !== null) return [];
  return [`volume_pct is null, because no daily closes of ${underlying} with a volume are stored up to the snapshot.`];
}

/** Returns the absolute value of `shares` as a percentage of a daily volume. Returns null if the daily volume is not known. */
export function shareOfVolumePct(shares: number, dailyVolume: number | null): number | null {
  return dailyVolume === null ? null : (100 * Math.abs(shares)) / dailyVolume;
}
