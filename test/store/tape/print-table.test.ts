import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { OperatorError } from '../../../src/core/errors.ts';
import { randomOf } from '../../../src/feeds/simulated/random.ts';
import { addDays, newYorkInstant } from '../../../src/market/calendar.ts';
import type { Print, PrintSum } from '../../../src/market/prints.ts';
import { PARTS } from '../../../src/market/tape.ts';
import { printOfRow, type TapeColumns } from '../../../src/market/tape-columns.ts';
import { BY_CONTRACT, CELL, sumsOf, TapeSummer, type TapeSums } from '../../../src/market/tape-sums.ts';
import { MIGRATIONS, migrate } from '../../../src/store/migrations.ts';
import { printTable, type TapeSizes } from '../../../src/store/tape/print-table.ts';
import { withFolder } from '../../support/process.ts';
import { IS_FULL } from '../../support/size.ts';
import { tapeColumnsOf } from '../../support/tapes.ts';
import {
  DAY_MS,
  MONDAY_MS,
  memoryDatabase,
  outputOf,
  printOf,
  spawnOnStore,
  withStore,
  withStoreFile,
} from '../samples.ts';

/** Compares the packed tape (columns) with the tape in rows, for any prints in any order and any time of packing. */
const SMALL: TapeSizes = { part: 24, atOnce: 20, rows: 16, indexed: 50 };
const FIRST = newYorkInstant('2026-01-05', '09:30');
const LATER_DAY = '2026-02-01';
const LARGE = 30_000;
/** All readings of a tape take a third of a second: after every so many batches. */
const READ_EVERY = IS_FULL ? 5 : 10;

function tableOn(db: Database = memoryDatabase(), sizes?: TapeSizes) {
  const table = printTable(db, sizes);
  table.sumPrintsFrom(LARGE);
  return table;
}

function pack(table: ReturnType<typeof tableOn>, beforeDay = LATER_DAY, rows = 37): number {
  return [...table.packTape(beforeDay, { rowsAtOnce: rows })].reduce((sum, each) => sum + each, 0);
}

/** Prints of three days: prices on and off ticks, several prints at one moment, one-sided or crossed quotes, long ids. */
function tape(seed: number, count: number): Print[] {
  const random = randomOf(seed, 3);
  const one = <Value>(values: readonly Value[]) => random.pick(values, () => 1);
  return Array.from({ length: count }, (_, number) => {
    const bid = one([null, 0, 1.05, 12.1, 12.3, 100 / 3]);
    return {
      ...printOf(`p${number}-${'x'.repeat(number % 40)}`),
      simulated: false,
      at: FIRST + Math.floor(3 * random.uniform()) * DAY_MS + Math.floor(200 * random.uniform()) * one([1, 1, 60_000]),
      root: one(['SPX', 'SPXW', 'SPXW', 'SPX1']),
      expiry: one(['2026-01-05', '2026-01-16', '2026-03-20']),
      callPut: one([1, -1] as const),
      strike: one([5900, 5900.5, 6000, 1e-3]),
      price: one([0.01, 1.05, 12.1, 12.35, 12.3, 100 / 3, 99_999.99]),
      size: one([1, 1, 5, 40, 10_000_000]),
      multiplier: one([100, 100, 100, 10]),
      side: one(['ask', 'bid', 'mid', null, null, null] as const),
      bid,
      ask: one([null, bid, 12.4, (bid ?? 3) + 0.05]),
      delta: one([null, 0.5, -0.41, -1, 0.123456789012, 1 / 3]),
      ...{ multiLeg: random.uniform() < 0.2, sweep: random.uniform() < 0.2, block: random.uniform() < 0.1 },
      canceled: random.uniform() < 0.03,
    };
  });
}

