import { describe, expect, test } from 'bun:test';
import { type RetentionDays, removeOld, startRetention } from '../../src/feeds/retention.ts';
import { createMarket } from '../../src/market/market.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { chainOf, DAY_MS, keepLevels, MONDAY_MS, printOf, withStore } from '../store/samples.ts';

const HOUR_MS = 3_600_000;
/** Monday 15:00 in New York. */
const NOW = MONDAY_MS;
const DAYS = Array.from({ length: 60 }, (_, days) => days);

/** The ages of the snapshots of SPX in days, the oldest first. */
const agesIn = (store: Store) => store.snapshots('SPX').map(({ asOf }) => (NOW - asOf) / DAY_MS);

/** Removes what these days do not keep. Returns what was observed. */
async function removed(store: Store, kept: RetentionDays, nowMs = NOW): Promise<unknown[]> {
  const observed: unknown[] = [];
  await removeOld({ store, kept, observe: (each) => observed.push(each), nowMs: () => nowMs });
  return observed;
}

const WHOLE = [0, Number.MAX_SAFE_INTEGER] as const;

/** Two snapshots, levels and prints of two tickers on each day. */
function fill(store: Store): void {
  store.sumPrintsFrom(1);
  for (const day of DAYS) {
    for (const hours of [0, 1]) {
      const asOf = NOW - day * DAY_MS - hours * HOUR_MS;
      for (const underlying of ['SPX', 'NDX']) {
        keepLevels(store, { asOf, underlying });
        const at = { at: asOf, underlying, root: underlying };
        store.savePrints([printOf(`${underlying} ${asOf}`, { ...at, simulated: false })]);
      }
    }
  }
}

const countsIn = (store: Store) => ({
  snapshots: store.snapshots('SPX').length,
  levels: store.levelTimes('SPX', ...WHOLE, 'snapshot', false).length,
  prints: store.prints('SPX', ...WHOLE, false, 0).length,
  summed: store.printSums('SPX', ...WHOLE, false, 1).reduce((sum, { prints }) => sum + prints, 0),
  other: store.snapshots('NDX').length,
});

const ALL = { snapshots: 120, levels: 120, prints: 120, summed: 120, other: 120 };

describe('retention keeps', () => {
  test.each<[string, RetentionDays, Partial<typeof ALL>]>([
    ['everything', {}, {}],
    ['more days than are stored', { chains: 90, prints: 90, intraday: 90 }, {}],
    ['ten days of snapshots', { chains: 10 }, { snapshots: 22, other: 22 }],
    [
      'all snapshots of ten days, then the last snapshot of each day',
      { intraday: 10 },
      { snapshots: 22 + 49, other: 22 + 49 },
    ],
    ['both limits', { intraday: 10, chains: 20 }, { snapshots: 22 + 10, other: 22 + 10 }],
    ['31 days of prints', { prints: 31 }, { prints: 64, summed: 64 }],
    ['31 days of levels', { levels: 31 }, { levels: 64 }],
    ['only today', { chains: 0 }, { snapshots: 2, other: 2 }],
  ])('%s, and removes nothing else', (_name, days, expected) =>
    withStore(async (store) => {
      fill(store);
      expect(await removed(store, days)).toHaveLength(Object.keys(expected).length > 0 ? 1 : 0);
      expect(countsIn(store)).toEqual({ ...ALL, ...expected });
    }),
  );
});

test('keeps the newest snapshot of a ticker at any age, and one whose levels are due', () =>
  withStore(async (store) => {
    for (const days of [200, 150, 100]) keepLevels(store, { asOf: NOW - days * DAY_MS });
    store.saveChain(chainOf({ asOf: NOW - 180 * DAY_MS, simulated: false }));
    await removed(store, { chains: 10 });
    expect(agesIn(store)).toEqual([180, 100]);
  }));

