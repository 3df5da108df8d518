import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { MarketStore } from '../market/store.ts';
import type { McpParts } from './parts.ts';
import { levelsUri } from './resources.ts';
import { registryVersion } from './tool-definitions.ts';

/** What clients are told of: the levels that are kept, and the tools that are offered. */
export interface Watched extends Pick<McpParts, 'tools'> {
  readonly log: Pick<MarketStore, 'lastLevelSeq' | 'levelEvents' | 'underlyings'>;
  readonly simulated: boolean;
}

export interface ChangeWatch {
  /**
   * Tells the bus what is new since the last time: tickers with new levels, each once, new tickers, other tools. It reads the log of
   * levels, so that what another process stores is told too.
   */
  wake(): void;
}

const PAGE = 256;
/** As many as a universe may have. Of more, a new one is not told: to count them takes time with each snapshot. */
const TICKERS_MAX = 1_000;

export function createChangeWatch({ log, simulated, tools }: Watched, bus: ServerEventBus): ChangeWatch {
  let seq = log.lastLevelSeq();
  const countTickers = () => log.underlyings(simulated, '', TICKERS_MAX).length;
  let tickers = countTickers();
  let version = registryVersion(tools());
  return {
    wake() {
      const moved = new Set<string>();
      let upTo = seq;
      for (let more = true; more; ) {
        const events = log.levelEvents(upTo, PAGE, simulated);
        for (const { underlying } of events) moved.add(underlying);
        upTo = events.at(-1)?.seq ?? upTo;
        more = events.length === PAGE;
      }
      const [tickersNow, versionNow] = [countTickers(), registryVersion(tools())];
      if (versionNow !== version) bus.publish({ kind: 'tools_list_changed' });
      if (tickersNow !== tickers) bus.publish({ kind: 'resources_list_changed' });
      for (const ticker of moved) bus.publish({ kind: 'resource_updated', uri: levelsUri(ticker) });
      // Last: where the store was busy, the next waking tells what this one could not.
      [seq, version, tickers] = [upTo, versionNow, tickersNow];
    },
  };
}
