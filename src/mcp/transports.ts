import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { createStreamWatch, STREAM_LIMITS, type StreamLimits } from '../access/stream-watch.ts';
import { createCallGate } from './call-gate.ts';
import type { McpParts } from './parts.ts';
import { createResourceUpdates, type LevelLog } from './resource-updates.ts';
import { createSessionQuota } from './session-quota.ts';
import { createSseSessions, type SseSessions } from './sse.ts';
import { createStreamable, type Streamable } from './streamable.ts';

/** Idle streams are cheap: some 10 KB each. */
const LIMITS: StreamLimits = { ...STREAM_LIMITS, streamsMax: 16_000, accountStreamsMax: 10_000 };

/** MCP over HTTP: both transports, over one registry, one watch and one set of limits. */
export interface McpOverHttp {
  readonly sse: SseSessions;
  readonly streamable: Streamable;
  /** New levels may be kept: tells those who follow them. */
  wake(): void;
  /** Ends every stream and session. */
  close(): Promise<void>;
}

export interface McpOverHttpParts extends Pick<McpParts, 'context' | 'version' | 'observe' | 'tools'> {
  readonly log: LevelLog;
  readonly simulated: boolean;
  readonly limits?: Partial<StreamLimits>;
}

export function createMcpOverHttp({ log, simulated, limits, ...common }: McpOverHttpParts): McpOverHttp {
  const { context } = common;
  const bus = new InMemoryServerEventBus();
  const parts: McpParts = { ...common, gate: createCallGate() };
  const watch = createStreamWatch({ ...LIMITS, ...limits });
  const quota = createSessionQuota(context.nowMs);
  const streamable = createStreamable(parts, watch, quota, bus);
  const { wake } = createResourceUpdates(log, simulated, bus);
  return {
    sse: createSseSessions(parts, watch, quota, bus),
    streamable,
    wake,
    async close() {
      watch.close();
      await streamable.close();
    },
  };
}
