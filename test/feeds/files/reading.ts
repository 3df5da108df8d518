import { expect } from 'bun:test';
import { runToCompletion } from '../../../src/core/steps.ts';
import { readMarketFile } from '../../../src/feeds/files/read-market-file.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { Delivery } from '../../../src/market/feed.ts';

export const NOON_MS = Date.parse('2026-08-21T16:00:00Z');

/** Returns the deliveries of a file with this text. */
export function readText(text: string): Delivery[] {
  return runToCompletion(readMarketFile(new TextEncoder().encode(text), { origin: 'a/b.csv', modifiedMs: NOON_MS }));
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
