import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import type { LevelRecord } from '../../src/market/level-record.ts';
import { levelTable } from '../../src/store/level-table.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { chainOf, DAY_MS, keepLevels, MONDAY_MS, MONTH, recordOf, withStore } from './samples.ts';

const HOUR_MS = 3_600_000;
const ALWAYS = [0, Number.MAX_SAFE_INTEGER] as const;

function storedLevels(store: Store, underlying = 'SPX', simulated = false): LevelRecord[] {
  return store.levels(underlying, store.levelTimes(underlying, ...ALWAYS, 'snapshot', simulated), simulated);
}

test.each([
  {},
  { flipResolved: false },
  { atmIv30d: null },
  { simulated: true },
  { byHorizon: { session: { ...MONTH, flipResolved: false }, '35d': null } },
])('reads back the levels that were saved: %p', (overrides) =>
  withStore((store) => {
    keepLevels(store, overrides);
    expect(storedLevels(store, 'SPX', overrides.simulated ?? false)).toEqual([recordOf(overrides)]);
    expect(storedLevels(store, 'SPX', !overrides.simulated)).toEqual([]);
    expect(storedLevels(store, 'NDX')).toEqual([]);
  }),
);

test('lists the spots of a period once, ascending, with the number of records', () =>
  withStore((store) => {
    for (const [hours, spot] of [6010, 6000, 6010, 5990].entries()) {
      keepLevels(store, { asOf: MONDAY_MS + hours * HOUR_MS, spot });
    }
    keepLevels(store, { underlying: 'NDX', spot: 1 });
    keepLevels(store, { simulated: true, spot: 2 });
    const spots = (from: number, to: number) =>
      store
        .levelSpots('SPX', MONDAY_MS + from * HOUR_MS, MONDAY_MS + to * HOUR_MS, false)
        .map(({ spot, records }) => [spot, records]);
    expect(spots(0, 3)).toEqual([
      [5990, 1],
      [6000, 1],
      [6010, 2],
    ]);
    expect(spots(1, 2)).toEqual([
      [6000, 1],
      [6010, 1],
    ]);
    expect(spots(4, 9)).toEqual([]);
  }));

test('reads the newest levels up to a moment with their source', () =>
  withStore((store) => {
    for (const hours of [0, 1]) keepLevels(store, { asOf: MONDAY_MS + hours * HOUR_MS, spot: 6000 + hours });
    keepLevels(store, { underlying: 'NDX', spot: 1 });
    keepLevels(store, { simulated: true, asOf: MONDAY_MS + DAY_MS });
    const newest = (untilMs: number) => store.newestLevels('SPX', untilMs, false);
    expect(newest(Number.MAX_SAFE_INTEGER)).toMatchObject({
      ...recordOf({ asOf: MONDAY_MS + HOUR_MS, spot: 6001 }),
      source: 'simulated',
    });
    expect(newest(MONDAY_MS + HOUR_MS - 1)?.spot).toBe(6000);
    expect(newest(MONDAY_MS - 1)).toBeUndefined();
  }));

test('reads the volatility of the last levels of each day', () =>
  withStore((store) => {
    const daily = [
      [0, 0.1],
      [HOUR_MS, 0.2],
      [DAY_MS, null],
      [2 * DAY_MS, 0.3],
    ] as const;
    for (const [ms, atmIv30d] of daily) keepLevels(store, { asOf: MONDAY_MS + ms, atmIv30d });
    keepLevels(store, { underlying: 'NDX', atmIv30d: 0.9 });
    keepLevels(store, { simulated: true, atmIv30d: 0.9 });
    const days = ['2026-01-07', '2026-01-05', '2026-01-06', '2026-01-08', '2026-01-04'];
    const read = (untilMs: number) => store.volatilitiesOfDays('SPX', days, untilMs, false);
    expect(read(Number.MAX_SAFE_INTEGER)).toEqual([0.3, 0.2, null, null, null]);
    expect(read(MONDAY_MS + HOUR_MS - 1)).toEqual([null, 0.1, null, null, null]);
    expect(store.volatilitiesOfDays('SPX', [], MONDAY_MS, false)).toEqual([]);
  }));

