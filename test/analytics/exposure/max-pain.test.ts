import { expect, test } from 'bun:test';
import { maxPain } from '../../../src/analytics/exposure/max-pain.ts';
import { generator } from '../../../src/bench/workloads.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { bruteMaxPain } from '../plain.ts';
import { contract, LATER, linesOf, prepared } from '../small-chains.ts';

/** The strikes of one series, with the open interest of the call and of the put. */
const rowsOf = (text: string, multiplier = 100) =>
  linesOf(text).flatMap(([strike, call, put]) => [
    contract({ strike, callPut: 1, openInterest: call, multiplier }),
    contract({ strike, callPut: -1, openInterest: put, multiplier }),
  ]);

function painOf(rows: readonly ContractRow[]): number {
  const ready = prepared(rows);
  return maxPain(ready, ready.series[0]!);
}

const plainPain = (rows: readonly ContractRow[]) =>
  bruteMaxPain(rows.map((row) => ({ ...row, weight: row.openInterest })));

test.each([
  ['the middle of a strangle with more weight on the left', '90 0/3, 100 0/0, 110 2/0', 90],
  ['calls below and puts above: the strike at which the payouts balance', '90 10/0, 95 0/0, 100 0/4, 110 0/5', 90],
  ['more puts than calls in the money', '90 6/0, 95 0/0, 100 0/4, 110 0/5', 100],
  ['the lowest strike on a tie', '90 1/0, 95 0/0, 100 0/1', 90],
  ['the lowest strike on a tie between inner strikes', '80 0/9, 90 5/0, 95 0/0, 100 0/5, 120 9/0', 90],
  ['one strike', '100 5/5', 100],
  ['no open interest: the lowest strike', '90 0/0, 100 0/0', 90],
  ['strikes that are not whole dollars', '57.5 2/0, 58 0/0, 58.5 0/3', 58.5],
])('%s', (_what, lines, expected) => {
  expect([painOf(rowsOf(lines)), plainPain(rowsOf(lines))]).toEqual([expected, expected]);
});

test('a tie remains a tie if the sums differ in the last digit', () => {
  // The payouts at 90.1 and 90.7 are the same sum, added in a different order.
  const rows = rowsOf('90.1 0.1/0, 90.4 0.2/0.2, 90.7 0/0.1');
  expect(painOf(rows)).toBe(plainPain(rows));
});

test('depends on the shares per contract', () => {
  expect(painOf([...rowsOf('90 5/0', 10), ...rowsOf('95 0/0, 100 0/1')])).toBe(100);
});

test('uses only the given series', () => {
  const ready = prepared([...rowsOf('90 0/1, 100 0/5'), contract({ expiry: LATER, strike: 95, openInterest: 999 })]);
  expect(ready.series.map((series) => maxPain(ready, series))).toEqual([100, 95]);
});

test('agrees with brute force on random chains', () => {
  const random = generator(1);
  const below = (most: number) => Math.floor(most * random());
  for (let chain = 0; chain < 200; chain++) {
    const lines = Array.from({ length: 1 + below(12) }, (_, i) => `${80 + 2.5 * i} ${below(50)}/${below(50)}`);
    const rows = rowsOf(lines.join(', '));
    expect(painOf(rows)).toBe(plainPain(rows));
  }
});
