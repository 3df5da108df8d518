import type { JSONRPCNotification, ServerEvent, ServerEventBus } from '@modelcontextprotocol/server';
import type { KnownMarket } from '../market/store.ts';
import type { McpDeps } from './mcp-deps.ts';
import { levelsUri } from './resources.ts';
import { registryVersion } from './tool-definitions.ts';

/** The sources of the changes that clients are notified of: the log of stored levels, and the tools. */
export interface ChangeSource extends Pick<McpDeps, 'tools'> {
  readonly log: Pick<KnownMarket, 'lastLevelSeq' | 'levelEvents' | 'underlyings'>;
  readonly simulated: boolean;
}

const PAGE = 256;
/** Maximum number of tickers that one call counts, to limit the call's duration. A universe has at most `TICKERS_MAX` tickers. */
const TICKERS_MAX = 1_000;

/** Creates a bus. An error of a listener does not keep an event from the other listeners. */
export function createEventBus(): ServerEventBus {
  const listeners = new Set<(event: ServerEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch {}
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function createChangePublisher({ log, simulated, tools }: ChangeSource, bus: ServerEventBus) {
  let seq = log.lastLevelSeq();
  const countTickers = () => log.underlyings(simulated, '', TICKERS_MAX).length;
  let tickers = countTickers();
  let version = registryVersion(tools());
  return {
    /** Sends the changes since the last call, also of other processes: levels, tickers, tools. Throws if the store is busy. */
    wake() {
      const changed = new Set<string>();
      let upTo = seq;
      for (let more = true; more; ) {
        const events = log.levelEvents(upTo, PAGE, simulated);
        for (const { underlying } of events) changed.add(underlying);
        upTo = events.at(-1)?.seq ?? upTo;
        more = events.length === PAGE;
      }
      const [tickersNow, versionNow] = [countTickers(), registryVersion(tools())];
      if (versionNow !== version) bus.publish({ kind: 'tools_list_changed' });
      if (tickersNow !== tickers) bus.publish({ kind: 'resources_list_changed' });
      for (const ticker of changed) bus.publish({ kind: 'resource_updated', uri: levelsUri(ticker) });
      // These variables are set last. If a read fails because the store is busy, the next call publishes the same changes.
      [seq, version, tickers] = [upTo, versionNow, tickersNow];
    },
  };
}

/** Returns the notification of a change for revisions with sessions, or `undefined` if the client has not subscribed to it. */
export function notificationOf(event: ServerEvent, subscribed: Subscriptions): JSONRPCNotification | undefined {
  if (event.kind !== 'resource_updated') return { jsonrpc: '2.0', method: METHODS[event.kind] };
  if (!subscribed.has(event.uri)) return undefined;
  return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: event.uri } };
}

/** URIs of the resources that a client has subscribed to. */
export type Subscriptions = Pick<ReadonlySet<string>, 'has'>;

const METHODS = {
  tools_list_changed: 'notifications/tools/list_changed',
  prompts_list_changed: 'notifications/prompts/list_changed',
  resources_list_changed: 'notifications/resources/list_changed',
} as const;
