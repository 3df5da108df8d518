import type { ServerEventBus } from '@modelcontextprotocol/server';
import type { StreamWatch } from '../../access/stream-watch.ts';
import type { McpParts } from '../parts.ts';
import type { SessionQuota } from './session-quota.ts';

/** What the transports over HTTP have in common besides: one watch and one set of limits for both. */
export interface TransportParts extends McpParts {
  readonly watch: StreamWatch;
  readonly quota: SessionQuota;
  /** Address and port of a request's client, where connections are known: a stream keeps its connection from being ended as idle. */
  readonly peerOf?: ((request: Request) => string | undefined) | undefined;
  /** Where changes are told: of the tools, of the resources. */
  readonly bus: ServerEventBus;
}
