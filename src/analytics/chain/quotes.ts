import type { Chain } from '../../market/chain.ts';

/** Returns the middle of a two-sided quote, or `NaN` if a side is missing or the quote is crossed. */
export function mid(chain: Chain, row: number): number {
  const bid = chain.bid[row]!;
  const ask = chain.ask[row]!;
  return bid > 0 && ask >= bid ? (bid + ask) / 2 : Number.NaN;
}

/**
 * Estimates the price at which a contract traded, for chains without prints. The estimate is the quote's middle, or the last trade's price
 * if the quote is missing or crossed. A bid of 0 is a valid bid.
 */
export function tradedPrice(chain: Chain, row: number): number {
  const bid = chain.bid[row]!;
  const ask = chain.ask[row]!;
  return bid >= 0 && ask > 0 && ask >= bid ? (bid + ask) / 2 : chain.last[row]!;
}
