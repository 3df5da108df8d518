import { Failure } from '../errors.ts';
import { began } from '../event-loop-watchdog.ts';
import { levelsOf, readMarket } from './market-reading.ts';
import type { Context } from './operation.ts';

/**
 * Reads the levels of the universe's tickers, one between two turns of the event loop, until that has taken `mostMs`: the code of an analysis
 * is then compiled, and the first requests for those tickers find their answers. The first of all would take some five times
 * as long as it does later.
 */
export async function warmUp(context: Context, mostMs: number): Promise<void> {
  let left = mostMs;
  for (const ticker of context.universe.tickers) {
    await new Promise(setImmediate);
    const beganAt = performance.now();
    began('warm-up');
    try {
      levelsOf(readMarket(ticker, context));
    } catch (error) {
      // Without a chain, or with one that has nothing to read, a ticker refuses; whoever asks for it is told.
      if (!(error instanceof Failure)) throw error;
    }
    left -= performance.now() - beganAt;
    if (left <= 0) return;
  }
}