/** The prints as feeds deliver them: out of order, with copies, corrections (also of the time within the day) and cancellations. */
function batchesOf(seed: number, prints: readonly Print[]): Print[][] {
  const random = randomOf(seed, 4);
  const sent = prints.flatMap((print): [number, Print][] => {
    const arrival = random.uniform();
    const copies: [number, Print][] = [[arrival, print]];
    const later = () => arrival + (1.2 - arrival) * random.uniform();
    if (random.uniform() < 0.2) copies.push([later(), print]);
    if (random.uniform() < 0.15) copies.push([later(), { ...print, size: print.size + 1, canceled: false }]);
    if (random.uniform() < 0.05) copies.push([later(), { ...print, at: print.at + 1, price: 7.77, canceled: false }]);
    if (random.uniform() < 0.1) copies.push([later(), { ...print, canceled: true }]);
    return copies;
  });
  const inOrder = sent.toSorted(([a], [b]) => a - b).map(([, print]) => print);
  const batches: Print[][] = [];
  while (inOrder.length > 0) batches.push(inOrder.splice(0, 1 + Math.floor(150 * random.uniform() ** 2)));
  return batches;
}

/** Large prints as they are read from columns. */
const large = (table: ReturnType<typeof tableOn>, from: number, to: number, least: number) =>
  [...table.largePrints('SPX', from, to, false, least)].flatMap(printsIn).map(textOf);

const printsIn = (columns: TapeColumns) =>
  Array.from({ length: columns.count }, (_, row) => {
    const { id, ...print } = printOfRow(columns, row, { id: '', underlying: 'SPX', canceled: false, simulated: false });
    return print;
  });

const FIELDS = Object.keys(printOf('')).filter((name) => name !== 'id') as (keyof Print)[];
/** A print without its id. Texts are compared faster than objects. */
const textOf = (print: Omit<Print, 'id'>) => FIELDS.map((name) => String(print[name as keyof typeof print])).join(' ');
const withoutIds = (prints: Iterable<Print>) => [...prints].map(textOf);

function summed(sums: Iterable<TapeSums>): unknown {
  const summer = new TapeSummer();
  for (const each of sums) summer.add(each);
  const { contracts, byContract, cells } = summer.sums();
  const key = (contract: number) =>
    `${Object.values(contracts.series[contracts.seriesIndex[contract]!]!)} ${contracts.strike[contract]}`;
  const rows = Array.from(contracts.strike, (_, contract) => [
    key(contract),
    ...byContract.slice(BY_CONTRACT.width * contract, BY_CONTRACT.width * (contract + 1)),
  ]);
  const totals = Array.from(cells.contract, (contract, cell) => [
    key(contract),
    cells.manner[cell],
    // Each figure with its rounding error added, exact beyond 53 bits.
    ...Array.from({ length: CELL.width }, (_, figure) => {
      const index = CELL.width * cell + figure;
      return BigInt(cells.values[index]!) + BigInt(cells.lost?.[index] ?? 0);
    }),
  ]);
  return [rows.map(String).sort(), totals.map(String).sort()];
}

