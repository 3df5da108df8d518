import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { deliveriesOf, FILE_BYTES_MAX } from '../../../src/feeds/files/deliveries.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { testFolder } from '../../support/test-folder.ts';
import { asText, CHAIN, JSON_CHAIN, TABLE } from './reading.ts';
import { NOW_MS, tape } from './tapes.ts';

const drop = testFolder();

async function read(content: Uint8Array): Promise<Delivery[]> {
  writeFileSync(drop('x'), content);
  return Array.fromAsync(deliveriesOf(drop(), { origin: 'x' }, { nowMs: NOW_MS }));
}

describe('compressed with gzip', () => {
  test.each([
    ['chain CSV', CHAIN],
    ['delayed-quote JSON', JSON_CHAIN],
    ['quote table', TABLE],
    ['closes', 'date,ticker,close\n2026-08-20,SPY,640.5\n'],
    ['tape', tape({}, {}, { price: 'x' })],
    ['no market data', 'notes'],
  ])('gives the same deliveries: %s', async (_name, text) => {
    const plain = asText(await read(Buffer.from(text)));
    expect(asText(await read(gzipSync(text)))).toBe(plain);
    // Some compressors write one stream after another.
    expect(asText(await read(Buffer.concat([gzipSync(text.slice(0, 20)), gzipSync(text.slice(20))])))).toBe(plain);
  });

  test('a truncated or damaged file is refused; of a tape the earlier prints count', async () => {
    const packed = gzipSync(CHAIN);
    const rejection: Delivery = {
      kind: 'rejection',
      origin: 'x',
      reason: expect.stringMatching(/gzip file is truncated or damaged/),
    };
    expect(await read(packed.subarray(0, -12))).toEqual([rejection]);
    const damaged = Buffer.from(packed);
    damaged[packed.length - 6]! ^= 0xff;
    expect(await read(damaged)).toEqual([rejection]);
    const rows = Array.from({ length: 60_000 }, (_, i) => ({ exchange: `X${(i * 7919) % 60_000}` }));
    const [prints, ...more] = (await read(gzipSync(tape(...rows)).subarray(0, -5_000))).toReversed();
    expect([prints, more[0]?.kind]).toEqual([rejection, 'prints']);
  });

  test('refuses data that unpacks to more than the limit, without reading it to the end', async () => {
    const bomb = gzipSync(Buffer.alloc(FILE_BYTES_MAX * 4, CHAIN));
    expect(await read(bomb)).toEqual([{ kind: 'rejection', origin: 'x', reason: expect.stringMatching(/more than/) }]);
    const [header = ''] = tape({}).split('\n');
    const endless = gzipSync(Buffer.concat([Buffer.from(`${header}\n`), Buffer.alloc(FILE_BYTES_MAX + 1e6, '\n')]));
    expect(await read(endless)).toEqual([
      { kind: 'rejection', origin: 'x', reason: 'the file unpacks to more than 200 times its size' },
    ]);
  });
});

test.each([
  ['a text above 1 MiB', 1_200_000, true],
  ['a text below 1 MiB', 1_000_000, false],
])('%s: the limit of 200 times the file size applies above 1 MiB only', async (_name, bytes, isRefused) => {
  const [delivery] = await read(gzipSync(Buffer.concat([Buffer.from(CHAIN), Buffer.alloc(bytes, ' ')])));
  const reason = isRefused
    ? 'the file unpacks to more than 200 times its size'
    : expect.stringMatching(/row 3 has more than/);
  expect(delivery).toEqual({ kind: 'rejection', origin: 'x', reason });
});

describe('text in other encodings', () => {
  test.each([
    ['UTF-16 without a mark', Buffer.from(CHAIN, 'utf16le'), /UTF-16 without its byte-order mark/],
    ['the same in the other byte order', Buffer.from(CHAIN, 'utf16le').swap16(), /UTF-16 without its byte-order mark/],
    [
      'a ZIP archive or workbook',
      Buffer.from(`PK\x03\x04${CHAIN}`, 'latin1'),
      /an archive of other files, or a workbook/,
    ],
    ['a tar archive', Buffer.from(`${'a.csv'.padEnd(257, '\0')}ustar`), /an archive of other files/],
  ])('refuses %s with a reason', async (_name, content, reason) => {
    expect(await read(content)).toEqual([{ kind: 'rejection', origin: 'x', reason: expect.stringMatching(reason) }]);
  });

  test.each([
    ['an empty text', ''],
    ['a space', ' '],
    ['zeros', '\0\0\0\0'],
    ['line breaks', '\n\n'],
  ])('%s is not market data', async (_name, text) => {
    expect(await read(Buffer.from(text))).toEqual([]);
  });
});
