import { expect } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Delivery } from '../../../src/market/feed.ts';
import { PrintBatch } from '../../../src/market/print-batch.ts';

export const NOON_MS = Date.parse('2026-08-21T16:00:00Z');

/** Returns the deliveries of a file with this text. */
export function readText(text: string): Delivery[] {
  return runToCompletion(
    readMarketFile(new TextEncoder().encode(text), { origin: 'a/b.csv', readAtMs: NOON_MS, stated: { asOf: NOON_MS } }),
  );
}

export function chains(text: string): Chain[] {
  const deliveries = readText(text);
  expect(deliveries.filter(({ kind }) => kind !== 'chain')).toEqual([]);
  return deliveries.flatMap((delivery) => (delivery.kind === 'chain' ? [delivery.chain] : []));
}

/** Returns the first of this many chains. */
export function chain(text: string, of = 1): Chain {
  const read = chains(text);
  expect(read).toHaveLength(of);
  return read[0]!;
}

export function rejections(text: string): string[] {
  const deliveries = readText(text);
  expect(deliveries.filter(({ kind }) => kind !== 'rejection')).toEqual([]);
  return deliveries.flatMap((delivery) => (delivery.kind === 'rejection' ? [delivery.reason] : []));
}

/** Texts of one chain in three formats. */
export const CHAIN =
  'underlying,as_of,spot,symbol,open_interest\nTEST,2026-08-21T16:00:00Z,98,TEST260918C00100000,1\nTEST,2026-08-21T16:00:00Z,98,TEST260918P00100000,1\n';
export const JSON_CHAIN =
  '{"timestamp":"2023-09-21 03:17:42","data":{"current_price":9,"options":[{"option":"RUT231020C01800000","bid":1}]}}';
export const TABLE =
  'T,Last: 9\nDate: June 9, 2023 at 1:40 PM EDT\nCalls,Open Interest,Strike,Puts,Open Interest\nA230616C00009000,1,9,A230616P00009000,1\n';

/** Columns as text, because the bits of two NaNs may differ. Prints are objects, because a batch may have unused memory. */
export const asText = (deliveries: unknown) =>
  JSON.stringify(deliveries, (_, value) => {
    if (value instanceof PrintBatch) return [...value];
    return ArrayBuffer.isView(value) ? String(value) : value;
  });
