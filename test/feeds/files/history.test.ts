import { expect, test } from 'bun:test';
import { readChainHistory } from '../../../src/feeds/vendors/history-tables.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { asText, readText } from './reading.ts';

const HEADER = 'underlying,as_of,spot,symbol,open_interest,bid,ask';
const row = (day: number, strike: number, ticker = 'ABC') =>
  `${ticker},2026-08-${String(day).padStart(2, '0')}T16:00:00-04:00,98,${ticker}260918C00${strike}000,${day},1,2`;
const STRIKES = Array.from({ length: 40 }, (_, i) => 100 + i);
const DAYS = [3, 4, 5, 6, 7];
const SORTED = DAYS.flatMap((day) => STRIKES.map((strike) => row(day, strike)));

/** Reads the text in small pieces, as a history of any length. */
async function history(text: string): Promise<Delivery[]> {
  return await Array.fromAsync(readChainHistory(() => piecesOf(text), { origin: 'a/b.csv' }));
}
async function* piecesOf(text: string) {
  for (let from = 0; from < text.length; from += 1_000) yield Buffer.from(text.slice(from, from + 1_000));
}
const tableOf = (rows: readonly string[]) => `${[HEADER, ...rows].join('\n')}\n`;
const byTime = (deliveries: Delivery[]) =>
  deliveries.toSorted((a, b) => Number(a.kind === 'chain' && b.kind === 'chain' && a.chain.asOf - b.chain.asOf));

test.each<[string, string[]]>([
  ['sorted by time', SORTED],
  ['sorted by contract', STRIKES.flatMap((strike) => DAYS.map((day) => row(day, strike)))],
  ['newest first', SORTED.toReversed()],
  ['of two tickers', [...SORTED, ...SORTED.map((each) => each.replaceAll('ABC', 'XYZ'))]],
  ['with a comment over two lines', SORTED.map((each, i) => (i === 50 ? each.replace('ABC', '"ABC"') : each))],
])('a table %s gives the same chains snapshot by snapshot as at once', async (_what, rows) => {
  expect(asText(byTime(await history(tableOf(rows))))).toBe(asText(byTime(readText(tableOf(rows)))));
});

test('delivers each snapshot before the next ones are read', async () => {
  let read = 0;
  const text = tableOf(SORTED);
  const pieces = async function* () {
    for (let from = 0; from < text.length; from += 500) {
      read = from;
      yield Buffer.from(text.slice(from, from + 500));
    }
  };
  const deliveries = readChainHistory(pieces, { origin: 'a.csv' });
  await deliveries.next();
  expect(read).toBeLessThan(text.length / 2);
  await deliveries.return();
});

test('counts rows without a time, malformed rows and strays in the first chain', async () => {
  const odd = [row(3, 150).replace('2026-08-03', '2026-13-03'), 'ABC,1', row(3, 151).replace('2026', '2926')];
  const [first, ...others] = await history(tableOf([...SORTED.slice(0, 10), ...odd, ...SORTED.slice(10)]));
  expect(first).toMatchObject({ chain: { refused: { bad_as_of: 1, malformed_row: 1, stray_as_of: 1 } } });
  expect(others).toHaveLength(DAYS.length - 1);
});

test('keeps a small day beside a large one, because a ticker may be young', async () => {
  const young = [
    ...STRIKES.slice(0, 12).map((strike) => row(3, strike)),
    ...Array.from({ length: 300 }, (_, i) => row(4, 100 + i)),
  ];
  const counts = (await history(tableOf(young))).map((each) => each.kind === 'chain' && each.chain.count);
  expect(counts).toEqual([12, 300]);
});

test.each<[string, string, RegExp]>([
  ['without a row', `${HEADER}\n`, /none of 0 rows can be read/],
  [
    'without a readable time',
    tableOf(SORTED.map((each) => each.replace('2026', '20x6'))),
    /none of 200 rows can be read: \{"bad_as_of":200\}/,
  ],
  ['with a quotation mark that is never closed', tableOf([...SORTED, `"${row(8, 100)}`]), /never closed/],
])('refuses a table %s', async (_what, text, reason) => {
  expect(history(text)).rejects.toThrow(reason);
});

test.each<[string, string[], RegExp]>([
  [
    'rows of one chain have different times',
    SORTED.slice(0, 40).map((each, i) => each.replace('T16:00', i < 20 ? 'T15:00' : 'T15:01')),
    /the rows of one chain of ABC have different times/,
  ],
  [
    'a fifth has no time',
    SORTED.map((each, i) => (i % 5 ? each : each.replace('2026', '20x6'))),
    /40 of 200 rows cannot be read \(40 bad_as_of\)/,
  ],
])('delivers nothing if %s', async (_what, rows, reason) => {
  const delivered: Delivery[] = [];
  const reading = (async () => {
    for await (const each of readChainHistory(() => piecesOf(tableOf(rows)), { origin: 'a.csv' })) delivered.push(each);
  })();
  expect(reading).rejects.toThrow(reason);
  await reading.catch(() => {});
  expect(delivered).toEqual([]);
});

test('refuses a snapshot with too many rows before anything is delivered', async () => {
  const line = Buffer.from(`${row(3, 100)}\n`.repeat(5_000));
  const pieces = async function* () {
    yield Buffer.from(`${HEADER}\n`);
    for (let i = 0; i < 60; i++) yield line;
  };
  const delivered: Delivery[] = [];
  const reading = (async () => {
    for await (const each of readChainHistory(pieces, { origin: 'a.csv' })) delivered.push(each);
  })();
  expect(reading).rejects.toThrow('a snapshot has more than the maximum of 250000 rows');
  await reading.catch(() => {});
  expect(delivered).toEqual([]);
});
