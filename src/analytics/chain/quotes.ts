import type { Chain } from '../../market/chain.ts';

/** Middle of a two-sided quote. `NaN` if a side is missing or the quote is crossed. */
export function mid(chain: Chain, row: number): number {
  const bid = chain.bid[row]!;
  const ask = chain.ask[row]!;
  return bid > 0 && ask >= bid ? (bid + ask) / 2 : Number.NaN;
}

/** A contract's traded price if there are no prints: the middle of its quote (a bid of 0 counts), else its last trade. */
export function tradedPrice(chain: Chain, row: number): number {
  const bid = chain.bid[row]!;
  const ask = chain.ask[row]!;
  return bid >= 0 && ask > 0 && ask >= bid ? (bid + ask) / 2 : chain.last[row]!;
}
