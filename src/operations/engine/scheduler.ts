import { AccountCounts } from '../../access/account-counts.ts';
import { ClientError } from '../../core/errors.ts';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Steps } from '../../core/steps.ts';

export interface SchedulerLimits {
  /** Maximum number of incomplete jobs of one account. The scheduler rejects further jobs, because further jobs would only wait. */
  readonly accountJobsMax: number;
  /** Maximum number of begun jobs per account. Until its first step has run, a job takes memory for its arguments only. */
  readonly accountBegunMax: number;
  /** If all accounts together have at least `begunMax` begun jobs, an account with a begun job cannot begin another job. */
  readonly begunMax: number;
  /** Deadline of a job, ms after its submission. A job that is incomplete at its deadline fails. */
  readonly deadlineMs: number;
}

const LIMITS: SchedulerLimits = { accountJobsMax: 64, accountBegunMax: 4, begunMax: 8, deadlineMs: 30_000 };

/** Length after which a turn, a series of steps without a pause, ends, ms. Between two turns, the event loop serves sockets. */
const TURN_MS = 8;
/** Maximum time for prompt jobs between two turns, ms. */
const PROMPT_MS = 20;
/** Maximum number of jobs per turn. TURN_MS does not include the time to write responses, so a limit on jobs is also needed. */
const TURN_JOBS = 16;

export interface Job<Result> {
  /** The id of the account that sent the request. The id is '' for work of the service itself. */
  readonly account: string;
  /** The name of the job in the reports of the event loop watchdog. */
  readonly name: string;
  readonly steps: Steps<Result>;
  /** Returns whether the caller no longer waits for the result. Called before each step, except immediate steps of prompt jobs. */
  readonly isDropped?: (() => boolean) | undefined;
  /**
   * True if steps run immediately while no other job waits. The runtime closes a connection whose second pipelined HTTP/1.1 request arrives
   * while the first waits for a turn. Other jobs wait, because several answers in one turn take less CPU time.
   */
  readonly isPrompt?: true;
  /** False if the job does not count towards `accountJobsMax`, because another limit applies to it, such as the limit on streams. */
  readonly isCounted?: false;
  /** Charges the account when work begins. Throws `ClientError` if the account does not have enough tokens. */
  readonly charge?: ((tokens: number) => void) | undefined;
}

/** The scheduler divides the time of one core fairly among accounts. All computation of REST, MCP and live streams runs in a scheduler. */
export interface Scheduler {
  /**
   * Runs the steps of a job. Steps of other jobs can run between two steps. Throws `ClientError` (429) if the account has too many
   * incomplete jobs. Rejects with the error of a step. Rejects with `ClientError` if the account has too few tokens (429) or the deadline
   * has passed (503). Rejects with `AbortError` if the caller no longer waits.
   */
  run<Result>(job: Job<Result>): Promise<Result>;
  /** Throws `ClientError` (429) if `run` would throw this error. The server can then reject a request before it reads the body. */
  assertCapacity(account: string): void;
  /** Number of incomplete jobs of all accounts. */
  readonly size: number;
}

/**
 * Creates a scheduler with fair queueing: the next job is of the account with the least used time. An account without jobs starts with the
 * used time of the account served last, so that its small request waits only for the current turn. `nowMs` is a clock in ms.
 */
