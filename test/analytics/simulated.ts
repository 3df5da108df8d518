import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import type { Chain } from '../../src/market/chain.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';

/** All tickers of the standard universe. */
export const SIMULATED: readonly string[] = [...STANDARD_UNIVERSE.tickers];

const INSTRUMENTS = instrumentsOf({ seed: 7, universe: STANDARD_UNIVERSE, clock: 'real' });
const chains = new Map<string, Chain>();

/** The simulated chain of a ticker on a Wednesday at noon in Chicago, computed once. */
export function simulated(ticker: string): Chain {
  const known = chains.get(ticker);
  if (known !== undefined) return known;
  const instrument = INSTRUMENTS.find((each) => each.ticker === ticker);
  if (!instrument) throw new Error(`nothing simulates ${ticker}`);
  const chain = simulatedChain(instrument, Date.parse('2026-03-11T17:00:00Z'));
  chains.set(ticker, chain);
  return chain;
}
