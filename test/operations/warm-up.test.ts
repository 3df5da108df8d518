import { expect, test } from 'bun:test';
import type { Context } from '../../src/operations/engine/operation.ts';
import { createScheduler } from '../../src/operations/engine/scheduler.ts';
import { warmUp } from '../../src/operations/warm-up.ts';
import { AS_OF, chainOf, quoted, range } from '../analytics/small-chains.ts';
import { smallMarket } from './small-market.ts';

const CHAIN = chainOf(quoted({ strikes: range(95, 105) }));
const CHAINS = ['SPY', 'TAPED', 'ZZZ'].map((underlying) => ({ ...CHAIN, underlying }));

/** The tickers whose tapes were read, if `taped` have prints. */
async function warmed(taped: readonly string[], simulated = false): Promise<string[]> {
  const { context } = smallMarket({ chains: CHAINS }, AS_OF);
  const read: string[] = [];
  const market: Context['market'] = {
    ...context.market,
    hasPrints: (ticker) => taped.includes(ticker),
    findChain: (ticker) => ({ ...context.market.findChain(ticker)!, simulated }),
    tape(chain, days) {
      read.push(chain.underlying);
      return context.market.tape(chain, days);
    },
  };
  await warmUp({ ...context, market }, createScheduler());
  return read;
}

test.each([[['TAPED', 'ZZZ']], [[]]])(
  'of the tickers with prints, %j, reads the tape once per question',
  async (taped) => {
    expect(await warmed(taped)).toEqual(taped.flatMap((ticker) => [ticker, ticker, ticker]));
  },
);

test('does not read a simulated tape, because it is short', async () => {
  expect(await warmed(['SPY'], true)).toEqual([]);
});