export function createScheduler(
  limits: Partial<SchedulerLimits> = {},
  nowMs: () => number = () => performance.now(),
): Scheduler {
  const { accountJobsMax, accountBegunMax, begunMax, deadlineMs } = { ...LIMITS, ...limits };
  const counts = new AccountCounts();
  const lanes = new Map<string, Lane>();
  /** Used time of the account that was served last, ms. An account without jobs starts with this used time. */
  let usedMs = 0;
  let isScheduled = false;
  /** Time that prompt jobs have used since the last turn, ms. */
  let promptMs = 0;
  let begunOfAll = 0;

  const turn = (): void => {
    const startedAt = nowMs();
    let now = startedAt;
    for (let jobs = 0; jobs < TURN_JOBS && lanes.size > 0 && now - startedAt < TURN_MS; jobs++) {
      const lane = leastUsed(lanes);
      const entry = take(lane);
      usedMs = lane.usedMs;
      const stepAt = now;
      let isDone = false;
      // The same job continues until the turn ends, because its data is in the processor's cache.
      do {
        isDone = proceed(entry);
        now = nowMs();
      } while (!isDone && now - startedAt < TURN_MS);
      lane.usedMs += now - stepAt;
      leave(lane, entry, isDone);
    }
    promptMs = 0;
    isScheduled = lanes.size > 0;
    if (isScheduled) setImmediate(turn);
  };

  /** Takes an account's job that has not begun, if the account may begin one. Otherwise takes a begun job. */
  const take = ({ begun, waiting }: Lane): Entry => {
    const isNew = waiting.length > 0 && begun.length < (begunOfAll < begunMax ? accountBegunMax : 1);
    if (!isNew) return begun.shift()!;
    begunOfAll++;
    return waiting.shift()!;
  };

  const leave = ({ account, begun, waiting }: Lane, entry: Entry, isDone: boolean): void => {
    if (!isDone) begun.push(entry);
    else begunOfAll--;
    if (begun.length + waiting.length === 0) lanes.delete(account);
  };

  const fail = ({ job, reject }: Entry, error: unknown): true => {
    reject(error);
    closeSteps(job.steps);
    if (job.isCounted !== false) counts.remove(job.account);
    return true;
  };

  /** Runs one step of a job, or lets it fail if the caller no longer waits or the deadline has passed. Returns true if the job is done. */
  const proceed = (entry: Entry): boolean => {
    const { job, submittedAt } = entry;
    if (job.isDropped?.()) return fail(entry, new DOMException('The caller no longer waits', 'AbortError'));
    if (nowMs() - submittedAt > deadlineMs) return fail(entry, overdue(deadlineMs));
    return advance(entry);
  };

  /** Runs one step of a job. Returns true if the job is done. */
  const advance = (entry: Entry): boolean => {
    const { job, resolve } = entry;
    try {
      announceStep(job.name);
      const { value, done } = job.steps.next();
      if (done) resolve(value);
      else if (value.tokens) job.charge?.(value.tokens);
      if (!done) return false;
    } catch (error) {
      return fail(entry, error);
    }
    if (job.isCounted !== false) counts.remove(job.account);
    return true;
  };

  const scheduleTurn = (): void => {
    if (!isScheduled) setImmediate(turn);
    isScheduled = true;
  };

  /** Runs steps of a job until prompt jobs have used PROMPT_MS since the last turn. Returns true if the job is done. */
  const completesAtOnce = (entry: Entry): boolean => {
    const from = entry.submittedAt - promptMs;
    let isDone = false;
    do {
      isDone = advance(entry);
      promptMs = nowMs() - from;
    } while (!isDone && promptMs < PROMPT_MS);
    if (promptMs >= TURN_MS) scheduleTurn();
    return isDone;
  };

  const assertCapacity = (account: string): void => {
    if (counts.of(account) >= accountJobsMax) throw tooMany(accountJobsMax);
  };

  return {
    assertCapacity,
    run<Result>(job: Job<Result>): Promise<Result> {
      if (job.isCounted !== false) {
        assertCapacity(job.account);
        counts.add(job.account);
      }
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const entry = { job, submittedAt: nowMs(), resolve, reject } as unknown as Entry;
      if (job.isPrompt && lanes.size === 0 && promptMs < PROMPT_MS && completesAtOnce(entry)) return promise;
      const lane = { account: job.account, usedMs, begun: [], waiting: [] };
      lanes.getOrInsert(job.account, lane).waiting.push(entry);
      scheduleTurn();
      return promise;
    },
    get size() {
      return counts.total;
    },
  };
}

/** Closes a job's steps after the job has failed. Ignores errors, because the caller already gets the error of the job. */
function closeSteps(steps: Steps<unknown>): void {
  try {
    steps.return(undefined);
  } catch {}
}

interface Entry {
  readonly job: Job<unknown>;
  readonly submittedAt: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The jobs of an account that wait for a turn. */
interface Lane {
  readonly account: string;
  usedMs: number;
  /** The jobs that have begun, in the order of their next steps. */
  readonly begun: Entry[];
  /** The jobs that have not begun, in the order in which they were submitted. */
  readonly waiting: Entry[];
}

function leastUsed(lanes: ReadonlyMap<string, Lane>): Lane {
  let least: Lane | undefined;
  for (const lane of lanes.values()) if (least === undefined || lane.usedMs < least.usedMs) least = lane;
  return least!;
}

function tooMany(jobsMax: number): ClientError {
  return new ClientError('too_many_requests', `This account has ${jobsMax} requests in progress, which is its limit`, {
    hint: 'Wait for their answers, then retry.',
    retryAfterS: 1,
  });
}

function overdue(deadlineMs: number): ClientError {
  return new ClientError('overdue', `The answer was not ready within ${deadlineMs / 1000} seconds`, {
    hint: 'Request less at a time, or retry when the service is less busy.',
    retryAfterS: Math.ceil(deadlineMs / 1000),
  });
}
