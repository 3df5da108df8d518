import { expect, test } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { NOON_MS } from './reading.ts';
import { read } from './tapes.ts';

// A reader that was based on a parser of strings gave the same results for these files, except where a comment says so.

const HEADER = 'underlying,spot,symbol,bid,open_interest';
const row = (strike: number, bid = '1', spot = '98') => `TEST,${spot},TEST260918C00${strike}000,${bid},1`;
const table = (...rows: string[]) => `${HEADER}\n${rows.join('\n')}\n`;
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');
const bigEndian = (text: string) => utf16(text).swap16();
const NO_TABLE =
  'the columns underlying, spot, "symbol", bid, open_interest are no known table. As a chain it lacks as_of, expiry, put_call, strike, ask; as a tape it lacks executed_at, price, size. Name the columns in a mapping: docs/vendors.md';
const NEVER_CLOSED = 'a quotation mark in row 2 is never closed';

/** Returns the number of contracts and the refused rows of a chain, or the reason of a rejection. */
function outcome(text: string | Uint8Array): unknown {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return runToCompletion(readMarketFile(bytes, { origin: 'a.csv', stated: { asOf: NOON_MS } })).map((delivery) => {
    if (delivery.kind === 'chain') return [delivery.chain.count, delivery.chain.refused];
    return delivery.kind === 'rejection' ? delivery.reason : delivery.kind;
  });
}

const GOOD = [[2, {}]];
test.each<[what: string, text: string | Uint8Array, expected: unknown]>([
  ['CRLF', table(row(100), row(101)).replaceAll('\n', '\r\n'), GOOD],
  ['CR', table(row(100), row(101)).replaceAll('\n', '\r'), GOOD],
  ['a byte-order mark', `\ufeff${table(row(100), row(101))}`, GOOD],
  ['UTF-16', utf16(table(row(100), row(101))), GOOD],
  ['UTF-16, big-endian', bigEndian(table(row(100), row(101))), GOOD],
  [
    'half of a character at the end of UTF-16',
    utf16(table(row(100), row(101))).subarray(0, -1),
    [[2, { bad_value: 1 }]],
  ],
  [
    'UTF-16 without a mark',
    utf16(table(row(100))).subarray(2),
    ['the file is UTF-16 without its byte-order mark. Save it as UTF-8'],
  ],
  ['semicolons', table(row(100), row(101)).replaceAll(',', ';'), GOOD],
  ['tabs', table(row(100), row(101)).replaceAll(',', '\t'), GOOD],
  ['bars', table(row(100), row(101)).replaceAll(',', ' | '), GOOD],
  ['lines above the header', `Title, of "two"\n\n"x\n${table(row(100), row(101))}`, GOOD],
  ['50 lines above the header', `${'x\n'.repeat(50)}${table(row(100))}`, []],
  ['a long line above the header', `${'x'.repeat(200_000)}\n${table(row(100), row(101))}`, GOOD],
  ['a header in quotes and capitals', table(row(100), row(101)).replace('symbol', ' "SYMBOL" '), [NO_TABLE]],
  ['quoted cells', table(row(100).replaceAll(/[^,]+/g, '"$&"'), row(101, '"1,000.5"')), GOOD],
  ['spaces around quotes', table(row(100, ' "1"'), row(101, '"1" \t')), [[2, { bad_value: 1 }]]],
  ['Unicode spaces around numbers', table(row(100, '\u2009 1\u00a0'), row(101, '1\u20090')), [[2, { bad_value: 1 }]]],
  ['empty rows', table('', row(100), ',,,,', ' \t', '"",""', row(101)), GOOD],
  ['empty cells after the row', table(`${row(100)},,`, `${row(101)}, "" ,\u2009`), [[1, { malformed_row: 1 }]]],
  ['a cell too many', table(`${row(100)},x`, row(101)), [[1, { malformed_row: 1 }]]],
  ['a cell too few', table('TEST,98', row(101)), [[1, { malformed_row: 1 }]]],
  ['a quote within a cell', table(row(100, '1" x'), row(101)), [[2, { bad_value: 1 }]]],
  ['text after a quote, closed later', table(row(100, '"1"x"'), row(101)), [[2, { bad_value: 1 }]]],
  ['a lone quote', table(row(100), row(101, '"'), row(102)), [NEVER_CLOSED]],
  [
    'a quote that a later row closes',
    table(row(100), row(101, '"1'), row(102, '"'), row(103)),
    [[3, { bad_value: 1 }]],
  ],
  ['16 lines in a row', table(row(100, `"${'\n'.repeat(15)}"`), row(101)), GOOD],
  ['17 lines in a row', table(row(100), row(101, `"${'\r\n'.repeat(16)}"`)), [NEVER_CLOSED]],
  ['the end within quotes', `${table(row(100))}${row(101, '"1')}`, [NEVER_CLOSED]],
  ['the end within a row', `${table(row(100))}TEST,98`, ['the file ends within row 2']],
  ['the end within the last cell', `${table(row(100))}${row(101)}`, GOOD],
  ['a long row', table(row(100), row(101, 'x'.repeat(70_000))), ['row 2 has more than 65536 characters']],
  ['a row of 10 MB', table(row(100), row(101, '\u20ac'.repeat(3_500_000))), ['row 2 has more than 65536 characters']],
  [
    'a row of 60,000 characters of three bytes',
    table(row(100), row(101, '\u20ac'.repeat(60_000))),
    [[2, { bad_value: 1 }]],
  ],
  ['a zero byte at the start', `${HEADER}\n\0${row(100)}\n`, []],
  [
    'a zero byte later',
    table(...Array.from({ length: 500 }, (_, i) => row(100 + i)), row(100, '\0')),
    [[500, { duplicate: 1 }]],
  ],
  ['bytes that are not UTF-8', Buffer.from(table(row(100, '\xff'), row(101)), 'latin1'), [[2, { bad_value: 1 }]]],
  // The earlier reader took the next row as a part of the quoted cell, and lost it without a count.
  ['spaces between a quote and the end of a row', table(`${row(100)}"`.replace(',1"', ',"1"  '), row(101)), GOOD],
])('a chain table with %s', (_what, text, expected) => {
  expect(outcome(text)).toEqual(expected);
});

