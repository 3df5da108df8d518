import type { Account } from '../access/access.ts';
import type { Observe } from '../events.ts';
import type { Context, Operation } from '../operations/operation.ts';
import type { Scheduler } from '../operations/scheduler.ts';
import type { Resources } from './resources.ts';

/** What clients are offered. */
export interface Offered {
  /** The tools that are offered now. */
  readonly tools: () => readonly Operation[];
  readonly resources: Resources;
}

/** What every server of this process has in common. */
export interface McpParts extends Offered {
  readonly context: Context;
  readonly version: string;
  readonly observe: Observe;
  readonly scheduler: Scheduler;
  /** Charges an account for work that a call begins. Throws `Failure` if it cannot pay. Absent if requests are not limited. */
  readonly charge?: ((account: Account, tokens: number) => void) | undefined;
}

export interface McpSession {
  /** Who asks; undefined on this machine's own standard input. */
  readonly account: Account | undefined;
  /** Addresses of resources of whose changes the client is told; absent where the revision has another way to ask for them. */
  readonly followed?: Set<string>;
  /** Whether the client takes links in answers, where the engine was not there to hear who it is. */
  readonly takesLinks?: boolean | undefined;
}
