import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Chain } from '../../src/market/chain.ts';
import { encodeFirstFormat } from './first-format.ts';
import { chainOf, closeWith, DAY_MS, MONDAY_MS, printOf, withStoreFile } from './samples.ts';

const HOUR_MS = 3_600_000;

/** Every number of a column as its 64 bits: NaN equals itself, -0 differs from 0. */
function inBits(chain: Chain): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(chain).map(([name, value]) => [
      name,
      value instanceof Float64Array ? [...new BigUint64Array(value.slice().buffer)] : value,
    ]),
  );
}

test('a chain is read back bit for bit, including missing values', () =>
  withStoreFile((store) => {
    for (const count of [0, 1, 2, 5, 1000]) {
      const chain = chainOf({ underlying: `U${count}`, count });
      store.saveChain(chain);
      expect(inBits(store.chain(store.latestChainId(`U${count}`, true)!)!)).toEqual(inBits(chain));
    }
    expect(store.chain(12345)).toBeUndefined();
    expect(store.latestChainId('NONE', true)).toBeUndefined();
  }));

test('a snapshot that an earlier version stored is read back, with its header, and is intact', () =>
  withStoreFile((store, path) => {
    const chain = chainOf({ count: 100 });
    const id = store.saveChain(chain);
    const { underlying, asOf, source, simulated, count, series } = chain;
    const head = { underlying, asOf, source, simulated, count, series, priced: true };
    const read = () => [inBits(store.chain(id)!), store.snapshotHead(id), [...store.checkSnapshots()]];
    const now = read();
    const db = new Database(path);
    db.run('UPDATE snapshots SET columns = ?', [encodeFirstFormat(chain)]);
    db.close();
    expect(read()).toEqual(now);
    expect(now).toMatchObject([inBits(chain), head, [{ underlying, asOf, isDamaged: false }]]);
    expect(store.snapshotHead(12345)).toBeUndefined();
  }));

test('saving the same snapshot again replaces it under a new id', () =>
  withStoreFile((store) => {
    for (const simulated of [true, false]) {
      store.saveChain(chainOf({ simulated, spot: 1 }));
      const first = store.latestChainId('SPX', simulated)!;
      store.saveChain(chainOf({ simulated, spot: 2 }));
      const second = store.latestChainId('SPX', simulated)!;
      expect(second).not.toBe(first);
      expect(store.chain(first)).toBeUndefined();
      expect(store.chain(second)?.spot).toBe(2);
    }
  }));

test('the latest snapshot is the newest by time, in any order of saving', () =>
  withStoreFile((store) => {
    for (const hours of [1, 3, 2]) {
      store.saveChain(chainOf({ asOf: MONDAY_MS + hours * HOUR_MS, spot: hours, simulated: false }));
    }
    expect(store.chain(store.latestChainId('SPX', false)!)?.spot).toBe(3);
  }));

test('the last snapshot of each New York day', () =>
  withStoreFile((store) => {
    // 20:00 and 23:00 UTC are Monday. 04:30 UTC on Tuesday is still Monday in New York, 05:30 UTC is Tuesday.
    const times = [0, 3, 8.5, 9.5].map((hours) => MONDAY_MS + hours * HOUR_MS);
    // Simulated snapshots of the night would not be kept.
    for (const asOf of times) store.saveChain(chainOf({ asOf, simulated: false }));
    store.saveChain(chainOf({ asOf: times[0]! + 1, simulated: true }));
    const daily = (from: number, to: number) =>
      store.dailyChainIds('SPX', from, to, false).map((id) => store.chain(id)?.asOf);
    expect(daily(times[0]!, times[3]!)).toEqual([times[2], times[3]]);
    // Snapshots after the end of the range do not count: within this range another snapshot is the last of its day.
    expect(daily(times[0]!, times[1]!)).toEqual([times[1]]);
    const simulated = store.dailyChainIds('SPX', times[0]!, times[3]!, true).map((id) => store.chain(id)?.asOf);
    expect(simulated).toEqual([times[0]! + 1]);
  }));

