import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { createStreamWatch, STREAM_LIMITS, type StreamLimits } from '../../access/stream-watch.ts';
import { createChangeWatch, type Watched } from '../change-watch.ts';
import type { McpParts } from '../parts.ts';
import { createSessionQuota } from './session-quota.ts';
import { createSseSessions, type SseSessions } from './sse.ts';
import { createStreamable, type Streamable } from './streamable.ts';
import type { TransportParts } from './transport-parts.ts';

/** An idle stream takes only about 10 KB. One account may have a quarter of all streams. */
const LIMITS: StreamLimits = { ...STREAM_LIMITS, streamsMax: 40_000, accountStreamsMax: 10_000 };

/** Time that calls under way have to complete when the server stops. With the rest of the shutdown, the server ends within five seconds. */
const LAST_ANSWERS_MS = 1_500;
/** Interval of the check whether they have completed. */
const LOOK_MS = 10;

/** MCP over HTTP: both transports, with one registry, one stream watch and one set of limits. */
export interface McpOverHttp {
  readonly sse: SseSessions;
  readonly streamable: Streamable;
  /** Notifies clients of new levels and other changes. Called whenever there may be some. */
  wake(): void;
  /** Address and port of each client that has an open stream and whose connection is known. */
  peers(): Iterable<string>;
  /** Waits for calls under way for a limited time, then ends every stream and session. */
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
      // An answer is sent some milliseconds after the last progress report.
      await Bun.sleep(LOOK_MS);
      watch.close();
      await streamable.close();
    },
  };
}
