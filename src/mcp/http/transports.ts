import { createStreamRegistry, STREAM_LIMITS, type StreamLimits } from '../../sse/stream-registry.ts';
import { type ChangeSource, createChangePublisher, createEventBus } from '../change-publisher.ts';
import type { McpDeps } from '../mcp-deps.ts';
import { createSessionQuota } from './session-quota.ts';
import { createSseSessions } from './sse.ts';
import { createStreamable } from './streamable.ts';
import type { TransportDeps } from './transport-deps.ts';

/** Limits of the streams. An idle stream takes only about 10 KB. One account may have a quarter of all streams. */
const LIMITS: StreamLimits = { ...STREAM_LIMITS, streamsMax: 40_000, accountStreamsMax: 10_000 };

/** Maximum time for calls in progress after the server begins to stop, ms. The whole shutdown takes less than five seconds. */
const LAST_ANSWERS_MS = 1_500;
/** Interval between two checks for calls in progress, ms. */
const POLL_MS = 10;

/** MCP over HTTP: both transports, with one registry of tools, one stream registry and one set of limits. */
export type McpOverHttp = ReturnType<typeof createMcpOverHttp>;

export interface McpOverHttpDeps extends McpDeps, ChangeSource, Pick<TransportDeps, 'peerOf' | 'basePath'> {
  readonly limits?: Partial<StreamLimits>;
}

export function createMcpOverHttp({ limits, ...deps }: McpOverHttpDeps) {
  const bus = createEventBus();
  const streams = createStreamRegistry({ ...LIMITS, ...limits });
  const quota = createSessionQuota(deps.context.nowMs);
  const transportDeps = { ...deps, streams, quota, bus };
  const streamable = createStreamable(transportDeps);
  return {
    sse: createSseSessions(transportDeps),
    streamable,
    ...createChangePublisher(deps, bus),
    /** Address and port of each client with an open stream, if the connection is known. */
    peers: streams.peers,
    /** Waits for calls in progress for a limited time. Then ends all streams and sessions. */
    async close() {
      const deadline = performance.now() + LAST_ANSWERS_MS;
      while (deps.scheduler.size > 0 && performance.now() < deadline) await Bun.sleep(POLL_MS);
      // After a call's last progress report, the server needs some milliseconds to send the answer.
      await Bun.sleep(POLL_MS);
      streams.close();
      await streamable.close();
    },
  };
}
