import { expect, test } from 'bun:test';
import type { CashDividend } from '../../src/market/cash-dividend.ts';
import { dividendTable } from '../../src/store/close-table.ts';
import { memoryDatabase } from './samples.ts';

const dividend = (overrides: Partial<CashDividend> = {}): CashDividend => ({
  ...{ ticker: 'SPY', exDate: '2026-03-20', amount: 1.79, status: null, simulated: false },
  ...overrides,
});

test('dividends are read by ticker, kind and date; a later one replaces an earlier one of its date', () => {
  const { saveDividends, dividends } = dividendTable(memoryDatabase());
  const [march, june] = [dividend({ status: 'estimated' }), dividend({ exDate: '2026-06-19', status: 'estimated' })];
  saveDividends([june, march, dividend({ ticker: 'QQQ' }), dividend({ simulated: true, amount: 9 })]);
  const read = (from = '2026-01-01', to = '2026-12-31') => dividends('SPY', from, to, false);
  expect(read()).toEqual([march, june]);
  expect([read('2026-03-20', '2026-03-20'), read('2026-03-21'), read('2026-07-01')]).toEqual([[march], [june], []]);
  expect(dividends('SPY', '2026-01-01', '2026-12-31', true)).toEqual([dividend({ simulated: true, amount: 9 })]);
  const declared = dividend({ amount: 1.8, status: 'declared' });
  saveDividends([declared, dividend({ exDate: '2026-06-19', amount: 0 })]);
  expect(read(), 'an amount of 0 removes a dividend').toEqual([declared]);
});
