import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';

/** Reads rows with further columns: name, cell of the first row, cell of the second row. */
function read(base: Record<string, [string, string]>, more: readonly (readonly string[])[], toml?: string) {
  const columns = [...Object.entries(base).map(([name, cells]) => [name, ...cells]), ...more];
  const text = [0, 1, 2].map((line) => columns.map((column) => column[line]).join(',')).join('\n');
  const stated = toml === undefined ? undefined : { mapping: parseMapping(toml, 'm.toml') };
  return runToCompletion(readMarketFile(Buffer.from(`${text}\n`), { origin: 'a.csv', stated }))[0]!;
}

const contract: Record<string, [string, string]> = { strike: ['100', '100'], bid: ['3', '2.5'], ask: ['3.2', '2.7'] };
const usual = {
  ...{ ticker: ['ABC', 'ABC'], quote_date: ['2026-08-21', '2026-08-21'], expiration: ['2026-09-18', '2026-09-18'] },
  ...{ option_type: ['call', 'put'], ...contract, open_interest: ['10', '20'], iv: ['0.25', ''] },
} as Record<string, [string, string]>;
const own = {
  ...{ underlying: ['ABC', 'ABC'], as_of: ['2026-08-21T20:00:00Z', '2026-08-21T20:00:00Z'] },
  ...{ expiry: ['2026-09-18', '2026-09-18'], put_call: ['C', 'P'] },
  ...{ ...contract, open_interest: ['10', '20'], iv: ['0.25', ''] },
} as Record<string, [string, string]>;

test.each([
  [
    'numbers in other forms',
    usual,
    [
      ['impliedvol', '25%', '0.3'],
      ['openinterest', '10.0', ''],
    ],
  ],
  [
    'dates in other forms',
    usual,
    [
      ['quotedate', '08/21/2026', '2026-08-21 15:59'],
      ['exp date', '9/18/26', ''],
    ],
  ],
  ['sides in other words', usual, [['call/put', 'C', 'PE']]],
  [
    'columns that may have another meaning',
    usual,
    [
      ['vol', '0.2', '0.2'],
      ['volume', '1', '2'],
      ['trade_date', '2026-08-20', ''],
    ],
  ],
  [
    'columns of Zomma’s table',
    own,
    [
      ['impliedvol', '0.25', '0.3'],
      ['quote_date', '2026-08-21', '2026-08-21'],
    ],
  ],
  ['a time after the New York day', own, [['quote_datetime', '2026-08-22T01:00:00Z', '2026-08-21 21:00']]],
])('takes the first of two columns that agree: %s', (_what, base, more) => {
  expect(read(base, more)).toMatchObject({ kind: 'chain', chain: { count: 2 } });
});

test.each([
  [
    'volatilities',
    usual,
    [['impliedvol', '0.26', '']],
    'iv',
    '"iv" and "impliedvol" differ, first in row 1 with "0.25" and "0.26"',
  ],
  [
    'open interest of one name',
    usual,
    [['openinterest', '', '21']],
    'open_interest',
    '"open_interest" and "openinterest" differ, first in row 2 with "20" and "21"',
  ],
  [
    'dates',
    usual,
    [['quotedate', '2026-08-21', '2026-08-20']],
    'as_of',
    '"quote_date" and "quotedate" differ, first in row 2 with "2026-08-21" and "2026-08-20"',
  ],
  [
    'sides',
    usual,
    [['right', 'C', 'C']],
    'put_call',
    '"option_type" and "right" differ, first in row 2 with "put" and "C"',
  ],
  ['columns of Zomma’s table', own, [['impliedvol', '0.26', '']], 'iv', '"iv" and "impliedvol" differ, first in row 1'],
])('refuses two columns that differ: %s', (_what, base, more, field, words) => {
  const delivery = read(base, more);
  expect(delivery).toMatchObject({
    kind: 'rejection',
    reason: expect.stringContaining(`${field} is named twice: columns ${words}`),
  });
});

test.each([
  ['open_interest = "openinterest"', 21],
  ['open_interest = "open_interest"', 20],
])('a mapping with %s chooses', (line, expected) => {
  const delivery = read(usual, [['openinterest', '10', '21']], `[columns]\n${line}\n`);
  expect(delivery).toMatchObject({ kind: 'chain', chain: { openInterest: new Float64Array([10, expected]) } });
});

test('a mapping of another field does not choose', () => {
  const delivery = read(usual, [['openinterest', '10', '21']], '[columns]\nstrike = "strike"\n');
  expect(delivery).toMatchObject({
    kind: 'rejection',
    reason: expect.stringContaining('open_interest is named twice'),
  });
});
