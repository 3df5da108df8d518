import { expect, test } from 'bun:test';
import { PrintBatch } from '../../src/market/print-batch.ts';
import type { Print } from '../../src/market/prints.ts';

const FIRST: Print = {
  ...{
    id: 'é-1',
    underlying: 'SPX',
    root: 'SPXW',
    expiry: '2026-08-21',
    callPut: 1,
    strike: 5_000,
    price: 25.3,
    size: 40,
  },
  ...{ multiplier: 100, at: Date.parse('2026-08-17T13:30:01.007Z'), side: 'ask', bid: 24.9, ask: 25.3, delta: 0.55 },
  ...{ multiLeg: false, sweep: false, block: false, canceled: false, simulated: false },
};
const SIDES = [null, 'ask', 'bid', 'mid'] as const;
/** Prints with every side and flag, with and without quotes, of several underlyings and days. */
const PRINTS = Array.from({ length: 1_000 }, (_, i): Print => {
  const has = (bit: number) => (i & bit) !== 0;
  return {
    ...FIRST,
    ...{
      id: i === 7 ? '' : `${'x'.repeat(i % 90)}${i}`,
      callPut: has(1) ? 1 : -1,
      strike: 5_000 + (i % 17),
      side: SIDES[i % 4]!,
    },
    ...(has(2) && { bid: null, ask: null, delta: null }),
    ...{ multiLeg: has(4), sweep: has(8), block: has(16), canceled: has(32), simulated: has(64) },
    ...(has(128) && { underlying: 'SPY', root: 'SPY' }),
    at: FIRST.at + 40 * 60_000 * i,
  };
});

test('returns the prints that it was made of, and after a transfer between processes', () => {
  const batch = PrintBatch.of(PRINTS);
  expect([batch.length, ...batch]).toEqual([PRINTS.length, ...PRINTS]);
  expect(PrintBatch.of(batch)).toBe(batch);
  const received = PrintBatch.fromColumns(structuredClone(batch.columns()));
  expect([...received]).toEqual(PRINTS);
  // A received batch can grow.
  received.append(batch, [3, 1]);
  expect([...received].slice(-3)).toEqual([PRINTS.at(-1)!, PRINTS[3]!, PRINTS[1]!]);
  expect([...PrintBatch.of([])]).toEqual([]);
});

test('picks and slices rows', () => {
  const batch = PrintBatch.of(PRINTS);
  expect([...batch.pick([5, 2, 900])]).toEqual([PRINTS[5]!, PRINTS[2]!, PRINTS[900]!]);
  for (const [from, to] of [
    [0, 10],
    [990, 2_000],
    [1_000, 1_010],
    [0, 0],
  ] as const)
    expect([...batch.slice(from, to)]).toEqual(PRINTS.slice(from, to));
});

test('groups rows by tape and New York day, in the order of the first prints', () => {
  const day = (at: number) => new Date(at).toLocaleDateString('en-CA', { timeZone: 'America/New_York' });
  const expected = Object.groupBy(PRINTS.keys(), (i) => {
    const { underlying, simulated, at } = PRINTS[i]!;
    return `${underlying} ${simulated} ${day(at)}`;
  });
  const groups = PrintBatch.of(PRINTS).byDay();
  expect(groups.map(({ underlying, simulated, day, rows }) => [`${underlying} ${simulated} ${day}`, rows])).toEqual(
    Object.entries(expected) as [string, number[]][],
  );
});

test('the digest of an id is that of its text', () => {
  const digests = new BigUint64Array(PrintBatch.of(PRINTS).digests().buffer);
  expect([...digests]).toEqual(PRINTS.map(({ id }) => Bun.hash.xxHash64(id)));
});
