import type { Access, Account } from '../access/access.ts';
import type { ByteBudget } from '../access/byte-budget.ts';
import type { KnownMembers } from '../access/members.ts';
import type { RateLimiter } from '../access/rate-limit.ts';
import type { SignInCodes } from '../access/sign-in-codes.ts';
import type { Observe } from '../core/events.ts';
import type { RequestTracing } from '../core/trace-context.ts';
import type { AnswerCache } from '../operations/engine/answer-cache.ts';
import type { Context } from '../operations/engine/operation.ts';
import type { Scheduler } from '../operations/engine/scheduler.ts';
import type { BasePath } from './base-path.ts';
import type { AddressOf } from './client-address.ts';
import type { ConnectionMonitor } from './connections/connection-monitor.ts';
import type { Drain } from './drain.ts';
import type { GexStreams } from './live/gex-streams.ts';
import type { MyKeyPolicy } from './my-key-policy.ts';
import type { OriginPolicy } from './origins.ts';
import type { Refusals } from './refusals.ts';

/** The dependencies of the HTTP adapter. */
export interface HttpDeps {
  readonly context: Context;
  readonly access: Access;
  readonly members: KnownMembers;
  readonly limiter: RateLimiter | undefined;
  readonly scheduler: Scheduler;
  readonly budget: ByteBudget;
  readonly gexStreams: GexStreams;
  /** Records which connections make requests, and for which account. Undefined if connections are not monitored. */
  readonly connections?: Pick<ConnectionMonitor, 'onRequest' | 'peerOf'>;
  /** Loads the transports of MCP when the first client connects. `sse` are the two endpoints that the API contract defines. */
  readonly mcp: {
    load(): Promise<{
      readonly sse: {
        open(account: Account, request: Request): Promise<Response>;
        session(account: Account, sessionId: string | null): { receive(body: unknown): Promise<Response> };
      };
      readonly streamable: { handle(account: Account, request: Request, body?: unknown): Promise<Response> };
    }>;
  };
  readonly origins: OriginPolicy;
  readonly answers: AnswerCache;
  /**
   * Returns undefined if the store had data at the start or the initial load is complete, because requests then need not wait. Otherwise,
   * returns a promise that settles when the initial load is complete or takes too long.
   */
  readonly loaded: () => Promise<void> | undefined;
  readonly drain: Pick<Drain, 'onRequest'>;
  /** Returns the reasons why the server should get no requests now. The list is empty if the server is ready. */
  readonly notReady: () => readonly string[];
  /** Finds the address of a client, for the log and for limits per address. */
  readonly addressOf: AddressOf;
  /** Returns whether the connection of a request comes from a trusted proxy, whose request ids are kept. */
  readonly isFromProxy: (request: Request) => boolean;
  readonly refusals: Refusals;
  /** Whether the server itself serves HTTPS. False if a proxy serves HTTPS. */
  readonly isHttps: boolean;
  readonly tracing?: RequestTracing | undefined;
  readonly basePath: BasePath;
  readonly myKeyPolicy: MyKeyPolicy;
  readonly signInCodes: Pick<SignInCodes, 'redeem'>;
  readonly openapi: () => Promise<object>;
  readonly observe: Observe;
}