/** The results of every way to read a tape. */
function readings(table: ReturnType<typeof tableOn>) {
  const end = FIRST + 9 * DAY_MS;
  const ranges: [number, number][] = [
    [0, end],
    [FIRST + 30, FIRST + 120],
    [FIRST + 50, FIRST + DAY_MS + 90],
    [FIRST + DAY_MS - 1, FIRST + 2 * DAY_MS + 100 * 60_000],
    [FIRST + 2 * DAY_MS + 7, FIRST + 2 * DAY_MS + 7],
    [end, end],
    [FIRST + 10, FIRST],
  ];
  // Sums are exact up to 900 billion dollars. The damaged sizes of these prints add up to more, so that the last digit
  // depends on the order of addition.
  const sorted = (sums: readonly PrintSum[]) =>
    sums.map((each) => JSON.stringify({ ...each, premium: Number(each.premium.toPrecision(14)) })).sort();
  function* stretches(from: number, to: number, mostParts: number) {
    for (let start = from; ; ) {
      const next = table.stretch('SPX', start, to, false, mostParts);
      if (next === undefined) return;
      expect(next.toMs).toBeGreaterThanOrEqual(start);
      yield next;
      start = next.toMs + 1;
    }
  }
  for (const [from, to] of ranges) {
    for (const least of [0, 1_000, 400_000]) {
      expect(large(table, from, to, least)).toEqual(withoutIds(table.prints('SPX', from, to, false, least)));
    }
  }
  return ranges.map(([from, to]) => ({
    prints: withoutIds(table.prints('SPX', from, to, false, 0)),
    large: withoutIds(table.prints('SPX', from, to, false, 400_000)),
    tape: withoutIds(table.tape('SPX', from, to, false)),
    later: withoutIds(table.tape('SPX', from, to, false, '2026-01-16')),
    sums: sorted(table.printSums('SPX', from, to, false, LARGE)),
    others: sorted(table.printSums('SPX', from, to, false, 1_000)),
    last: table.lastPrintAt('SPX', false, to),
    byMany: summed([...stretches(from, to, PARTS.many)].map((each) => each.sums())),
    byBlocks: summed([...stretches(from, to, PARTS.few)].map((each) => each.sums())),
    bySums: summed([...stretches(from, to, PARTS.ofDay)].map((each) => each.sums())),
    byStretch: summed([...stretches(from, to, PARTS.one)].map((each) => each.sums())),
    byColumns: summed([...stretches(from, to, PARTS.one)].map((each) => sumsOf(each.columns(), 500))),
    byPrints: summed([...stretches(from, to, PARTS.one)].map((each) => sumsOf(tapeColumnsOf(each.prints()), 500))),
  }));
}

describe.each(IS_FULL ? [1, 2, 3, 4] : [1])('seed %p', (seed) => {
  const batches = batchesOf(seed, tape(seed, IS_FULL ? 900 : 450));
  const [rows, packed] = [tableOn(undefined, SMALL), memoryDatabase()];
  const table = tableOn(packed, SMALL);
  const random = randomOf(seed, 5);

  test('counts, prints and sums equal those of rows, whenever a day is packed', () => {
    for (const [number, batch] of batches.entries()) {
      const how = { atOnce: random.uniform() < 0.5 };
      expect([number, table.savePrints(batch, how)]).toEqual([number, rows.savePrints(batch)]);
      if (random.uniform() < 0.3)
        pack(
          table,
          random.pick(['2026-01-06', '2026-01-07', LATER_DAY], () => 1),
        );
      if (number % READ_EVERY === 0) expect(readings(table)).toEqual(readings(rows));
    }
    const expected = readings(rows);
    expect(readings(table)).toEqual(expected);
    pack(table);
    expect(packed.query('SELECT count(*) AS count FROM prints').get()).toEqual({ count: 0 });
    expect(packed.query('SELECT count(*) AS count FROM tape_parts').get()).not.toEqual({ count: 0 });
    expect(readings(table)).toEqual(expected);
  });

  test('saving the same prints again changes nothing', () => {
    const [before, version] = [readings(table), table.tapeVersion('SPX', 0, FIRST + 9 * DAY_MS, false).version];
    for (const atOnce of [true, false]) {
      for (const batch of batches) expect(table.savePrints(batch, { atOnce })).toEqual({ added: 0, changed: 0 });
      expect(table.tapeVersion('SPX', 0, FIRST + 9 * DAY_MS, false).version).toBe(version);
      expect(pack(table)).toBe(0);
    }
    expect(readings(table)).toEqual(before);
    expect(version).toBe(rows.tapeVersion('SPX', 0, FIRST + 9 * DAY_MS, false).version);
  });
});

const CLOSED = { simulated: false, canceled: false, at: FIRST };

