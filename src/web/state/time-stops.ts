import { computed } from '@preact/signals';
import { type History, shareAnswer } from '../data/answers.ts';
import { newYorkIsoDate } from '../format.ts';
import { asOf } from './market.ts';
import { navigate, page, ticker } from './page.ts';

/** The stored snapshots of the ticker: the stops of the time strip. */
export const stops = shareAnswer<History>(() => ({
  operation: 'get_gex_history',
  args: { ticker: ticker.value, per: 'snapshot', points: 5000 },
}));

/** The moments with a snapshot, ISO 8601, ascending. */
export const moments = computed(() => stops.asked.value.answer?.body.as_of ?? []);

/** The index of the moment that the page shows. -1: none of the stops. */
export const momentIndex = computed(() => {
  const shown = page.value.at ?? asOf.value;
  if (shown === undefined) return -1;
  const ms = Date.parse(shown);
  return moments.value.findLastIndex((moment) => Date.parse(moment) <= ms);
});

/** Sets the page's moment to a stop. The last stop is live. */
export function moveToStop(index: number): void {
  const all = moments.value;
  const to = Math.max(0, Math.min(all.length - 1, index));
  navigate({ at: to === all.length - 1 ? null : (all[to] ?? null) });
}

/** Moves by one snapshot, or to the last snapshot of the day before or after. */
export function moveInTime(step: 1 | -1, by: 'snapshot' | 'day'): void {
  const at = momentIndex.value;
  if (at >= 0) moveToStop(by === 'snapshot' ? at + step : lastOfDay(at, step));
}

/** Returns the index of the last stop of the day before or after that of a stop. Without such a day, returns the first or the last stop. */
function lastOfDay(index: number, step: 1 | -1): number {
  const days = moments.value.map((moment) => newYorkIsoDate(moment));
  const day = days[index]!;
  if (step < 0)
    return Math.max(
      0,
      days.findLastIndex((each) => each < day),
    );
  const next = days.find((each) => each > day);
  return next === undefined ? days.length - 1 : days.lastIndexOf(next);
}
