import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { StreamRegistry } from '../../sse/stream-registry.ts';
import type { McpDeps } from '../mcp-deps.ts';
import type { SessionQuota } from './session-quota.ts';

/** Dependencies that both HTTP transports share, in addition to `McpDeps`. */
export interface TransportDeps extends McpDeps {
  readonly streams: StreamRegistry;
  readonly quota: SessionQuota;
  /** Returns a client's address and port, so that a connection with an open stream does not count as idle. Absent without monitoring. */
  readonly peerOf?: ((request: Request) => string | undefined) | undefined;
  /** The path prefix of the server behind a proxy, without a slash at the end. */
  readonly basePath?: string;
  /** Sends changes of tools and resources to sessions and streams. */
  readonly bus: ServerEventBus;
}