test.each<[string, Partial<Print>[], { added: number; changed: number }, number[]]>([
  ['a copy', [{}], { added: 0, changed: 0 }, [40]],
  ['a correction', [{ size: 41 }], { added: 0, changed: 1 }, [41]],
  ['a correction of the time', [{ size: 41, at: FIRST + 5 }], { added: 0, changed: 1 }, [41]],
  ['a correction, then the original again', [{ size: 41 }, {}], { added: 0, changed: 1 }, [41]],
  ['two corrections', [{ size: 41 }, { size: 42 }], { added: 0, changed: 2 }, [42]],
  ['a cancellation', [{ canceled: true }], { added: 0, changed: 1 }, []],
  ['a cancellation, then the original again', [{ canceled: true }, {}], { added: 0, changed: 1 }, []],
  ['a cancellation, then a correction', [{ canceled: true }, { size: 41 }], { added: 0, changed: 1 }, []],
  ['a correction, then a cancellation', [{ size: 41 }, { canceled: true }], { added: 0, changed: 2 }, []],
  ['another print of the same moment', [{ id: 'late', size: 1 }], { added: 1, changed: 0 }, [40, 1]],
  ['another print of an earlier moment', [{ id: 'late', size: 1, at: FIRST - 1 }], { added: 1, changed: 0 }, [1, 40]],
  ['a print of another day, which is packed separately', [{ at: FIRST + DAY_MS }], { added: 1, changed: 0 }, [40, 40]],
  ['a print of another underlying', [{ underlying: 'NDX' }], { added: 1, changed: 0 }, [40]],
  ['a print of the other kind of data', [{ simulated: true }], { added: 1, changed: 0 }, [40]],
])('a packed print, then %s', (_what, copies, counts, sizes) => {
  for (const again of [false, true]) {
    const table = tableOn();
    table.savePrints([printOf('a', CLOSED)]);
    expect(pack(table)).toBe(1);
    const total = { added: 0, changed: 0 };
    for (const copy of copies) {
      const { added, changed } = table.savePrints([printOf('a', { ...CLOSED, ...copy })]);
      total.added += added;
      total.changed += changed;
      if (again) pack(table);
    }
    expect(total).toEqual(counts);
    expect(table.prints('SPX', 0, FIRST + 9 * DAY_MS, false, 0).map(({ size }) => size)).toEqual(sizes);
    const version = () => table.tapeVersion('SPX', 0, FIRST + 9 * DAY_MS, false).version;
    const before = version();
    pack(table);
    expect(version()).toBe(before);
    expect(table.prints('SPX', 0, FIRST + 9 * DAY_MS, false, 0).map(({ size }) => size)).toEqual(sizes);
  }
});

test('reads large prints in bounded batches, also with equal moments or packing in between', () => {
  const [together, scattered] = [0, 1].map(() => tableOn(undefined, SMALL));
  const moments = [0, 0, 1, 5, 5, 5];
  const prints = Array.from({ length: 300 }, (_, number) =>
    printOf(`p${number}`, { ...CLOSED, at: FIRST + moments[Math.floor(number / 50)]!, size: number % 50 ? 40 : 4e4 }),
  );
  const sizes = (of: { size: number }[]) => of.map(({ size }) => size);
  together!.savePrints(prints);
  for (const [least, wanted] of [
    [1_000, prints],
    [30_000, prints],
    [1e7, prints.filter(({ size }) => size === 4e4)],
  ] as const) {
    const found: number[] = [];
    for (const columns of together!.largePrints('SPX', 0, FIRST + 9, false, least)) {
      expect(columns.count).toBeLessThanOrEqual(SMALL.rows);
      found.push(...sizes(printsIn(columns)));
    }
    expect(found).toEqual(sizes([...wanted]));
  }
  const meanwhile: number[] = [];
  scattered!.savePrints(prints.map((print, number) => ({ ...print, at: FIRST + number, size: 40 + number })));
  const packing = scattered!.packTape(LATER_DAY, { rowsAtOnce: 23 });
  for (const columns of scattered!.largePrints('SPX', 0, FIRST + 999, false, 0)) {
    meanwhile.push(...sizes(printsIn(columns)));
    packing.next();
  }
  expect(meanwhile).toEqual(prints.map((_, number) => 40 + number));
});

