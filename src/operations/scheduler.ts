import { AccountCounts } from '../access/account-counts.ts';
import { Failure } from '../errors.ts';
import { began } from '../event-loop-watchdog.ts';
import type { Steps } from '../steps.ts';

export interface SchedulerLimits {
  /** Jobs of one account that are under way: more of them would only wait longer. */
  readonly accountJobsMax: number;
  /** Of those, the ones that have begun. The others hold nothing but their arguments. */
  readonly accountBegunMax: number;
  /** Jobs of all accounts that have begun; beyond them each account has one. */
  readonly begunMax: number;
  /** A job that takes longer is given up. */
  readonly deadlineMs: number;
}

const LIMITS: SchedulerLimits = { accountJobsMax: 64, accountBegunMax: 4, begunMax: 8, deadlineMs: 30_000 };

/** A turn of the event loop does so much work and no more: sockets come between. One step may take longer. */
const TURN_MS = 8;
/** Prompt jobs are done at once for so long in a turn of the event loop. */
const PROMPT_MS = 20;
/** Each has an answer to be written, whose time is not in that. */
const TURN_JOBS = 16;

export interface Job<Result> {
  /** Id of the account that asks; '' for the service itself. */
  readonly account: string;
  /** Names the steps for the event loop's watchdog. */
  readonly name: string;
  readonly steps: Steps<Result>;
  /** Whether nobody waits for the result any more. Asked before each step, once the job has waited. */
  readonly isDropped?: (() => boolean) | undefined;
  /**
   * Whether steps are done at once while nothing waits. Pipelined HTTP/1.1 requests need it: the runtime closes a connection on which another
   * request follows one that waits for a turn. Other jobs always wait for a turn: to answer requests together takes less processor time.
   */
  readonly isPrompt?: true;
  /** False for work that is bounded elsewhere, as that of streams is by their number: it counts as no job of the account. */
  readonly isCounted?: false;
  /** Charges the account for work that begins. Throws `Failure` if it cannot pay. */
  readonly charge?: ((tokens: number) => void) | undefined;
}

/** Shares one core between accounts: REST, MCP and live streams all compute here. */
export interface Scheduler {
  /**
   * Does the job's steps in turn with those of others. Throws `Failure`, 429, if the account has too many jobs under way. Rejects with what the
   * steps throw, with `Failure` if the account cannot pay (429) or the deadline is over (503), and with `AbortError` if the job was dropped.
   */
  run<Result>(job: Job<Result>): Promise<Result>;
  /** Jobs under way, of all accounts. */
  readonly size: number;
}

/**
 * Fair queueing: the next step is of the account that has used the least time since it began to compete, so that one who comes with a small
 * request waits for no more than the step in hand, however much others have asked for. `nowMs` is a clock in ms.
 */
export function createScheduler(
  limits: Partial<SchedulerLimits> = {},
  nowMs: () => number = () => performance.now(),
): Scheduler {
  const { accountJobsMax, accountBegunMax, begunMax, deadlineMs } = { ...LIMITS, ...limits };
  const counts = new AccountCounts();
  const lanes = new Map<string, Lane>();
  /** Time used by the account that was served last: where a new one begins. */
  let usedMs = 0;
  let isDue = false;
  /** Time of jobs that were done at once since the last turn. */
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
      let isOver = false;
      // What a job has just computed is in the processor's cache: it goes on as long as the turn lasts.
      do {
        isOver = proceed(entry);
        now = nowMs();
      } while (!isOver && now - startedAt < TURN_MS);
      lane.usedMs += now - stepAt;
      leave(lane, entry, isOver);
    }
    promptMs = 0;
    isDue = lanes.size > 0;
    if (isDue) setImmediate(turn);
  };

  /** The job of an account whose turn it is: one that has not begun, if there may be more of them. */
  const take = ({ begun, waiting }: Lane): Entry => {
    const isNew = waiting.length > 0 && begun.length < (begunOfAll < begunMax ? accountBegunMax : 1);
    if (!isNew) return begun.shift()!;
    begunOfAll++;
    return waiting.shift()!;
  };

  const leave = ({ account, begun, waiting }: Lane, entry: Entry, isOver: boolean): void => {
    if (!isOver) begun.push(entry);
    else begunOfAll--;
    if (begun.length + waiting.length === 0) lanes.delete(account);
  };

  const fail = ({ job, reject }: Entry, error: unknown): true => {
    reject(error);
    close(job.steps);
    if (job.isCounted !== false) counts.remove(job.account);
    return true;
  };

  /** Does a step of a job that has waited, unless it was dropped or has waited for too long. Returns true if it was the last one. */
  const proceed = (entry: Entry): boolean => {
    const { job, askedAt } = entry;
    if (job.isDropped?.()) return fail(entry, new DOMException('Nobody waits for the result', 'AbortError'));
    if (nowMs() - askedAt > deadlineMs) return fail(entry, overdue(deadlineMs));
    return advance(entry);
  };

  /** Does a step. Returns true if it was the last one. */
  const advance = (entry: Entry): boolean => {
    const { job, resolve } = entry;
    try {
      began(job.name);
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

  const makeDue = (): void => {
    if (!isDue) setImmediate(turn);
    isDue = true;
  };

  /** Does steps of a job, for a time that jobs done at once share until the next turn. */
  const isDoneAtOnce = (entry: Entry): boolean => {
    const from = entry.askedAt - promptMs;
    let isOver = false;
    do {
      isOver = advance(entry);
      promptMs = nowMs() - from;
    } while (!isOver && promptMs < PROMPT_MS);
    if (promptMs >= TURN_MS) makeDue();
    return isOver;
  };

  return {
    run<Result>(job: Job<Result>): Promise<Result> {
      const isCounted = job.isCounted !== false;
      if (isCounted && counts.of(job.account) >= accountJobsMax) throw tooMany(accountJobsMax);
      if (isCounted) counts.add(job.account);
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const entry = { job, askedAt: nowMs(), resolve, reject } as unknown as Entry;
      if (job.isPrompt && lanes.size === 0 && promptMs < PROMPT_MS && isDoneAtOnce(entry)) return promise;
      const lane = lanes.get(job.account) ?? { account: job.account, usedMs, begun: [], waiting: [] };
      lanes.set(job.account, lane);
      lane.waiting.push(entry);
      makeDue();
      return promise;
    },
    get size() {
      return counts.total;
    },
  };
}

/** Ends steps that will not be done. What they throw then has nobody to hear it. */
function close(steps: Steps<unknown>): void {
  try {
    steps.return(undefined);
  } catch {}
}

interface Entry {
  readonly job: Job<unknown>;
  readonly askedAt: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Jobs of an account. */
interface Lane {
  readonly account: string;
  usedMs: number;
  /** In the order of their next steps. */
  readonly begun: Entry[];
  readonly waiting: Entry[];
}

function leastUsed(lanes: ReadonlyMap<string, Lane>): Lane {
  let least: Lane | undefined;
  for (const lane of lanes.values()) if (least === undefined || lane.usedMs < least.usedMs) least = lane;
  return least!;
}

function tooMany(jobsMax: number): Failure {
  return new Failure('too_many_requests', `This account has ${jobsMax} requests under way, the most it may`, {
    hint: 'Wait for their answers, then ask again.',
    retryAfterS: 1,
  });
}

function overdue(deadlineMs: number): Failure {
  return new Failure('overdue', `The answer was not ready within ${deadlineMs / 1000} seconds`, {
    hint: 'Ask for less at a time, or again when the service is less busy.',
    retryAfterS: Math.ceil(deadlineMs / 1000),
  });
}
