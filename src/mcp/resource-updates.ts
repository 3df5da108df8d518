import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { MarketStore } from '../market/store.ts';
import { levelsUri } from './resources.ts';

export type LevelLog = Pick<MarketStore, 'lastLevelSeq' | 'levelEvents' | 'underlyings'>;

const PAGE = 256;

/**
 * Tells the bus which tickers' levels are new since it was woken last, each once, and that there are new tickers. It reads the log of
 * levels, so that what another process stores is told too.
 */
export function createResourceUpdates(log: LevelLog, simulated: boolean, bus: ServerEventBus): { wake(): void } {
  let seq = log.lastLevelSeq();
  let known = log.underlyings(simulated).length;
  return {
    wake() {
      const moved = new Set<string>();
      for (let more = true; more; ) {
        const events = log.levelEvents(seq, PAGE, simulated);
        for (const { underlying } of events) moved.add(underlying);
        seq = events.at(-1)?.seq ?? seq;
        more = events.length === PAGE;
      }
      const count = log.underlyings(simulated).length;
      if (count !== known) bus.publish({ kind: 'resources_list_changed' });
      known = count;
      for (const ticker of moved) bus.publish({ kind: 'resource_updated', uri: levelsUri(ticker) });
    },
  };
}
