import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { Failure } from '../errors.ts';
import { PARTS, stretchesOf } from '../market/tape.ts';
import { TapeSummer } from '../market/tape-sums.ts';
import { levelsOf, readMarket } from './market-reading.ts';
import type { Context } from './operation.ts';

/** For one tape, each way of reading it. */
const TAPE_MS = 60;

/**
 * Reads the levels of the universe's tickers and of others with a chain, one after the other, until `deadline` (as `performance.now` counts): the code of
 * an analysis is then compiled, and the first requests for those tickers find their answers. The first of all would
 * take some five times as long as it does later. So would the first to sign a tape: a day of one is gone through too.
 */
export function warmUp(context: Context, deadline: number): void {
  let hasSigned = false;
  for (const ticker of new Set([...context.universe.tickers, ...context.market.tickersWithChain()])) {
    if (performance.now() >= deadline) return;
    try {
      const reading = readMarket(ticker, context);
      levelsOf(reading);
      if (hasSigned || !context.market.hasPrints(ticker)) continue;
      hasSigned = true;
      // By sums, and by the prints themselves.
      for (const mostParts of [PARTS.ofDay, PARTS.one]) {
        const summer = new TapeSummer();
        const until = performance.now() + TAPE_MS;
        for (const stretch of stretchesOf(context.market.tape(reading.chain, FLOW_WINDOW_DAYS), mostParts)) {
          summer.add(stretch.sums());
          if (performance.now() >= until) break;
        }
      }
    } catch (error) {
      // Without a chain, or with one that has nothing to read, a ticker refuses; whoever asks for it is told.
      if (!(error instanceof Failure)) throw error;
    }
  }
}
