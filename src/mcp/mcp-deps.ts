import type { Account } from '../access/access.ts';
import type { Observe } from '../core/events.ts';
import type { Steps } from '../core/steps.ts';
import type { AnswerCache } from '../operations/engine/answer-cache.ts';
import type { Context, Operation } from '../operations/engine/operation.ts';
import type { Scheduler } from '../operations/engine/scheduler.ts';
import type { TaskPrompt } from './prompts.ts';
import type { Resources } from './resources.ts';

/** The tools, resources and prompts that clients can use. */
export interface Catalog {
  /** Returns the current tools. */
  readonly tools: () => readonly Operation[];
  readonly resources: Resources;
  /** True if `tools/list` also has a tool that reads resources. The default is false. */
  readonly hasReader?: boolean;
  /** The prompts. A prompt is offered only if all tools in its text are offered. Absent if no prompt is offered. */
  readonly prompts?: readonly TaskPrompt[];
}

/** The only property of `AbortSignal` that a call reads. */
export type CancelSignal = Pick<AbortSignal, 'aborted'>;

/** Dependencies that all MCP servers of this process share. */
export interface McpDeps extends Catalog {
  readonly context: Context;
  /** The cached answers of tools. Without it, each call is computed. */
  readonly answers?: AnswerCache | undefined;
  readonly version: string;
  readonly observe: Observe;
  readonly scheduler: Scheduler;
  /** Charges an account for the work of a call. Throws `ClientError` if the account lacks tokens. Absent if requests are not limited. */
  readonly charge?: ((account: Account, tokens: number) => void) | undefined;
}

/** The sender of a request. */
export interface Requester {
  readonly account: Account | undefined;
  /** The signal is aborted if the client cancels the request or disconnects. */
  readonly signal: CancelSignal;
}

/** Runs steps in the scheduler as a job of the requester. */
export function runJob<Result>(
  { scheduler, charge }: McpDeps,
  { account, signal }: Requester,
  name: string,
  steps: Steps<Result>,
): Promise<Result> {
  return scheduler.run({
    ...{ account: account?.id ?? '', name, steps },
    isDropped: () => signal.aborted,
    charge: account && charge && ((tokens) => charge(account, tokens)),
  });
}

export interface McpSession {
  /** The account of the client. Undefined over stdio. */
  readonly account: Account | undefined;
  /** URIs of the resources to which the client has subscribed. Absent for protocol revisions without `resources/subscribe`. */
  readonly subscribed?: Set<string>;
  /** True if the client's model can follow links to resources. If undefined, the server looks at the client's `initialize` request. */
  readonly readsResources?: boolean | undefined;
}

/** Maximum number of subscriptions of one session or stream. A session stores the URI of each subscription. */
export const SUBSCRIPTIONS_MAX = 1_000;
