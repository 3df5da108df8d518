import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { addDays, closeOf, isTradingDay, newYorkDate, openOf, previousTradingDay } from '../../src/market/calendar.ts';
import { MINUTE_MS, pastMoments } from '../../src/market/simulated-past.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { chainOf, keepLevels, withStore } from './samples.ts';

const ALWAYS = [0, Number.MAX_SAFE_INTEGER] as const;

/** Moments of quotes within three weeks with a holiday and a half day: whole minutes from the open to the close. */
const quoted = fc.tuple(fc.integer({ min: 0, max: 24 }), fc.integer({ min: 0, max: 390 })).map(([days, minutes]) => {
  const day = addDays('2026-11-16', days);
  const date = isTradingDay(day) ? day : previousTradingDay(day);
  return Math.min(closeOf(date), openOf(date) + minutes * MINUTE_MS);
});

/** What is kept of snapshots, in the words of the decision: the last ten minutes, half hours of five days, and the last of each day. */
function keptOf(moments: readonly number[]): number[] {
  const newest = Math.max(...moments);
  const days = new Set([newYorkDate(newest)]);
  for (let day = newYorkDate(newest); days.size < 5; days.add(day)) day = previousTradingDay(day);
  return moments.filter((moment) => {
    const day = newYorkDate(moment);
    const isLast = moments.every((other) => other <= moment || newYorkDate(other) !== day);
    const isHalfHour = [0, 30].includes(new Date(moment).getUTCMinutes());
    return isLast || newest - moment <= 10 * MINUTE_MS || (isHalfHour && days.has(day));
  });
}

const storedOf = (store: Store, simulated: boolean) => ({
  snapshots: store.snapshots('SPX').flatMap((each) => (each.simulated === simulated ? [each.asOf] : [])),
  levels: store.levelTimes('SPX', ...ALWAYS, 'snapshot', simulated),
});

test('keeps simulated snapshots and levels of the last ten minutes, of the half hours of five days, and of the ends of days', () =>
  fc.assert(
    fc.asyncProperty(fc.uniqueArray(quoted, { minLength: 1, maxLength: 60 }), (some) =>
      withStore((store) => {
        // The last minutes of the newest day, and the half hours of its past.
        const newest = Math.max(...some);
        const recent = Array.from({ length: 15 }, (_, i) => newest - i * MINUTE_MS);
        const open = openOf(newYorkDate(newest));
        const moments = [
          ...new Set([...some, ...recent.filter((each) => each >= open), ...pastMoments(newest).slice(0, 90)]),
        ];
        moments.sort((a, b) => a - b);
        for (const simulated of [true, false]) for (const asOf of moments) keepLevels(store, { simulated, asOf });
        keepLevels(store, { simulated: true, underlying: 'NDX', asOf: moments[0]! });
        const kept = keptOf(moments);
        expect(storedOf(store, true)).toEqual({ snapshots: kept, levels: kept });
        expect(storedOf(store, false)).toEqual({ snapshots: moments, levels: moments });
        expect(store.snapshots('NDX')).toHaveLength(1);
      }),
    ),
    { numRuns: 12 },
  ));

test('what the past gets is kept, as long as the day lasts', () =>
  withStore((store) => {
    const noon = Date.parse('2026-12-02T17:00:00Z');
    const moments = pastMoments(noon).toReversed();
    for (const asOf of [...moments, noon]) store.saveChain(chainOf({ asOf }));
    store.saveChain(chainOf({ asOf: closeOf('2026-12-02') }));
    expect(storedOf(store, true).snapshots).toEqual([...moments, noon, closeOf('2026-12-02')]);
  }));

test('of the time in which the exchange is closed, only the last ten minutes are kept, and the close is the last of its day', () =>
  withStore((store) => {
    const close = closeOf('2026-11-20');
    const minutesFrom = (moment: string, count: number) =>
      Array.from({ length: count }, (_, i) => Date.parse(moment) + i * MINUTE_MS);
    const save = (moments: readonly number[]) => {
      for (const asOf of moments) keepLevels(store, { simulated: true, asOf });
    };
    const kept = () => storedOf(store, true).snapshots.map((moment) => new Date(moment).toISOString().slice(5, 16));
    save([close, ...minutesFrom('2026-11-20T21:01:00Z', 40)]);
    expect(kept()).toEqual(['11-20T21:00', ...Array.from({ length: 11 }, (_, i) => `11-20T21:${30 + i}`)]);
    save(minutesFrom('2026-11-22T08:00:00Z', 2));
    expect(kept()).toEqual(['11-20T21:00', '11-22T08:00', '11-22T08:01']);
    // The service was stopped on Sunday, and starts again after the close of Wednesday eight days later.
    save(minutesFrom('2026-12-02T21:00:00Z', 2));
    expect(kept()).toEqual(['11-20T21:00', '12-02T21:00', '12-02T21:01']);
    expect(storedOf(store, true).levels).toEqual(storedOf(store, true).snapshots);
  }));
