import { AccountCounts } from '../../access/account-counts.ts';
import { ClientError } from '../../core/errors.ts';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Steps } from '../../core/steps.ts';

export interface SchedulerLimits {
  /** Maximum number of incomplete jobs of one account. Further jobs are rejected, because they would only wait longer. */
  readonly accountJobsMax: number;
  /**
   * Maximum number of begun jobs of one account. A job has begun if its first step has run and its last step has not. Before, a job takes
   * memory only for its arguments.
   */
  readonly accountBegunMax: number;
  /** If all accounts together have at least this many begun jobs, an account may begin a job only if it has no other begun job. */
  readonly begunMax: number;
  /** A job that is not complete this long after it was submitted fails. */
  readonly deadlineMs: number;
}

const LIMITS: SchedulerLimits = { accountJobsMax: 64, accountBegunMax: 4, begunMax: 8, deadlineMs: 30_000 };

/**
 * Length of a turn, ms. A turn is a series of steps that run without a pause. A turn ends with the first step after which this time has
 * passed. Between two turns, the event loop serves sockets.
 */
const TURN_MS = 8;
/** Maximum time that prompt jobs run between two turns, ms. */
const PROMPT_MS = 20;
/** Maximum number of jobs per turn. Each job has a response to write, and TURN_MS does not include this time. */
const TURN_JOBS = 16;

export interface Job<Result> {
  /** Id of the account that sent the request, or '' for work of the service itself. */
  readonly account: string;
  /** The name under which the event loop watchdog reports the steps. */
  readonly name: string;
  readonly steps: Steps<Result>;
  /** Returns whether the caller no longer waits for the result. Called before each step, except the steps that `isPrompt` runs at once. */
  readonly isDropped?: (() => boolean) | undefined;
  /**
   * True if steps run at once while no other job waits. Pipelined HTTP/1.1 requests need this: the runtime closes a connection if a request
   * that waits for a turn is followed by another request. All other jobs wait for a turn, because the service takes less CPU time if it
   * answers several requests in one turn.
   */
  readonly isPrompt?: true;
  /** False for a job that does not count for `accountJobsMax`, because another limit applies, such as the limit of streams. */
  readonly isCounted?: false;
  /** Charges the account for work that begins. Throws `ClientError` if the account does not have enough tokens. */
  readonly charge?: ((tokens: number) => void) | undefined;
}

/** Shares one core fairly between accounts. All computation of REST, MCP and live streams runs here. */
export interface Scheduler {
  /**
   * Runs the steps of a job in turn with those of other jobs. Throws `ClientError` (429) if the account has too many incomplete jobs.
   * Rejects with the error that a step throws, with `ClientError` if the account does not have enough tokens (429) or the deadline has
   * passed (503), and with `AbortError` if the caller no longer waits.
   */
  run<Result>(job: Job<Result>): Promise<Result>;
  /** Throws `ClientError` (429) if `run` would throw it. So the server can reject a request before it reads the body. */
  assertCapacity(account: string): void;
  /** Number of incomplete jobs of all accounts. */
  readonly size: number;
}

/**
 * Creates a scheduler with fair queueing: the next job belongs to the account that has used the least time. If an account without jobs
 * submits one, the account starts with the time of the account that was served last. So a small request of such an account waits only for
 * the current turn, however much work the other accounts have requested. `nowMs` is a clock in ms.
 */
export function createScheduler(
  limits: Partial<SchedulerLimits> = {},
  nowMs: () => number = () => performance.now(),
): Scheduler {
  const { accountJobsMax, accountBegunMax, begunMax, deadlineMs } = { ...LIMITS, ...limits };
  const counts = new AccountCounts();
  const lanes = new Map<string, Lane>();
  /** Time used by the account that was served last, ms. An account without jobs starts with this time. */
  let usedMs = 0;
  let isScheduled = false;
  /** Time used by prompt jobs since the last turn, ms. */
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
      // The job continues until the turn ends, because its data is in the processor's cache.
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

  /** Takes the next job of an account: a job that has not begun if the account may begin one, or else a begun job. */
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

  /** Runs one step of a job, or fails the job if its caller no longer waits or its deadline has passed. Returns true if the job is done. */
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

  /**
   * Runs steps of a job until it is done, or until prompt jobs have used PROMPT_MS since the last turn. Returns true if the job is done.
   */
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

/** Ends steps that will not run any more. Ignores errors, because the job has already failed. */
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
