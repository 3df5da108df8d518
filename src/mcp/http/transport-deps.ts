import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { StreamRegistry } from '../../sse/stream-registry.ts';
import type { McpDeps } from '../mcp-deps.ts';
import type { SessionQuota } from './session-quota.ts';

/** Dependencies that both HTTP transports share, in addition to `McpDeps`. */
export interface TransportDeps extends McpDeps {
  readonly streams: StreamRegistry;
  readonly quota: SessionQuota;
  /** Returns a client's address and port, by which a connection with an open stream is not counted as idle. Absent without monitoring. */
  readonly peerOf?: ((request: Request) => string | undefined) | undefined;
  /** The server's path prefix at its proxy, without a slash at its end. */
  readonly basePath?: string;
  /** Sends changes of tools and resources to sessions and streams. */
  readonly bus: ServerEventBus;
}
