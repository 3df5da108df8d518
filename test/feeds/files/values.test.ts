import { describe, expect, test } from 'bun:test';
import type { Chain } from '../../../src/market/chain.ts';
import { chain } from './reading.ts';

/** The treatment of unusual or impossible values: the table of docs/market-data.md. */
type Column = 'bid' | 'ask' | 'last' | 'volume' | 'openInterest' | 'iv' | 'delta' | 'gamma';
const NAMES: Readonly<Record<Column, { readonly csv: string; readonly json: string }>> = {
  ...{ bid: { csv: 'bid', json: 'bid' }, ask: { csv: 'ask', json: 'ask' } },
  ...{ last: { csv: 'last', json: 'last_trade_price' }, volume: { csv: 'volume', json: 'volume' } },
  openInterest: { csv: 'open_interest', json: 'open_interest' },
  iv: { csv: 'iv', json: 'iv' },
  delta: { csv: 'delta', json: 'delta' },
  gamma: { csv: 'gamma', json: 'gamma' },
};
const USUAL: Readonly<Record<Column, number>> = {
  ...{ bid: 1, ask: 1.2, last: 1.1, volume: 3, openInterest: 10, iv: 0.2, delta: 0.5, gamma: 0.01 },
};

const NONE = Number.NaN;
const BAD = { bad_value: 1 };
const cases: [column: Column, written: string, expected: number, counted: Record<string, number>][] = [
  // Missing, and not counted.
  ['bid', '', NONE, {}],
  ['bid', 'NaN', NONE, {}],
  ['openInterest', 'nan', NONE, {}],
  ['iv', 'null', NONE, {}],
  ['delta', 'N/A', NONE, {}],
  ['iv', '0', NONE, {}],
  // Unusual, and stored as given: the analysis judges them.
  ['iv', '0.00001', 0.00001, {}],
  ['iv', '1e-5', 0.00001, {}],
  ['bid', '3', 3, {}],
  ['bid', '0', 0, {}],
  ['volume', '1,200', 1200, {}],
  ['delta', '-1', -1, {}],
  // Impossible: stored as missing. The row stays.
  ['openInterest', '-5', NONE, BAD],
  ['bid', '-0.01', NONE, BAD],
  ['ask', 'Infinity', NONE, BAD],
  ['last', '1e999', NONE, BAD],
  ['volume', 'many', NONE, BAD],
  ['iv', '100.1', NONE, BAD],
  ['iv', '-0.2', NONE, BAD],
  ['delta', '1.01', NONE, BAD],
  ['gamma', '-0.1', NONE, BAD],
  ['openInterest', '1e10', NONE, BAD],
];

const SYMBOL = 'TEST260918C00100000';
const asCsv = (values: Readonly<Record<Column, number | string>>) => {
  const named = Object.entries(values).map(([column, value]) => [NAMES[column as Column].csv, `"${value}"`]);
  const header = ['underlying', 'as_of', 'spot', 'symbol', ...named.map(([name]) => name)];
  const cells = ['TEST', '2026-08-21T16:00:00Z', '100', SYMBOL, ...named.map(([, value]) => value)];
  return `${header}\n${cells}\n`;
};
const asJson = (values: Readonly<Record<Column, number | string>>) => {
  const option = Object.fromEntries(
    Object.entries(values).map(([column, value]) => [NAMES[column as Column].json, value]),
  );
  const options = [{ option: SYMBOL, ...option }];
  return JSON.stringify({ data: { current_price: 100, last_trade_time: '2026-08-21T12:00:00', options } });
};

describe.each([
  ['chain CSV', asCsv],
  ['delayed-quote JSON', asJson],
])('%s', (_format, written) => {
  test.each(cases)('%s %p: %p, %j', (column, text, expected, counted) => {
    const read: Chain = chain(written({ ...USUAL, [column]: text }));
    expect(read[column][0]).toEqual(expected);
    expect(read.refused).toEqual(counted);
    for (const other of Object.keys(USUAL) as Column[]) {
      if (other !== column) expect([other, read[other][0]]).toEqual([other, USUAL[other]]);
    }
  });
});

test('keeps the rows of contracts that have expired, because they are settled, not wrong', () => {
  const past = asCsv(USUAL).replaceAll(SYMBOL, 'TEST260814C00100000').split('\n')[1];
  const read = chain(`${asCsv(USUAL)}${past}\n`);
  expect(read.series.map(({ expiry }) => expiry)).toEqual(['2026-08-14', '2026-09-18']);
  expect(read.refused).toEqual({});
});