test('prints of the same hours become parts of a further layer, and no part is written anew until the day is packed', () => {
  const db = memoryDatabase();
  const table = tableOn(db, SMALL);
  const range = ['SPX', 0, FIRST + DAY_MS, false, 0] as const;
  const column = (name: string) => db.query(`SELECT ${name} FROM tape_parts ORDER BY id`).values().flat();
  const batch = (number: number) =>
    Array.from({ length: 200 }, (_, i) =>
      printOf(`${number}-${i}`, { ...CLOSED, at: FIRST + 60 * i + 7 * (number % 3), size: 1 + number }),
    );
  const all: Print[] = [];
  for (let number = 0; number < 6; number++) {
    const before = column('id');
    all.push(...batch(number));
    table.savePrints(batch(number), { atOnce: true });
    if (number < 4) expect(column('id').slice(0, before.length)).toEqual(before);
    expect(Math.max(...(column('layer') as number[]))).toBe(Math.min(number, 3));
    expect(withoutIds(table.prints(...range))).toEqual(withoutIds(all.toSorted((a, b) => a.at - b.at)));
  }
  const changed = [{ ...all[3]!, size: 41 }, { ...all[900]!, canceled: true }, all[500]!];
  expect(table.savePrints(changed)).toEqual({ added: 0, changed: 2 });
  const before = readings(table);
  [...table.packTape(LATER_DAY, { newFrom: 0 })];
  expect([readings(table), new Set(column('layer'))]).toEqual([before, new Set([0])]);
  table.savePrints(batch(6), { atOnce: true });
  [...table.packTape(LATER_DAY, { newFrom: 1 / 3 })];
  expect(new Set(column('layer'))).toEqual(new Set([0, 1]));
  expect(table.stretch('SPX', 0, FIRST + DAY_MS, false, PARTS.ofDay)!.toMs).toBeLessThan(FIRST + 10_000);
  pack(table);
  expect(new Set(column('layer'))).toEqual(new Set([0]));
});

test.each([
  ['rows that are packed afterwards', false],
  ['a part that is rewritten afterwards', true],
])('a stretch of %s still returns its prints', (_what, isPacked) => {
  const table = tableOn();
  table.savePrints([printOf('a', CLOSED), printOf('b', { ...CLOSED, at: FIRST + 2, size: 7 })]);
  if (isPacked) pack(table);
  const { prints } = table.stretch('SPX', 0, FIRST + 9, false, PARTS.one)!;
  table.savePrints([printOf('later', { ...CLOSED, at: FIRST + 20 })]);
  pack(table);
  expect(prints().map(({ size }) => size)).toEqual([40, 7]);
});

test('the parts of schema 16 stay, in the lowest layer', () => {
  const [stored, old] = [memoryDatabase(), new Database(':memory:', { strict: true })];
  const table = tableOn(stored);
  table.savePrints(tape(3, 300));
  pack(table);
  migrate(old, MIGRATIONS.slice(0, 4));
  const names = old.query<{ name: string }, []>("SELECT name FROM pragma_table_info('tape_parts')").all();
  const columns = names.map(({ name }) => name).join();
  const insert = old.prepare(`INSERT INTO tape_parts (${columns}) VALUES (${names.map(() => '?').join()})`);
  for (const row of stored.query<string[], []>(`SELECT ${columns} FROM tape_parts`).values()) insert.run(...row);
  migrate(old);
  const range = ['SPX', 0, FIRST + 9 * DAY_MS, false, 0] as const;
  expect(withoutIds(tableOn(old).prints(...range))).toEqual(withoutIds(table.prints(...range)));
  expect(old.query('SELECT DISTINCT layer FROM tape_parts').values()).toEqual([[0]]);
});

test('the open day stays in rows', () => {
  const db = memoryDatabase();
  const table = tableOn(db);
  table.savePrints(tape(1, 300));
  pack(table, '2026-01-07');
  const days = db.query('SELECT DISTINCT day FROM tape_parts ORDER BY day').values().flat();
  expect(days).toEqual(['2026-01-05', '2026-01-06']);
  const { least } = db.query<{ least: number }, []>('SELECT min(at) AS least FROM prints').get()!;
  expect(least).toBeGreaterThanOrEqual(newYorkInstant('2026-01-07', '00:00'));
});