test.each([
  ...['1e-3', '1E2', '+1', '.5', '5.', '0', '-0', '1,000', '12,345.67', '2.2504926550292965', '100000000000000000e-17'],
  ...['0.95310000000000005826', `0.${'3'.repeat(400)}`, '000001', '9007199254740993e-10', ' 7 '],
])('reads the number %s', (text) => {
  const [delivery] = runToCompletion(
    readMarketFile(Buffer.from(table(row(100, `"${text}"`))), { origin: 'a', stated: { asOf: NOON_MS } }),
  );
  const bid = delivery?.kind === 'chain' ? delivery.chain.bid[0] : undefined;
  expect(bid).toBe(Number(text.replaceAll(',', '')));
});

test.each([
  ...[
    '1_000',
    '1\u2009000',
    '1 000',
    '1,00',
    '1,0000',
    '0x10',
    'inf',
    'Infinity',
    '9'.repeat(400),
    '1e999',
    '--1',
    '1e',
    '.',
    '1.2.3',
  ],
])('counts %s as a bad value', (text) => {
  expect(outcome(table(row(100, `"${text}"`)))).toEqual([[1, { bad_value: 1 }]]);
});

test.each(['', 'nan', 'NaN', 'n/a', 'NULL', 'none', '-', '--', '""', ' '])('reads %j as no value', (text) => {
  expect(outcome(table(row(100, text)))).toEqual([[1, {}]]);
});

const TAPE = 'executed_at,option_chain_id,price,size\n';
const print = (price: string) => `2026-08-17 13:30:00+00,TEST260918C00100000,${price},1\n`;
test.each<[what: string, text: string | Uint8Array, prints: number, refused: Record<string, number>]>([
  ['a lone quote', `${TAPE}${print('"1')}${print('1')}`, 1, { malformed_row: 1 }],
  ['text after a quote', `${TAPE}${print('"1"x"')}${print('1')}`, 1, { malformed_row: 1 }],
  ['a quoted line break', `${TAPE}${print('"1\n"')}${print('1')}`, 1, { malformed_row: 2 }],
  ['empty lines and CR', `${TAPE}\n${print('"1"')}\n${print('1')}`.replaceAll('\n', '\r'), 2, {}],
  ['a line with spaces', `${TAPE} \n${print('1')}`, 1, { malformed_row: 1 }],
  ['a long row', `${TAPE}${print('x'.repeat(70_000))}${print('1')}`, 1, { malformed_row: 1 }],
  ['an incomplete last row', `${TAPE}${print('1')}${print('1').slice(0, -1)}`, 1, { cut_row: 1 }],
  ['UTF-16', utf16(TAPE + print('1') + print('1')), 2, {}],
  [
    'half of a character at the end',
    utf16((TAPE + print('1') + print('1')).replaceAll('\n', '\r')).subarray(0, -1),
    1,
    { cut_row: 1 },
  ],
  [
    'half of a character after the last line',
    Buffer.concat([utf16(TAPE + print('1').replace('\n', '\r')), Buffer.from('x')]),
    1,
    { cut_row: 1 },
  ],
])('a tape with %s', async (_what, text, prints, refused) => {
  for (const size of [1, 7, 1e9]) {
    const result = await read(text, size);
    expect([size, result.prints.length, result.refused]).toEqual([size, prints, refused]);
  }
});
