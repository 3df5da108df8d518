import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import type { CashDividend } from '../../src/market/cash-dividend.ts';
import { dividendTable } from '../../src/store/close-table.ts';
import { MIGRATIONS, migrate } from '../../src/store/migrations.ts';
import { memoryDatabase } from './samples.ts';

const dividend = (overrides: Partial<CashDividend> = {}): CashDividend => ({
  ...{ ticker: 'SPY', exDate: '2026-03-20', amount: 1.79, status: null, knownFrom: 5, simulated: false },
  ...overrides,
});

test('dividends are read by ticker, kind and date; a later one of the same moment replaces an earlier one', () => {
  const { saveDividends, dividends } = dividendTable(memoryDatabase());
  const [march, june] = [dividend({ status: 'estimated' }), dividend({ exDate: '2026-06-19', status: 'estimated' })];
  saveDividends([june, march, dividend({ ticker: 'QQQ' }), dividend({ simulated: true, amount: 9 })]);
  const read = (from = '2026-01-01', to = '2026-12-31') => dividends('SPY', from, to, false, 9);
  expect(read()).toEqual([march, june]);
  expect([read('2026-03-20', '2026-03-20'), read('2026-03-21'), read('2026-07-01')]).toEqual([[march], [june], []]);
  expect(dividends('SPY', '2026-01-01', '2026-12-31', true, 9)).toEqual([dividend({ simulated: true, amount: 9 })]);
  const declared = dividend({ amount: 1.8, status: 'declared' });
  saveDividends([declared, dividend({ exDate: '2026-06-19', amount: 0 })]);
  expect(read(), 'an amount of 0 removes a dividend').toEqual([declared]);
});

test('of several dividends of a date, each counts from when it was known until the next; a repetition counts from the first', () => {
  const { saveDividends, dividends } = dividendTable(memoryDatabase());
  const [estimated, declared] = [dividend({ status: 'estimated' }), dividend({ amount: 1.8, knownFrom: 20 })];
  const [withdrawn, earlier] = [dividend({ amount: 0, knownFrom: 30 }), dividend({ amount: 1.7, knownFrom: 2 })];
  const known = (at: number) => dividends('SPY', '2026-01-01', '2026-12-31', false, at)[0];
  // A file is read again, and a table with earlier moments comes later.
  for (const each of [
    estimated,
    { ...estimated, knownFrom: 9 },
    declared,
    { ...declared, knownFrom: 25 },
    withdrawn,
    earlier,
  ])
    saveDividends([each]);
  const moments = [1, 2, 4, 5, 19, 20, 29, 30, 99];
  const expected = [undefined, earlier, earlier, estimated, estimated, declared, declared, undefined, undefined];
  expect(moments.map(known)).toEqual(expected);
});

test('the dividends of schema 17 stay, and are known from the upgrade on', () => {
  const db = new Database(':memory:', { strict: true });
  migrate(db, MIGRATIONS.slice(0, 5));
  db.run("INSERT INTO dividends VALUES (0, 'SPY', '2099-03-20', 1.79, 'declared'), (1, 'SPY', '2099-03-20', 9, NULL)");
  const before = Date.now();
  migrate(db);
  const read = (at: number) => dividendTable(db).dividends('SPY', '2099-01-01', '2099-12-31', false, at);
  const [kept] = read(Date.now());
  expect(kept).toEqual(dividend({ exDate: '2099-03-20', status: 'declared', knownFrom: kept!.knownFrom }));
  expect(kept!.knownFrom).toBeWithin(before - 1_000, Date.now() + 1);
  expect(read(before - 1_000)).toEqual([]);
});
