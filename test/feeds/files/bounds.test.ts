import { expect, test } from 'bun:test';
import { readPrints } from '../../../src/feeds/files/prints-csv.ts';
import { NOON_MS, readText, rejections } from './reading.ts';

const HEADER = 'underlying,as_of,spot,expiry,put_call,strike,open_interest';
const row = (ticker: string, asOf = '2026-08-21T16:00:00Z') => `${ticker},${asOf},100,2026-09-18,C,100,1\n`;
/** 1 is `A`, 27 is `AA`. */
const ticker = (n: number): string =>
  n === 0 ? '' : ticker(Math.floor((n - 1) / 26)) + String.fromCharCode(65 + ((n - 1) % 26));
const QUOTES = '{"timestamp":"2023-09-21 03:17:42","data":{"current_price":9,"options":[';

test.each([
  ['rows', `${HEADER}\n${row('SPY').repeat(250_001)}`, 'the table has more than the maximum of 250000 rows'],
  ['rows with one cell', `${HEADER}\n${'1\n'.repeat(250_001)}`, 'the table has more than the maximum of 250000 rows'],
  ['empty lines', `${HEADER}\n${'\n'.repeat(500_001)}`, 'the table has more than the maximum of 500000 lines'],
  ['returns as line ends', `${HEADER}\r${'\r'.repeat(500_001)}`, 'the table has more than the maximum of 500000 lines'],
  ['columns', `${HEADER},${'x,'.repeat(94)}x\n`, 'the table has 102 columns, more than the maximum of 100'],
  ['characters in a row', `${HEADER}\n${'1,'.repeat(40_000)}\n`, 'row 1 has more than 65536 characters'],
  ['open quotes', `${HEADER}\n${'"a\nb"c\n'.repeat(100_000)}`, 'a quotation mark in row 1 is never closed'],
  ['closes', `date,ticker,close\n${'1\n'.repeat(250_001)}`, 'the table has more than the maximum of 250000 rows'],
  [
    'underlyings',
    `${HEADER}\n${Array.from({ length: 1_001 }, (_, i) => row(ticker(i + 1))).join('')}`,
    'the file has more than the maximum of 1000 underlyings',
  ],
  [
    'snapshots',
    `${HEADER}\n${Array.from({ length: 10_001 }, (_, i) => row('SPY', new Date(1.78e12 + i * 1e3).toISOString())).join('')}`,
    'the file has more than the maximum of 10000 snapshots',
  ],
  ['depth of JSON', `{"data":${'['.repeat(1e6)}`, 'JSON nested deeper than 32 levels'],
  ['objects of JSON', `${QUOTES}${'{},'.repeat(600_001)}{}]}}`, 'JSON of more than 600000 objects and arrays'],
  ['values of JSON', `${QUOTES}${'1,'.repeat(6_400_001)}1]}}`, 'JSON of more than 6400000 values'],
])('refuses too many %s', (_name, text, reason) => {
  expect(rejections(text)).toEqual([reason]);
});

test('a cell may have line breaks in quotes, and a table may end its lines with returns alone', () => {
  const note = '"two\nlines"';
  const text = `${HEADER},note\nTEST,2026-08-21T16:00:00Z,100,2026-09-18,C,100,1,${note}\n`;
  for (const same of [text, text.replaceAll('\n', '\r\n'), text.replaceAll('\n', '\r')]) {
    expect(readText(same)).toMatchObject([{ kind: 'chain', chain: { count: 1 } }]);
  }
});

test('delivers many closes in batches, each of which takes only some milliseconds to write', () => {
  const lines = Array.from({ length: 1_201 }, (_, i) => `2026-08-20,${ticker(i + 1)},${1 + i}\n`);
  const deliveries = readText(`date,ticker,close\n${lines.join('')}x,y,z\n`);
  expect(deliveries.map((each) => (each.kind === 'closes' ? each.closes.length : each.kind))).toEqual([
    500,
    500,
    201,
    'rejection',
  ]);
});

test('does not cache overlong cells of a tape', async () => {
  async function* rows() {
    yield Buffer.from('executed_at,option_chain_id,price,size\n');
    for (let i = 0; i < 6_000; i++) yield Buffer.from(`2026-08-17T13:30:01Z,${i}${'x'.repeat(60_000)},1,1\n`);
  }
  const before = residentBytes();
  let refused = 0;
  let peak = 0;
  // After the last delivery the reader and its caches are gone.
  for await (const delivery of readPrints(rows(), NOON_MS)) {
    refused += delivery.refused?.bad_symbol ?? 0;
    peak = residentBytes();
  }
  expect(refused).toBe(6_000);
  expect(peak - before).toBeLessThan(128 * 2 ** 20);
});

function residentBytes(): number {
  Bun.gc(true);
  return process.memoryUsage.rss();
}
