import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { runToCompletion } from '../../../src/core/steps.ts';
import { deliveriesOf } from '../../../src/feeds/files/deliveries.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import { parseMapping } from '../../../src/feeds/vendors/mapping-file.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { testFolder } from '../../support/test-folder.ts';

const path = testFolder();
const HEADER = 'symbol,expiration,strike,right,timestamp,bid,ask';
const STRIKES = Array.from({ length: 30 }, (_, i) => 90 + i);

/** Quotes of ThetaData. `timeOf` gives the time of each row. */
function rows(symbol: string, timeOf: (i: number) => string, expiry = '2026-09-18'): string[] {
  const worth = (strike: number, right: string) => Math.max(0, right === 'CALL' ? 104.5 - strike : strike - 104.5) + 1;
  const contracts = STRIKES.flatMap((strike) => ['CALL', 'PUT'].map((right) => [strike, right] as const));
  return contracts.map(([strike, right], i) => {
    const bid = worth(strike, right);
    return `${symbol},${expiry},${strike},${right},${timeOf(i)},${bid},${(bid + 0.2).toFixed(2)}`;
  });
}

const clock = (i: number) => `${String(i % 60).padStart(2, '0')}.123`;
const ofChains = (deliveries: Delivery[]) =>
  deliveries.map((each) =>
    each.kind === 'chain' ? [each.chain.underlying, new Date(each.chain.asOf).toISOString(), each.chain.count] : each,
  );
const read = (lines: readonly string[], form = 'newest') =>
  ofChains(
    runToCompletion(
      readMarketFile(Buffer.from(`${HEADER}\n${lines.join('\n')}\n`), {
        origin: 'a.csv',
        stated: { mapping: parseMapping(`[forms]\nzone = "America/New_York"\nas_of = "${form}"`, 'm.toml') },
      }),
    ),
  );

const ABC = rows('ABC', (i) => `2026-08-20T15:30:${clock(i)}`);
const DEF = rows('DEF', (i) => `2026-08-21T11:00:${clock(i)}`);

test('each ticker of a file has the newest time of its own rows', () => {
  const expected = [
    ['ABC', '2026-08-20T19:30:59.123Z', 60],
    ['DEF', '2026-08-21T15:00:59.123Z', 60],
  ];
  expect(read([...ABC, ...DEF])).toEqual(expected);
  expect(read(ABC.flatMap((line, i) => [line, DEF[i]!]))).toEqual(expected);
});

test('roots of one ticker share the newest time', () => {
  const [am, pm] = [rows('SPX', () => '2026-08-21T11:00:00'), rows('SPXW', () => '2026-08-21T11:00:05')];
  expect(read([...am, ...pm])).toEqual([['SPX', '2026-08-21T15:00:05.000Z', 120]]);
});

test('a ticker that was read at two moments has two chains, and another ticker keeps its newest time', () => {
  const [first, second] = ['2026-08-21T10:00:00', '2026-08-21T10:30:00'].map((time) => rows('ABC', () => time));
  expect(read([...first!, ...DEF, ...second!])).toEqual([
    ['ABC', '2026-08-21T14:00:00.000Z', 60],
    ['DEF', '2026-08-21T15:00:59.123Z', 60],
    ['ABC', '2026-08-21T14:30:00.000Z', 60],
  ]);
});

test.each(['newest', 'day'])('a large table of %s times gives the chains of a small one', async (form) => {
  const days = form === 'day' ? ['2026-08-20', '2026-08-21'] : ['2026-08-21'];
  const expiries = Array.from({ length: 250 }, (_, i) => new Date(Date.UTC(2027, 0, 1 + i)).toISOString().slice(0, 10));
  // More different times than are kept as texts.
  const lines = days.flatMap((day, d) =>
    ['ABC', 'DEF'].flatMap((symbol, s) =>
      expiries.flatMap((expiry, e) =>
        rows(
          symbol,
          (i) => `${day}T1${d}:${10 + s}:${String(i).padStart(2, '0')}.${String(e).padStart(3, '0')}000000`,
          expiry,
        ),
      ),
    ),
  );
  const padding = 'x'.repeat(300);
  writeFileSync(path('large.csv'), `${HEADER},note\n${lines.map((line) => `${line},${padding}`).join('\n')}\n`);
  const stated = { mapping: parseMapping(`[forms]\nzone = "America/New_York"\nas_of = "${form}"`, 'm.toml') };
  const found = await Array.fromAsync(deliveriesOf(path(), { origin: 'large.csv' }, { nowMs: Date.now(), stated }));
  const at = (day: string, d: number, s: number) => `${day}T1${d + 4}:${10 + s}:59.249Z`;
  expect(ofChains(found)).toEqual(
    days.flatMap((day, d) => ['ABC', 'DEF'].map((symbol, s) => [symbol, at(day, d, s), 15_000])),
  );
});