test.each([
  ["x'00'", 'cut'],
  ['substr(its, 1, length(its) - 1)', 'shorter'],
  ["substr(its, 1, 20) || x'ff' || substr(its, 22)", 'one byte'],
])('a damaged part (%s) is named in the error, and the other days stay readable', (damage) => {
  for (const column of ['columns', 'ids', 'sums']) {
    const db = memoryDatabase();
    const table = tableOn(db);
    table.savePrints(tape(7, 3_000));
    pack(table);
    db.run(
      `UPDATE ${column === 'sums' ? 'tape_sums' : 'tape_parts'} SET ${column} = CAST(${damage.replaceAll('its', column)} AS BLOB)
       WHERE ${column === 'sums' ? 'first' : 'id'} IN (SELECT id FROM tape_parts WHERE day = '2026-01-06')`,
    );
    db.run('UPDATE tape_parts SET large_from = NULL');
    const read = {
      columns: () => table.prints('SPX', FIRST + DAY_MS, FIRST + 2 * DAY_MS - 1, false, 0),
      ids: () => table.savePrints([printOf('new', { ...CLOSED, at: FIRST + DAY_MS })]),
      sums: () =>
        table.stretch('SPX', newYorkInstant('2026-01-06', '00:00'), FIRST + 9 * DAY_MS, false, PARTS.ofDay)!.sums(),
    }[column]!;
    expect(read).toThrow(OperatorError);
    expect(read).toThrow(/(?:part \d+|the sum) of the tape of 2026-01-06 is damaged/);
    expect(table.prints('SPX', FIRST, FIRST + DAY_MS - 1, false, 0).length).toBeGreaterThan(100);
  }
});

test('packing does not change the version of the store, a write does', () =>
  withStoreFile((store) => {
    store.savePrints(tape(3, 200));
    const before = store.version();
    let packed = 0;
    for (const prints of store.packTape(LATER_DAY)) {
      packed += prints;
      expect(store.version()).toBe(before);
    }
    expect(packed).toBeGreaterThan(0);
    store.savePrints(tape(4, 10));
    expect(store.version()).not.toBe(before);
  }));

test('removal of old prints also removes their parts', () =>
  withStoreFile((store) => {
    store.savePrints(tape(3, 200));
    for (const _ of store.packTape(LATER_DAY));
    const left = () => store.prints('SPX', 0, FIRST + 9 * DAY_MS, false, 0);
    const all = left().length;
    const limits = { printsFromMs: newYorkInstant(addDays('2026-01-05', 1), '00:00'), presentMs: MONDAY_MS };
    while (store.removeOld(limits).prints > 0);
    expect(left().length).toBeLessThan(all);
    expect(left().every(({ at }) => at >= limits.printsFromMs)).toBe(true);
  }));

test('packing that is killed at any point neither loses nor duplicates prints', () =>
  withFolder(async (folder) => {
    const path = `${folder}/z.db`;
    const prints = Array.from({ length: 6_000 }, (_, i) =>
      printOf(`p${i}`, { simulated: false, at: FIRST + (i % 3) * DAY_MS + i, size: i + 1, canceled: false }),
    );
    const expectAll = () =>
      withStore((store) => {
        const sizes = store.prints('SPX', 0, FIRST + 9 * DAY_MS, false, 0).map(({ size }) => size);
        expect(sizes.sort((a, b) => a - b)).toEqual(prints.map(({ size }) => size));
      }, path);
    await withStore((store) => store.savePrints(prints), path);
    const program = `for (const step of store.packTape('2026-02-01', { rowsAtOnce: 300 })) require('node:fs').writeSync(1, step + '\\n');`;
    for (const steps of [1, 2, 3, 4]) {
      await outputOf(spawnOnStore(path, program), (output) => output.split('\n').length > steps);
      await expectAll();
    }
    await withStore((store) => store.packTape('2026-02-01').toArray(), path);
    await expectAll();
  }));
