import type { Chain } from '../../market/chain.ts';
import { mid } from './quotes.ts';

/**
 * Rows whose quote cannot stand beside the others of its wing. `wing` holds the rows of one series and side in order away from
 * the money, where prices can only fall: an option bid above what one nearer the money is offered at contradicts it (Merton
 * 1973, theorem 1). Feeds keep such quotes of strikes that have been dead since a split or a large move, often dozens in a row
 * that agree with each other; so the nearer quotes decide. Only where a quote contradicts a single one of several nearer is
 * that single one taken to be stale.
 */
export function staleQuotes(chain: Chain, wing: ArrayLike<number>, tick: number): number[] {
  const stale: number[] = [];
  let fresh: number[] = [];
  let lowestAsk = Number.POSITIVE_INFINITY;
  for (let at = 0; at < wing.length; at++) {
    const row = wing[at]!;
    if (Number.isNaN(mid(chain, row))) continue;
    const ceiling = chain.bid[row]! - tick;
    if (ceiling > lowestAsk) {
      const against = fresh.filter((near) => ceiling > chain.ask[near]!);
      if (against.length > 1 || fresh.length === 1) {
        stale.push(row);
        continue;
      }
      stale.push(...against);
      fresh = fresh.filter((near) => !against.includes(near));
      lowestAsk = Math.min(...fresh.map((near) => chain.ask[near]!));
    }
    fresh.push(row);
    lowestAsk = Math.min(lowestAsk, chain.ask[row]!);
  }
  return stale;
}
