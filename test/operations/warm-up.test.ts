import { expect, test } from 'bun:test';
import type { Context } from '../../src/operations/operation.ts';
import { warmUp } from '../../src/operations/warm-up.ts';
import { AS_OF, chainOf, contract, quoted, range } from '../analytics/small-chains.ts';
import { smallMarket } from './small-market.ts';

const CHAINS = [
  { ...chainOf(quoted({ strikes: range(95, 105) })), underlying: 'SPY' },
  // Read after its only contract's settlement.
  { ...chainOf([contract()]), underlying: 'QQQ', asOf: AS_OF + 400 * 86_400_000 },
  // Not of the universe.
  { ...chainOf(quoted({ strikes: range(95, 105) })), underlying: 'ZZZ' },
];

/** The tickers whose chains were read, in turn. */
async function warmed(mostMs: number): Promise<string[]> {
  const { context } = smallMarket({ chains: CHAINS }, AS_OF + 401 * 86_400_000);
  const read: string[] = [];
  const chain: Context['market']['chain'] = (ticker) => {
    read.push(ticker);
    return context.market.chain(ticker);
  };
  await warmUp({ ...context, market: { ...context.market, chain } }, mostMs);
  return read;
}

test('reads every ticker that has a chain while there is time, also past those that have nothing to read', async () => {
  expect(await warmed(Number.POSITIVE_INFINITY)).toEqual(['SPY', 'QQQ', 'ZZZ']);
});

test('ends with the ticker in which the time is over', async () => {
  expect(await warmed(0)).toEqual(['SPY']);
});
