import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { began } from '../event-loop-watchdog.ts';
import { PARTS, stretchesOf } from '../market/tape.ts';
import { TapeSummer } from '../market/tape-sums.ts';
import type { Context } from './operation.ts';

/** For each way of reading a tape. */
const TAPE_MS = 60;

/**
 * Signs the tape of the first recorded ticker that has one, by the sums that are stored and by the prints themselves, with turns of the event
 * loop between: the code is compiled then, and the first question of signed flow takes a third of the time. Analyses of chains are not
 * warmed up: the first would be 20 ms faster, for 8 MiB that a service at rest would hold.
 */
export async function warmUp({ market }: Context): Promise<void> {
  const taped = market.tickersWithChain().find((ticker) => market.hasPrints(ticker));
  const chain = taped === undefined ? undefined : market.findChain(taped);
  if (!chain || chain.simulated) return;
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