test('the moments of the snapshots around an instant', () =>
  withStoreFile((store) => {
    for (const hours of [0, 2]) store.saveChain(chainOf({ asOf: MONDAY_MS + hours * HOUR_MS, simulated: false }));
    const around = (hours: number, until = Number.MAX_SAFE_INTEGER) => {
      const { before, after } = store.snapshotsAround('SPX', false, MONDAY_MS + hours * HOUR_MS, until);
      return [before, after].map((each) => each && (each - MONDAY_MS) / HOUR_MS);
    };
    expect([-1, 0, 1, 2, 3].map((hours) => around(hours)[0])).toEqual([null, 0, 0, 2, 2]);
    expect([-1, 0, 1, 2, 3].map((hours) => around(hours)[1])).toEqual([0, 2, 2, null, null]);
    expect(around(1, MONDAY_MS + HOUR_MS)).toEqual([0, null]);
    const none = store.snapshotsAround('SPX', true, MONDAY_MS, Number.MAX_SAFE_INTEGER);
    expect(none).toEqual({ before: null, after: null });
  }));

test('simulated and recorded data are separate', () =>
  withStoreFile((store) => {
    store.saveChain(chainOf({ underlying: 'B', simulated: true, spot: 1 }));
    store.saveChain(chainOf({ underlying: 'A', simulated: true, spot: 2 }));
    store.saveChain(chainOf({ underlying: 'B', simulated: false, spot: 3, source: 'files:x' }));
    store.savePrints([printOf('1', { simulated: true, size: 1 }), printOf('1', { simulated: false, size: 2 })]);
    store.saveCloses([closeWith({ ticker: 'B', date: '2026-01-02', close: 9, simulated: true })]);

    expect(store.underlyings(true)).toEqual(['A', 'B']);
    expect(store.underlyings(false)).toEqual(['B']);
    expect(store.latestChainId('A', false)).toBeUndefined();
    expect(store.chain(store.latestChainId('B', false)!)).toMatchObject({
      ...{ spot: 3, source: 'files:x', simulated: false },
    });
    for (const [simulated, size] of [[true, 1] as const, [false, 2] as const]) {
      expect(store.prints('SPX', 0, MONDAY_MS, simulated, 0)).toEqual([printOf('1', { simulated, size })]);
    }
    expect(store.closes('B', '2026-01-05', 9, true).map((close) => close.close)).toEqual([9, 1]);
    expect(store.closes('B', '2026-01-05', 9, false)).toEqual([closeWith({ ticker: 'B', close: 3 })]);
  }));

test('prints are read back unchanged, in time order, with inclusive bounds', () =>
  withStoreFile((store) => {
    const prints = [
      printOf('b', { at: MONDAY_MS + 2, side: null, delta: null, multiLeg: false, callPut: 1 }),
      printOf('a', { at: MONDAY_MS + 2, side: 'bid' }),
      printOf('c', { at: MONDAY_MS, side: 'mid' }),
      printOf('d', { at: MONDAY_MS + 3 }),
      printOf('e', { at: MONDAY_MS + 1, underlying: 'NDX' }),
    ];
    expect(store.savePrints(prints)).toEqual({ added: 5, changed: 0 });
    expect(store.prints('SPX', MONDAY_MS, MONDAY_MS + 2, true, 0)).toEqual([prints[2]!, prints[0]!, prints[1]!]);
    expect(store.lastPrintAt('SPX', true)).toBe(MONDAY_MS + 3);
    expect(store.lastPrintAt('SPX', false)).toBeUndefined();
  }));

test('a later copy corrects a print any number of times, but a canceled print stays canceled', () =>
  withStoreFile((store) => {
    const sizes = () => store.prints('SPX', 0, MONDAY_MS, true, 0).map(({ id, size }) => [id, size]);
    const version = () => store.tapeVersion('SPX', 0, MONDAY_MS, true).version;
    expect(store.savePrints([printOf('a', { size: 1 }), printOf('b', { size: 2 })]).added).toBe(2);
    const before = version();
    expect(store.savePrints([printOf('a', { size: 1 })])).toEqual({ added: 0, changed: 0 });
    expect(version()).toBe(before);
    expect(store.savePrints([printOf('a', { size: 3 }), printOf('a', { size: 4, at: MONDAY_MS - 1 })])).toEqual({
      added: 0,
      changed: 2,
    });
    expect(sizes().flat()).toEqual(['a', 4, 'b', 2]);
    expect(version()).not.toBe(before);
    // The same sequence again from the start.
    const corrected = version();
    store.savePrints([1, 3].map((size) => printOf('a', { size })));
    store.savePrints([printOf('a', { size: 4, at: MONDAY_MS - 1 })]);
    expect([version(), sizes()[0]]).toEqual([corrected, ['a', 4]]);
    store.savePrints([printOf('a', { size: 9, canceled: true }), printOf('a', { size: 5 })]);
    expect(sizes()).toEqual([['b', 2]]);
  }));

