import type { Access, Account } from '../access/access.ts';
import type { ByteBudget } from '../access/byte-budget.ts';
import type { MemberStore } from '../access/members.ts';
import type { RateLimiter } from '../access/rate-limit.ts';
import type { Observe } from '../events.ts';
import type { Context } from '../operations/operation.ts';
import type { Scheduler } from '../operations/scheduler.ts';
import type { ConnectionWatch } from './connections/connection-watch.ts';
import type { GexStreams } from './live/gex-streams.ts';
import type { OriginPolicy } from './origins.ts';

/** What the HTTP surface is given. */
export interface HttpDeps {
  readonly context: Context;
  readonly access: Access;
  readonly members: MemberStore;
  /** Undefined: requests are not limited. */
  readonly limiter: RateLimiter | undefined;
  readonly scheduler: Scheduler;
  /** Bytes of bodies and answers that are held in memory. */
  readonly budget: ByteBudget;
  readonly gexStreams: GexStreams;
  /** Told which connections make requests, and of whom, where connections are watched. */
  readonly connections?: Pick<ConnectionWatch, 'heard' | 'peerOf'>;
  readonly mcp: McpLoader;
  /** Under which names the server is asked, and by pages of which origins. */
  readonly origins: OriginPolicy;
  /** Changes with every write to the store. */
  readonly storeVersion: () => string;
  /** Undefined once there is data. Before that, a promise that settles when the first load ends or the wait limit passes. */
  readonly loaded: () => Promise<void> | undefined;
  /** Builds the OpenAPI document. */
  readonly openapi: () => Record<string, unknown>;
  readonly observe: Observe;
}

/** The transports of MCP, which need to know who is asking. */
export interface McpTransports {
  /** The contract's pair. */
  readonly sse: {
    open(account: Account, request: Request): Response;
    session(account: Account, sessionId: string | null): { receive(body: unknown): Response };
  };
  readonly streamable: { handle(account: Account, request: Request, body?: unknown): Promise<Response> };
}

/** Loads the transports for their first client. */
export interface McpLoader {
  load(): Promise<McpTransports>;
}
