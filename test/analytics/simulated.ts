import { instrumentsOf } from '../../src/feeds/simulated/instruments.ts';
import { simulatedChain } from '../../src/feeds/simulated/simulated-chain.ts';
import type { Chain } from '../../src/market/chain.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';

/** All tickers of the standard universe. */
export const SIMULATED: readonly string[] = [...STANDARD_UNIVERSE.tickers];

/** The simulated chain of a ticker on a Wednesday at noon in Chicago. */
export function simulated(ticker: string): Chain {
  const instrument = instrumentsOf(7, STANDARD_UNIVERSE).find((each) => each.ticker === ticker);
  if (!instrument) throw new Error(`nothing simulates ${ticker}`);
  return simulatedChain(instrument, Date.parse('2026-03-11T17:00:00Z'));
}