test('large prints are those whose premium reaches the minimum', () =>
  withStoreFile((store) => {
    // 12.35 dollars a share and 100 shares make 1,235 dollars a contract.
    store.savePrints([printOf('1', { size: 1 }), printOf('2', { size: 2 }), printOf('3', { size: 3, canceled: true })]);
    const found = (least: number) => store.prints('SPX', 0, MONDAY_MS, true, least).map(({ id }) => id);
    expect([0, 1235, 1235.5, 2470, 2471].map(found)).toEqual([['1', '2'], ['1', '2'], ['2'], ['2'], []]);
  }));

test('reads the tape in time order, and the version changes only if the tape changes', () =>
  withStoreFile((store) => {
    const tape = () => [...store.tape('SPX', MONDAY_MS, MONDAY_MS + 2, true)].map(({ id }) => id);
    const version = () => store.tapeVersion('SPX', MONDAY_MS, MONDAY_MS + 2, true).version;
    const versions = [version()];
    const save = (...prints: ReturnType<typeof printOf>[]) => {
      store.savePrints(prints);
      versions.push(version());
    };
    save(printOf('b', { at: MONDAY_MS + 2 }), printOf('a', { at: MONDAY_MS }));
    expect(tape()).toEqual(['a', 'b']);
    // A print of another underlying, one outside the range, one of the other kind, and one already stored.
    const others = [printOf('c', { underlying: 'NDX' }), printOf('d', { at: MONDAY_MS + 3 })];
    save(...others, printOf('e', { simulated: false }), printOf('a', { at: MONDAY_MS }));
    save(printOf('a', { canceled: true }));
    expect(tape()).toEqual(['b']);
    save(printOf('f', { at: MONDAY_MS + 1 }));
    expect(tape()).toEqual(['f', 'b']);
    const isSame = versions.slice(1).map((version, i) => version === versions[i]);
    expect(isSame).toEqual([false, true, false, false]);
    // An abandoned iteration does not block later reads.
    for (const _ of store.tape('SPX', 0, MONDAY_MS + 9, true)) break;
    expect(tape()).toEqual(['f', 'b']);
  }));

test.each([
  ['a copy in the same call', [[printOf('1'), printOf('1')]], [1], 1],
  ['a copy in a later call', [[printOf('1')], [printOf('1'), printOf('2')]], [1, 1], 2],
  ['a canceled copy in a later call', [[printOf('1'), printOf('2')], [printOf('1', { canceled: true })]], [2, 0], 1],
  ['canceled in the same call', [[printOf('1'), printOf('1', { canceled: true })]], [1], 0],
  ['canceled in its first copy', [[printOf('1', { canceled: true })]], [1], 0],
  ['an uncanceled copy after the cancellation', [[printOf('1', { canceled: true })], [printOf('1')]], [1, 0], 0],
  [
    'a cancellation of the other kind of data',
    [[printOf('1')], [printOf('1', { canceled: true, simulated: false })]],
    [1, 1],
    1,
  ],
  ['no prints', [[]], [0], 0],
])('counts a print once: %s', (_, calls, added, left) =>
  withStoreFile((store) => {
    expect(calls.map((prints) => store.savePrints(prints).added)).toEqual(added);
    expect(store.prints('SPX', 0, MONDAY_MS, true, 0)).toHaveLength(left);
  }),
);