test('a snapshot is due once, newest first, and again if it is replaced', () =>
  withStore((store) => {
    for (const days of [0, 1]) store.saveChain(chainOf({ asOf: MONDAY_MS + days * DAY_MS, simulated: false }));
    const [second, first] = store.levelsDue() as [number, number];
    expect([store.chain(first)?.asOf, store.chain(second)?.asOf]).toEqual([MONDAY_MS, MONDAY_MS + DAY_MS]);
    store.saveLevels(first, recordOf());
    store.saveLevels(second, undefined);
    expect(store.levelsDue()).toEqual([]);
    store.saveChain(chainOf({ simulated: false, spot: 1 }));
    const [again, ...none] = store.levelsDue() as [number];
    expect([none, again === first]).toEqual([[], false]);
    // The previous levels are served until the new ones are saved.
    expect(storedLevels(store)).toEqual([recordOf()]);
    store.saveLevels(again, recordOf({ spot: 1 }));
    expect(storedLevels(store)).toEqual([recordOf({ spot: 1 })]);
  }));

test.each<[name: string, act: (store: Store) => void]>([
  ['forgotten', (store) => store.forgetSnapshots('SPX')],
  ['replaced', (store) => store.saveChain(chainOf({ simulated: false }))],
])('stores no levels for a snapshot that was %s before they were saved', (_, act) =>
  withStore((store) => {
    store.saveChain(chainOf({ simulated: false }));
    const [id] = store.levelsDue() as [number];
    act(store);
    expect(store.levelsDue()).not.toContain(id);
    store.saveLevels(id, recordOf());
    expect(storedLevels(store)).toEqual([]);
  }),
);

test('removes the old levels if the replacing snapshot cannot be analysed', () =>
  withStore((store) => {
    keepLevels(store);
    store.saveChain(chainOf({ simulated: false }));
    store.saveLevels(store.levelsDue()[0]!, undefined);
    expect(storedLevels(store)).toEqual([]);
  }));

test('forgetting a snapshot removes its levels, also if only the levels are left', () =>
  withStore((store) => {
    for (const days of [0, 1, 2]) keepLevels(store, { asOf: MONDAY_MS + days * DAY_MS });
    keepLevels(store, { underlying: 'NDX' });
    const spots = (underlying?: string) =>
      storedLevels(store, underlying).map(({ asOf }) => (asOf - MONDAY_MS) / DAY_MS);
    expect(store.forgetSnapshots('SPX', MONDAY_MS + DAY_MS)).toBe(1);
    expect(spots()).toEqual([0, 2]);
    expect(store.forgetSnapshots('SPX')).toBe(2);
    expect([spots(), spots('NDX')]).toEqual([[], [0]]);

    for (const hours of [0, 1]) keepLevels(store, { simulated: true, asOf: MONDAY_MS + hours * HOUR_MS });
    expect(storedLevels(store, 'SPX', true)).toHaveLength(2);
    expect(store.forgetSnapshots('SPX', MONDAY_MS)).toBe(1);
    expect(storedLevels(store, 'SPX', true).map(({ asOf }) => asOf)).toEqual([MONDAY_MS + HOUR_MS]);
  }));

test('level times: bounds are inclusive, and the last of a day is the last by New York time', () =>
  withStore((store) => {
    // 20:00, 23:00 and 04:30 UTC are Monday in New York. 05:30 UTC is Tuesday, and in summer 04:30 UTC is Tuesday too.
    const summer = Date.UTC(2026, 6, 6, 20);
    const times = [0, 3, 8.5, 9.5].flatMap((hours) => [MONDAY_MS + hours * HOUR_MS, summer + hours * HOUR_MS]);
    for (const asOf of times) keepLevels(store, { asOf });
    const at = times.toSorted((a, b) => a - b) as [number, ...number[]];
    const found = (from: number, to: number, per: 'snapshot' | 'day') => store.levelTimes('SPX', from, to, per, false);
    expect(found(...ALWAYS, 'snapshot')).toEqual(at);
    expect(found(...ALWAYS, 'day')).toEqual([at[2]!, at[3]!, at[5]!, at[7]!]);
    expect(found(at[1]!, at[3]!, 'snapshot')).toEqual([at[1]!, at[2]!, at[3]!]);
    // Within this range another record is the last of the day.
    expect(found(at[0], at[1]!, 'day')).toEqual([at[1]!]);
    expect(found(at[2]!, at[3]!, 'day')).toEqual([at[2]!, at[3]!]);
    expect(found(at[1]! + 1, at[2]! - 1, 'day')).toEqual([]);
    expect(store.lastLevelsAt('SPX', at[2]! - 1, false)).toBe(at[1]!);
    expect(store.lastLevelsAt('SPX', at[0], false)).toBe(at[0]);
    expect(store.lastLevelsAt('SPX', at[0] - 1, false)).toBeUndefined();
    expect(store.levels('SPX', [at[3]!, at[0], 12345], false).map(({ asOf }) => asOf)).toEqual([at[0], at[3]!]);
  }));

