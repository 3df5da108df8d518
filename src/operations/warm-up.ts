import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { Failure } from '../errors.ts';
import { began } from '../event-loop-watchdog.ts';
import type { Chain } from '../market/chain.ts';
import { PARTS, stretchesOf } from '../market/tape.ts';
import { TapeSummer } from '../market/tape-sums.ts';
import { levelsOf, readMarket } from './market-reading.ts';
import type { Context } from './operation.ts';

/** For one tape, each way of reading it. */
const TAPE_MS = 60;

/**
 * Reads the levels of tickers that have a chain until that has taken `mostMs`, and signs the tape of the first recorded one that has prints,
 * with turns of the event loop between. The code of an analysis is then compiled, and the first requests for those tickers find
 * their answers: the first of all would take some five times as long as it does later.
 */
export async function warmUp(context: Context, mostMs: number): Promise<void> {
  const { market, universe } = context;
  const tickers = market.tickersWithChain();
  const ordered = new Set([...universe.tickers].filter((ticker) => tickers.includes(ticker)).concat(tickers));
  let left = mostMs;
  for (const ticker of ordered) {
    await new Promise(setImmediate);
    const beganAt = performance.now();
    began('warm-up');
    refused(() => levelsOf(readMarket(ticker, context)));
    left -= performance.now() - beganAt;
    if (left <= 0) break;
  }
  const taped = ordered.values().find((ticker) => market.hasPrints(ticker));
  const chain = taped === undefined ? undefined : market.findChain(taped);
  if (chain && !chain.simulated) await signTape(chain, context);
}

/** A chain that has nothing to read refuses; whoever asks for it is told. */
function refused(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

/** By the sums that are stored, and by the prints themselves. */
async function signTape(chain: Chain, { market }: Context): Promise<void> {
  for (const mostParts of [PARTS.ofDay, PARTS.one]) {
    const summer = new TapeSummer();
    const until = performance.now() + TAPE_MS;
    for (const stretch of stretchesOf(market.tape(chain, FLOW_WINDOW_DAYS), mostParts)) {
      began('warm-up');
      summer.add(stretch.sums());
      if (performance.now() >= until) break;
      await new Promise(setImmediate);
    }
  }
}
