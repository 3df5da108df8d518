import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { createStreamWatch, STREAM_LIMITS, type StreamLimits } from '../../access/stream-watch.ts';
import { createChangeWatch, type Watched } from '../change-watch.ts';
import type { McpParts } from '../parts.ts';
import { createSessionQuota } from './session-quota.ts';
import { createSseSessions, type SseSessions } from './sse.ts';
import { createStreamable, type Streamable } from './streamable.ts';
import type { TransportParts } from './transport-parts.ts';

/** Idle streams are cheap: some 10 KB each. Of so many in all, those of one account are a quarter. */
const LIMITS: StreamLimits = { ...STREAM_LIMITS, streamsMax: 40_000, accountStreamsMax: 10_000 };

/** A server that stops gives calls so long to be answered, and looks so often whether they are; with what follows it ends within five seconds. */
const LAST_ANSWERS_MS = 1_500;
const LOOK_MS = 10;

/** MCP over HTTP: both transports, over one registry, one watch and one set of limits. */
export interface McpOverHttp {
  readonly sse: SseSessions;
  readonly streamable: Streamable;
  /** There may be something new, levels above all: tells those who follow it. */
  wake(): void;
  /** Clients with an open stream whose connections are known. */
  peers(): Iterable<string>;
  /** Ends every stream and session, once what is under way is answered, within bounds. */
  close(): Promise<void>;
}

export interface McpOverHttpParts extends McpParts, Watched, Pick<TransportParts, 'peerOf'> {
  readonly limits?: Partial<StreamLimits>;
}

export function createMcpOverHttp({ limits, ...given }: McpOverHttpParts): McpOverHttp {
  const bus = new InMemoryServerEventBus();
  const watch = createStreamWatch({ ...LIMITS, ...limits });
  const quota = createSessionQuota(given.context.nowMs);
  const parts = { ...given, watch, quota, bus };
  const streamable = createStreamable(parts);
  return {
    sse: createSseSessions(parts),
    streamable,
    ...createChangeWatch(given, bus),
    peers: watch.peers,
    async close() {
      const deadline = performance.now() + LAST_ANSWERS_MS;
      while (given.scheduler.size > 0 && performance.now() < deadline) await Bun.sleep(LOOK_MS);
      // An answer follows the last word of progress by some milliseconds.
      await Bun.sleep(LOOK_MS);
      watch.close();
      await streamable.close();
    },
  };
}