test.each(['snapshot', 'day'] as const)('with a limit, level times per %s are the last ones of the period', (per) =>
  withStore((store) => {
    for (let i = 0; i < 24; i++) keepLevels(store, { asOf: MONDAY_MS + i * 5 * HOUR_MS });
    for (const [from, to] of [ALWAYS, [MONDAY_MS + HOUR_MS, MONDAY_MS + 3 * DAY_MS]] as const) {
      const all = store.levelTimes('SPX', from, to, per, false);
      expect(all.length).toBeGreaterThan(2);
      for (const limit of [1, 2, all.length - 1, all.length, all.length + 1])
        expect([limit, store.levelTimes('SPX', from, to, per, false, limit)]).toEqual([limit, all.slice(-limit)]);
    }
  }),
);

test("the level log is in the order of saving, has one kind of data, and omits records older than the ticker's latest", () =>
  withStore((store) => {
    const save = (days: number, overrides: Partial<LevelRecord> = {}) => {
      keepLevels(store, { asOf: MONDAY_MS + days * DAY_MS, ...overrides });
      return store.lastLevelSeq();
    };
    expect([store.lastLevelSeq(), store.levelEvents(0, 10, false)]).toEqual([0, []]);
    const first = save(0);
    const second = save(2);
    const history = save(1);
    const other = save(0, { underlying: 'NDX' });
    const simulated = save(3, { simulated: true });
    const same = save(2, { spot: 1 });
    expect([first, second, history, other, simulated, same]).toEqual([1, 2, 3, 4, 5, 6]);
    const seqs = (after: number, limit = 10, kind = false) =>
      store.levelEvents(after, limit, kind).map(({ seq }) => seq);
    // A record replaces the earlier record of the same moment.
    expect([seqs(0), seqs(1), seqs(0, 1), seqs(6), seqs(0, 10, true)]).toEqual([[1, 4, 6], [4, 6], [1], [], [5]]);
    expect(store.levelEvents(4, 10, false)).toEqual([
      {
        ...recordOf({ asOf: MONDAY_MS + 2 * DAY_MS, spot: 1 }),
        ...{ seq: 6, source: 'simulated', keptAt: expect.any(Number) },
      },
    ]);
    const current = (underlying: string, upTo: number) => store.currentLevels(underlying, upTo, false)?.seq;
    expect([current('SPX', 6), current('SPX', 5), current('NDX', 6), current('NDX', 3)]).toEqual([6, 3, 4, undefined]);
    // A sequence number is never reused.
    store.forgetSnapshots('SPX');
    expect([store.lastLevelSeq(), seqs(0), current('SPX', 6), save(0)]).toEqual([6, [4], undefined, 7]);
  }));

test('a record dated in the future does not make present records look old', () =>
  withStore((store) => {
    const now = Date.now();
    const seqs = () => store.levelEvents(0, 10, false).map(({ seq }) => seq);
    keepLevels(store, { asOf: now - 1_000 });
    keepLevels(store, { asOf: now + 90 * DAY_MS });
    keepLevels(store, { asOf: now });
    expect([seqs(), store.currentLevels('SPX', 3, false)?.seq]).toEqual([[1, 3], 3]);
    keepLevels(store, { underlying: 'NDX', asOf: now + 90 * DAY_MS });
    expect([seqs(), store.currentLevels('NDX', 4, false)?.seq]).toEqual([[1, 3, 4], 4]);
  }));

test('levels of schema 15 stay, without the data of the whipsaw index', () => {
  const db = new Database(':memory:', { strict: true });
  migrate(db, MIGRATIONS.slice(0, 3));
  db.run(
    `INSERT INTO levels VALUES (1, 0, 'SPX', ${MONDAY_MS}, 'test', 1, '2026-01-05', 6000.25, -1, 2, 3, 1, 4, 5, 6, '2026-01-16', 7, 8, 9,
       0.5, NULL)`,
  );
  migrate(db);
  const table = levelTable(db, () => MONDAY_MS);
  expect(table.levels('SPX', [MONDAY_MS], false)).toMatchObject([
    { spot: 6000.25, atmIv30d: 0.5, nearestIv: null, expiringGex: null },
  ]);
  expect(table.levelCursor()).toEqual({ stored: 1, removed: 0 });
  db.run('DELETE FROM levels');
  const { removed } = table.levelChanges(table.levelCursor(), false);
  expect(removed).toEqual([]);
  expect(table.levelChanges({ stored: 1, removed: 0 }, false)).toEqual({ stored: [], removed: ['SPX'] });
});

