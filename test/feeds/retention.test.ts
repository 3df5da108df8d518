import { describe, expect, test } from 'bun:test';
import { type RetentionDays, removeOld, startRetention } from '../../src/feeds/retention.ts';
import { newYorkDate } from '../../src/market/calendar.ts';
import { createMarket } from '../../src/market/market.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { chainOf, DAY_MS, keepLevels, MONDAY_MS, printOf } from '../store/samples.ts';

const HOUR_MS = 3_600_000;
/** Monday 15:00 in New York. */
const NOW = MONDAY_MS;
const DAYS = Array.from({ length: 60 }, (_, days) => days);

async function afterRetention(days: RetentionDays, prepare: (store: Store) => void = () => {}) {
  const store = openStore(':memory:', Date.now);
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
  prepare(store);
  const observed: unknown[] = [];
  await removeOld({ store, kept: days, observe: (each) => observed.push(each), nowMs: () => NOW });
  const count = (rows: readonly unknown[]) => rows.length;
  const whole = [0, Number.MAX_SAFE_INTEGER] as const;
  const counts = {
    snapshots: count(store.snapshots('SPX')),
    levels: count(store.levelTimes('SPX', ...whole, 'snapshot', false)),
    prints: count(store.prints('SPX', ...whole, false, 0)),
    summed: store.printSums('SPX', ...whole, false, 1).reduce((sum, { prints }) => sum + prints, 0),
    other: count(store.snapshots('NDX')),
  };
  const oldest = newYorkDate(store.snapshots('SPX')[0]!.asOf);
  store.close();
  return { counts, observed, oldest };
}

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
  ])('%s, and removes nothing else', async (_name, days, expected) => {
    const { counts, observed } = await afterRetention(days);
    expect(counts).toEqual({ ...ALL, ...expected });
    expect(observed).toHaveLength(Object.keys(expected).length > 0 ? 1 : 0);
  });
});

test('keeps the newest snapshot of a ticker at any age, and one whose levels are due', async () => {
  const store = openStore(':memory:', Date.now);
  for (const days of [200, 150, 100]) keepLevels(store, { asOf: NOW - days * DAY_MS });
  store.saveChain(chainOf({ asOf: NOW - 180 * DAY_MS, simulated: false }));
  await removeOld({ store, kept: { chains: 10 }, observe: () => {}, nowMs: () => NOW });
  expect(store.snapshots('SPX').map(({ asOf }) => (NOW - asOf) / DAY_MS)).toEqual([180, 100]);
  store.close();
});

test('a removal that is stopped midway continues the next time', async () => {
  const store = openStore(':memory:', Date.now);
  const many = Array.from({ length: 12_000 }, (_, i) =>
    printOf(`p${i}`, { at: NOW - 40 * DAY_MS + i, simulated: false }),
  );
  store.savePrints([...many, printOf('now', { at: NOW, simulated: false })]);
  const deps = { store, kept: { prints: 31 }, observe: () => {}, nowMs: () => NOW };
  let checks = 0;
  await removeOld(deps, () => ++checks > 1);
  expect(store.prints('SPX', 0, NOW, false, 0)).toHaveLength(11_751);
  await removeOld(deps);
  expect(store.prints('SPX', 0, NOW, false, 0)).toHaveLength(1);
  store.close();
});

describe('a clock that is ahead', () => {
  const AHEAD = NOW + 1_652 * DAY_MS;

  test('removes nothing, because the days are counted from the newest data', async () => {
    const store = openStore(':memory:', Date.now);
    for (const days of [0, 5, 20]) keepLevels(store, { asOf: NOW - days * DAY_MS });
    const observed: unknown[] = [];
    const kept = { chains: 30, intraday: 30, prints: 31, levels: 31 };
    await removeOld({ store, kept, observe: (each) => observed.push(each), nowMs: () => AHEAD });
    expect([store.snapshots('SPX').length, observed]).toEqual([3, []]);
    store.close();
  });

  test('and has dated a snapshot: what would go is a large share, so the removal waits for a day', async () => {
    const store = openStore(':memory:', Date.now);
    for (const days of [0, 5, 20, -1_652]) keepLevels(store, { asOf: NOW - days * DAY_MS });
    const observed: unknown[] = [];
    const kept = { chains: 30, levels: 31 };
    const elapsedMs = 0;
    const run = async () => {
      const observe = (each: unknown) => void observed.push(each);
      const { stop } = startRetention({ store, kept, observe, nowMs: () => AHEAD }, () => elapsedMs);
      await new Promise(setImmediate);
      stop();
    };
    await run();
    expect(observed).toEqual([
      { kind: 'retention_waits', of: 'chains', days: expect.any(Number) },
      { kind: 'retention_waits', of: 'levels', days: expect.any(Number) },
    ]);
    expect(store.snapshots('SPX')).toHaveLength(4);
    store.close();
  });
});

test('a large removal takes place when the service has run for a day, and a small one at once', async () => {
  for (const [days, ran, left] of [
    [30, 0, 60],
    [30, DAY_MS, 31],
    [54, 0, 55],
  ] as const) {
    const store = openStore(':memory:', Date.now);
    for (const day of DAYS) keepLevels(store, { asOf: NOW - day * DAY_MS });
    const clock = [0, ran];
    const observed: { kind: string }[] = [];
    const observe = (each: { kind: string }) => void observed.push(each);
    const elapsedMs = () => clock.shift() ?? ran;
    const { stop } = startRetention({ store, kept: { chains: days }, observe, nowMs: () => NOW }, elapsedMs);
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    stop();
    expect([days, store.snapshots('SPX').length, observed.map(({ kind }) => kind)]).toEqual([
      days,
      left,
      [left === 60 ? 'retention_waits' : 'old_removed'],
    ]);
    store.close();
  }
});

test('a snapshot dated ahead does not count as the newest: the newest true one stays', async () => {
  const store = openStore(':memory:', Date.now);
  for (const days of [200, 100, -400]) keepLevels(store, { asOf: NOW - days * DAY_MS });
  await removeOld({ store, kept: { chains: 10 }, observe: () => {}, nowMs: () => NOW });
  expect(store.snapshots('SPX').map(({ asOf }) => (NOW - asOf) / DAY_MS)).toEqual([100, -400]);
  store.close();
});

test('if only the last snapshot of a day is left, earlier moments of the day have no answer', async () => {
  const store = openStore(':memory:', Date.now);
  for (const days of [21, 20]) {
    for (const hours of [3, 0]) keepLevels(store, { asOf: NOW - days * DAY_MS - hours * HOUR_MS });
  }
  keepLevels(store, { asOf: NOW });
  const market = () => createMarket(store, STANDARD_UNIVERSE, false, Date.now);
  const at = (days: number, hours: number) =>
    market()
      .at(NOW - days * DAY_MS - hours * HOUR_MS)
      .findChain('SPX')?.asOf;
  expect(at(20, 2)).toBe(NOW - 20 * DAY_MS - 3 * HOUR_MS);
  await removeOld({ store, kept: { intraday: 10 }, observe: () => {}, nowMs: () => NOW });
  expect([at(20, 2), at(20, 0), at(19, 5)]).toEqual([undefined, NOW - 20 * DAY_MS, NOW - 20 * DAY_MS]);
  store.close();
});
