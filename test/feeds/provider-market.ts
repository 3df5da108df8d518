import { afterEach, beforeEach, expect } from 'bun:test';
import type { Clock } from '../../src/feeds/clock.ts';
import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import type { Chain } from '../../src/market/chain.ts';
import type { Delivery, Feed } from '../../src/market/feed.ts';
import { loadUniverse } from '../../src/market/universe.ts';
import { membersOf } from '../support/process.ts';
import { type ProviderServer, startProviderServer } from '../support/provider-server.ts';

export const CREDENTIAL = 'credential-that-no-text-may-show';
export const NOON_MS = Date.parse('2026-11-20T17:00:00Z');
/** A share class with a dot, an index, and a ticker with few expiries. */
export const TICKERS = ['BRK.B', 'SPX', 'CHPT'];

const UNIVERSE = loadUniverse(JSON.stringify({ themes: { few: TICKERS } }));
export const CHAINS: ReadonlyMap<string, Chain> = new Map(
  instrumentsOf({ seed: 1, universe: UNIVERSE, clock: 'real' }).map((each) => [
    each.ticker,
    simulatedChain(each, NOON_MS),
  ]),
);

/** Returns a clock that only advances by the requested pauses. The pauses take no real time. */
export function testClock(
  startMs = NOON_MS + 20_000,
): Clock & { readonly paused: number[]; advance(ms: number): void } {
  let now = startMs;
  const paused: number[] = [];
  return {
    paused,
    now: () => now,
    elapsed: () => now,
    random: () => 1,
    advance(ms) {
      now += ms;
    },
    async pause(ms) {
      paused.push(ms);
      now += ms;
      await new Promise(setImmediate);
    },
  };
}

/** A provider's server with `CHAINS` and a clock, both new for each test of a file or of a `describe`. */
export function providerForTests() {
  let now: { readonly server: ProviderServer; readonly clock: ReturnType<typeof testClock> };
  beforeEach(async () => {
    const server = await startProviderServer({ chainOf: (name) => CHAINS.get(name), credential: CREDENTIAL });
    now = { server, clock: testClock() };
  });
  afterEach(() => now.server.close());
  return { server: membersOf(() => now.server), clock: membersOf(() => now.clock) };
}

export async function polled(feed: Feed, signal?: AbortSignal): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  for await (const delivery of feed.poll(NOON_MS, signal)) deliveries.push(delivery);
  expect(JSON.stringify(deliveries)).not.toContain(CREDENTIAL);
  return deliveries;
}

export const chainsOf = (deliveries: readonly Delivery[]) =>
  deliveries.flatMap((each) => (each.kind === 'chain' ? [each] : []));
export const reasonsOf = (deliveries: readonly Delivery[]) =>
  deliveries.flatMap((each) => (each.kind === 'rejection' ? [[each.ticker, each.reason] as const] : []));