test('levels of schema 17 stay, without the probability of the sign', () => {
  const db = new Database(':memory:', { strict: true });
  migrate(db, MIGRATIONS.slice(0, 6));
  db.run(
    `INSERT INTO levels VALUES (1, 0, 'SPX', ${MONDAY_MS}, 'test', 1, '2026-01-05', 6000.25, -1, 2, 3, 1, 4, 5, 6, '2026-01-16', 7, 8, 9,
       0.5, NULL, 0.4, 1)`,
  );
  migrate(db);
  const [levels] = levelTable(db, () => MONDAY_MS).levels('SPX', [MONDAY_MS], false);
  expect(levels).toMatchObject({ nearestIv: 0.4, expiringGex: 1, signProbability: null });
});

test('levels of schema 19 have no levels of shorter horizons until they are filled in, if their snapshot is stored', () => {
  const db = new Database(':memory:', { strict: true });
  migrate(db, MIGRATIONS.slice(0, 7));
  const moments = [MONDAY_MS, MONDAY_MS + DAY_MS];
  const values = moments.map(
    (at, i) =>
      `(${i}, 0, 'SPX', ${at}, 'test', 1, '2026-01-0${5 + i}', 1, -1, 2, 3, 1, 4, 5, 6, '2026-01-16', 7, 8, 9)`,
  );
  db.run(
    `INSERT INTO levels (seq, simulated, underlying, as_of, source, advanced, day, spot, net_gex, gross_gex, gex_flip, flip_resolved,
       call_wall, put_wall, max_pain, expiry, dex, vex, cex) VALUES ${values.join()}`,
  );
  for (const at of [MONDAY_MS, MONDAY_MS + HOUR_MS])
    db.run(
      `INSERT INTO snapshots (simulated, underlying, as_of, day, spot, source, columns) VALUES (0, 'SPX', ${at}, 'a', 1, 'test', x'00')`,
    );
  migrate(db);
  const table = levelTable(db, () => MONDAY_MS);
  const sets = () => table.levels('SPX', moments, false).map(({ byHorizon }) => byHorizon);
  const none = { session: null, '35d': null };
  expect([sets(), table.horizonsDue()]).toEqual([[none, none], [1]]);
  const due = (untilMs: number, ...ofHorizons: [boolean?]) =>
    table.levelsDueOf(['SPX', 'NDX'], false, untilMs, ...ofHorizons);
  expect([due(MONDAY_MS), due(MONDAY_MS, true), due(MONDAY_MS - 1, true)]).toEqual([0, 1, 0]);
  const before = table.levelCursor();
  table.fillHorizons(1, recordOf({ spot: 9, netGex: 9 }));
  table.fillHorizons(1, recordOf({ byHorizon: none }));
  expect([sets(), table.horizonsDue()]).toEqual([[{ session: null, '35d': MONTH }, none], []]);
  // All other figures stay, no subscriber gets the levels again, and processes that hold them read them again.
  expect(table.levels('SPX', [MONDAY_MS], false)).toMatchObject([{ spot: 1, netGex: -1 }]);
  expect(table.levelChanges(before, false)).toEqual({ stored: [], removed: ['SPX'] });
});

test('lists the levels stored after a place, and the tickers that lost the last levels of a day', () =>
  withStore((store) => {
    keepLevels(store);
    const before = store.levelCursor();
    for (const hours of [1, 2]) keepLevels(store, { asOf: MONDAY_MS + hours * HOUR_MS });
    keepLevels(store, { underlying: 'NDX', simulated: true });
    const changes = (simulated = false) => {
      const { stored, removed } = store.levelChanges(before, simulated);
      return [stored.map(({ underlying, asOf }) => [underlying, (asOf - MONDAY_MS) / HOUR_MS]), removed];
    };
    const both = [
      ['SPX', 1],
      ['SPX', 2],
    ];
    expect(changes()).toEqual([both, []]);
    expect(changes(true)).toEqual([[['NDX', 0]], []]);
    store.forgetSnapshots('SPX', MONDAY_MS + HOUR_MS);
    expect(changes()).toEqual([both.slice(1), []]);
    store.forgetSnapshots('SPX', MONDAY_MS + 2 * HOUR_MS);
    expect(changes()).toEqual([[], ['SPX']]);
    expect(store.levelChanges(store.levelCursor(), false)).toEqual({ stored: [], removed: [] });
  }));
