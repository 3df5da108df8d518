import { beforeEach, expect, test } from 'bun:test';
import { appendFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { versionOf } from '../../../src/feeds/files/file-checkpoints.ts';
import { GrowingTapes } from '../../../src/feeds/files/growing-tapes.ts';
import { openNamed } from '../../../src/feeds/files/opened-file.ts';
import { readPrints } from '../../../src/feeds/files/prints-csv.ts';
import { testFolder } from '../../support/test-folder.ts';
import { inPieces, NOW_MS } from './tapes.ts';

const HEADER = 'executed_at,option_chain_id,price,size,upstream_condition_detail\n';
const row = (second: number, price = '2.5') =>
  `2026-08-17 13:30:${String(second).padStart(2, '0')}+00,SPXW260821C05000000,${price},10,auto\n`;

const folder = testFolder();
let path: string;
beforeEach(() => {
  path = folder('tape.csv');
});

/** Returns a function that reads the present tape and gives the ids of new prints, and the number of invalid rows. */
async function reader() {
  const tapes = new GrowingTapes();
  let last = '';
  return async ({ isStored = true } = {}) => {
    const stats = statSync(path);
    const ids: string[] = [];
    await using file = (await openNamed(path, 'tape.csv'))!;
    const version = versionOf(stats);
    const reading = tapes.read(file.content, version, NOW_MS, (stored) => isStored && stored === last);
    for (;;) {
      const { done, value } = await reading.next();
      if (done) {
        last = versionOf(stats);
        return { ids, refused: value.rejectedRows.summary() };
      }
      ids.push(...Array.from(value.prints, ({ id }) => id));
    }
  };
}

async function idsOf(text: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { prints } of readPrints(inPieces(text), NOW_MS)) ids.push(...Array.from(prints, ({ id }) => id));
  return ids;
}

test.each([
  ['line feeds', '\n'],
  ['returns and line feeds', '\r\n'],
])('cut between any two bytes, with %s: reads each row once, equal rows too', async (_name, end) => {
  const text = [HEADER, row(0), row(1), row(0), row(1, 'x'), row(0), row(2)].join('').replaceAll('\n', end);
  const ids = await idsOf(text);
  expect(new Set(ids).size).toBe(5);
  for (let cut = HEADER.length; cut < text.length; cut++) {
    const read = await reader();
    writeFileSync(path, text.slice(0, cut));
    const first = await read();
    writeFileSync(path, text);
    const second = await read();
    expect([cut, second.refused]).toEqual([cut, '1 of 6 rows are invalid (bad_price 1)']);
    // A complete last row without a line break is read again with the rest. Its id identifies it.
    expect([cut, [...new Set([...first.ids, ...second.ids])]]).toEqual([cut, ids]);
    expect(second.ids.length).toBeLessThanOrEqual(ids.length);
  }
});

test('reads earlier rows again only if they have changed', async () => {
  const read = await reader();
  const rows = (prices: readonly string[]) => HEADER + prices.map((price, i) => row(i, price)).join('');
  const steps: [name: string, change: () => void, prints: number][] = [
    ['first', () => writeFileSync(path, rows(['1', '2', '3'])), 3],
    ['grown', () => appendFileSync(path, row(3, '4')), 1],
    ['the same', () => {}, 0],
    ['one price in the middle has changed', () => writeFileSync(path, rows(['1', '7', '3', '4', '5'])), 5],
    ['shorter', () => truncateSync(path, rows(['1', '7']).length), 2],
    ['grown again', () => appendFileSync(path, row(5, '6')), 1],
    ['cut within a row', () => appendFileSync(path, row(6).slice(0, 20)), 0],
    ['the rest of the row', () => appendFileSync(path, row(6).slice(20)), 1],
    ['binary data in the middle', () => appendFileSync(path, `\0\0\n${row(7)}`), 1],
  ];
  for (const [name, change, prints] of steps) {
    change();
    expect([name, (await read()).ids.length]).toEqual([name, prints]);
  }
});

test('reads rows again that were not stored', async () => {
  const read = await reader();
  writeFileSync(path, HEADER + row(0));
  await read();
  appendFileSync(path, row(1));
  expect((await read({ isStored: false })).ids).toHaveLength(2);
  appendFileSync(path, row(2));
  expect((await read()).ids).toHaveLength(1);
});

test('reads UTF-16 from the start each time', async () => {
  const read = await reader();
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  writeFileSync(path, utf16(`\ufeff${HEADER}${row(0)}`));
  expect((await read()).ids).toHaveLength(1);
  appendFileSync(path, utf16(row(1)));
  expect((await read()).ids).toHaveLength(2);
});