test('closes prefer the official close, else the last spot of the day; newest days, oldest first', () =>
  withStoreFile((store) => {
    const day = (days: number, spot: number, hours = 0) =>
      store.saveChain(chainOf({ asOf: MONDAY_MS + days * DAY_MS - hours * HOUR_MS, spot, simulated: false }));
    day(0, 100);
    day(1, 111);
    day(1, 110, 2);
    day(2, 120);
    store.saveCloses([
      ...[closeWith({ date: '2026-01-02', close: 1 }), closeWith({ close: 2 }), closeWith({ close: 105 })],
      closeWith({ ticker: 'NDX', date: '2026-01-06', close: 7 }),
    ]);
    const closes = (date: string, limit: number) =>
      store
        .closes('SPX', date, limit, false)
        .map((close) => `${close.date.slice(-1)} ${close.close}`)
        .join(', ');
    for (const [date, limit, expected] of [
      ['2026-12-31', 10, '2 1, 5 105, 6 111, 7 120'],
      ['2026-12-31', 2, '6 111, 7 120'],
      ['2026-01-06', 2, '5 105, 6 111'],
      ['2026-01-05', 1, '5 105'],
      ['2026-01-01', 5, ''],
      ['2026-12-31', 0, ''],
    ] as const) {
      expect(closes(date, limit)).toBe(expected);
    }
  }));

test('official closes are those that were delivered, by date, without spots of snapshots', () =>
  withStoreFile((store) => {
    const close = (date: string, changes = {}) => closeWith({ date, close: Number(date.slice(-2)), ...changes });
    store.saveChain(chainOf({ simulated: false }));
    store.saveCloses([
      close('2026-01-08'),
      close('2026-01-06', { volume: 5 }),
      close('2026-01-07'),
      close('2026-01-09'),
    ]);
    store.saveCloses([close('2026-01-07', { ticker: 'NDX' }), close('2026-01-07', { simulated: true, close: 1 })]);
    expect(store.officialCloses('SPX', '2026-01-05', '2026-01-08', false)).toEqual([
      close('2026-01-06', { volume: 5 }),
      close('2026-01-07'),
      close('2026-01-08'),
    ]);
    expect(store.officialCloses('SPX', '2026-01-07', '2026-01-07', true)).toEqual([
      close('2026-01-07', { simulated: true, close: 1 }),
    ]);
    expect(store.officialCloses('SPX', '2026-01-08', '2026-01-07', false)).toEqual([]);
  }));

test('closes agree with a plain computation for any mixture of closes and snapshots', () =>
  withStoreFile((store) => {
    const dates = Array.from({ length: 12 }, (_, day) => new Date(MONDAY_MS + day * DAY_MS).toISOString().slice(0, 10));
    const subset = fc.uniqueArray(fc.nat(dates.length - 1));
    let round = 0;
    fc.assert(
      fc.property(
        subset,
        subset,
        fc.nat(dates.length - 1),
        fc.integer({ min: 1, max: 13 }),
        (official, seen, upTo, limit) => {
          const ticker = `T${round++}`;
          store.transaction(() => {
            store.saveCloses(official.map((day) => closeWith({ ticker, date: dates[day]!, close: day + 0.5 })));
            const empty = { underlying: ticker, simulated: false, count: 0 };
            for (const day of seen)
              store.saveChain(chainOf({ ...empty, asOf: MONDAY_MS + day * DAY_MS, spot: day + 1 }));
          });
          const expected = dates
            .map((date, day) => ({
              date,
              close: official.includes(day) ? day + 0.5 : seen.includes(day) ? day + 1 : NaN,
            }))
            .filter(({ date, close }) => date <= dates[upTo]! && !Number.isNaN(close))
            .slice(-limit);
          const found = store.closes(ticker, dates[upTo]!, limit, false);
          expect(found.map(({ date, close }) => ({ date, close }))).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  }));

test('a transaction stores everything or nothing', () =>
  withStoreFile((store) => {
    const half = () =>
      store.transaction(() => {
        store.saveChain(chainOf());
        store.savePrints([printOf('1')]);
        throw new Error('half way');
      });
    expect(half).toThrow('half way');
    expect(store.underlyings(true)).toEqual([]);
    expect(store.savePrints([printOf('1')]).added).toBe(1);
    // One bad row makes the whole call fail.
    expect(() => store.savePrints([printOf('2'), printOf('3', { price: NaN })])).toThrow('NOT NULL');
    expect(store.prints('SPX', 0, MONDAY_MS, true, 0)).toHaveLength(1);
    expect(() => store.transaction(async () => store.saveChain(chainOf()))).toThrow('await');
    expect(store.underlyings(true)).toEqual([]);
    expect(store.transaction(() => store.transaction(() => 42))).toBe(42);
  }));
