import { Failure } from '../errors.ts';
import { levelsOf, readMarket } from './market-reading.ts';
import type { Context } from './operation.ts';

/**
 * Reads the levels of the universe's tickers, one after the other, until `deadline` (as `performance.now` counts): the code of
 * an analysis is then compiled, and the first requests for those tickers find their answers. The first of all would
 * take some five times as long as it does later.
 */
export function warmUp(context: Context, deadline: number): void {
  for (const ticker of context.universe.tickers) {
    if (performance.now() >= deadline) return;
    try {
      levelsOf(readMarket(ticker, context));
    } catch (error) {
      // Without a chain, or with one that has nothing to read, a ticker refuses; whoever asks for it is told.
      if (!(error instanceof Failure)) throw error;
    }
  }
}