test('a removal that is stopped midway continues the next time', () =>
  withStore(async (store) => {
    const many = Array.from({ length: 12_000 }, (_, i) =>
      printOf(`p${i}`, { at: NOW - 40 * DAY_MS + i, simulated: false }),
    );
    store.savePrints([...many, printOf('now', { at: NOW, simulated: false })]);
    let checks = 0;
    const kept = { prints: 31 };
    await removeOld({ store, kept, observe: () => {}, nowMs: () => NOW }, () => ++checks > 1);
    expect(store.prints('SPX', 0, NOW, false, 0)).toHaveLength(11_751);
    await removed(store, kept);
    expect(store.prints('SPX', 0, NOW, false, 0)).toHaveLength(1);
  }));

describe('a clock that is ahead', () => {
  const AHEAD = NOW + 1_652 * DAY_MS;

  test('removes nothing, because the days are counted from the newest data', () =>
    withStore(async (store) => {
      for (const days of [0, 5, 20]) keepLevels(store, { asOf: NOW - days * DAY_MS });
      const kept = { chains: 30, intraday: 30, prints: 31, levels: 31 };
      expect(await removed(store, kept, AHEAD)).toEqual([]);
      expect(agesIn(store)).toHaveLength(3);
    }));

  test('and has dated a snapshot: what would go is a large share, so the removal waits for a day', () =>
    withStore(async (store) => {
      for (const days of [0, 5, 20, -1_652]) keepLevels(store, { asOf: NOW - days * DAY_MS });
      const observed: unknown[] = [];
      const observe = (each: unknown) => void observed.push(each);
      const kept = { chains: 30, levels: 31 };
      const { stop } = startRetention({ store, kept, observe, nowMs: () => AHEAD }, () => 0);
      await new Promise(setImmediate);
      stop();
      expect(observed).toEqual(
        ['chains', 'levels'].map((of) => ({ kind: 'retention_waits', of, days: expect.any(Number) })),
      );
      expect(agesIn(store)).toHaveLength(4);
    }));
});

test.each([
  [30, 0, 60],
  [30, DAY_MS, 31],
  [54, 0, 55],
])(
  'a large removal takes place when the service has run for a day, and a small one at once: %p days, after %p ms',
  (days, ran, left) =>
    withStore(async (store) => {
      for (const day of DAYS) keepLevels(store, { asOf: NOW - day * DAY_MS });
      const clock = [0, ran];
      const observed: { kind: string }[] = [];
      const observe = (each: { kind: string }) => void observed.push(each);
      const elapsedMs = () => clock.shift() ?? ran;
      const { stop } = startRetention({ store, kept: { chains: days }, observe, nowMs: () => NOW }, elapsedMs);
      for (let i = 0; i < 5; i++) await new Promise(setImmediate);
      stop();
      expect(agesIn(store)).toHaveLength(left);
      expect(observed.map(({ kind }) => kind)).toEqual([left === 60 ? 'retention_waits' : 'old_removed']);
    }),
);

test('a snapshot dated ahead does not count as the newest: the newest true one stays', () =>
  withStore(async (store) => {
    for (const days of [200, 100, -400]) keepLevels(store, { asOf: NOW - days * DAY_MS });
    await removed(store, { chains: 10 });
    expect(agesIn(store)).toEqual([100, -400]);
  }));

test('if only the last snapshot of a day is left, earlier moments of the day have no answer', () =>
  withStore(async (store) => {
    for (const days of [21, 20]) {
      for (const hours of [3, 0]) keepLevels(store, { asOf: NOW - days * DAY_MS - hours * HOUR_MS });
    }
    keepLevels(store, { asOf: NOW });
    const at = (days: number, hours: number) => {
      const market = createMarket(store, STANDARD_UNIVERSE, false, Date.now);
      return market.at(NOW - days * DAY_MS - hours * HOUR_MS).findChain('SPX')?.asOf;
    };
    expect(at(20, 2)).toBe(NOW - 20 * DAY_MS - 3 * HOUR_MS);
    await removed(store, { intraday: 10 });
    expect([at(20, 2), at(20, 0), at(19, 5)]).toEqual([undefined, NOW - 20 * DAY_MS, NOW - 20 * DAY_MS]);
  }));
