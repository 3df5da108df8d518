import { announceStep } from './event-loop-watchdog.ts';

/** Work in steps of at most 25 ms. The generator yields a description before each step. Other requests can run between two steps. */
export type Steps<Result> = Generator<Step, Result>;

/** The result of the steps that a function returns. */
export type ReturnOf<Work extends (...args: never[]) => Steps<unknown>> =
  ReturnType<Work> extends Steps<infer Result> ? Result : never;

/** The description of the step that runs next. */
export interface Step {
  readonly message: string;
  readonly total?: number;
  /** Rate-limit tokens that the account pays for this step and later steps, in addition to the request's token. */
  readonly tokens?: number;
}

/** Runs the steps. Between two steps, the event loop can do other work. `message` names the first step for the watchdog. */
export async function runInTurns<Result>(message: string, steps: Steps<Result>): Promise<Result> {
  announceStep(message);
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    await new Promise(setImmediate);
    announceStep(value.message);
  }
}

/** Runs all steps without a pause, and returns the result. */
export function runToCompletion<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}

/** Wraps a function as work that consists of a single step. */
// biome-ignore lint/correctness/useYield: there is no further step.
export function* oneStep<Result>(work: () => Result): Steps<Result> {
  return work();
}

/** Calls `work` for the rows [0, count) in blocks of `rows` rows. The first block runs in the caller's step, each further one is a step. */
export function* byRange(
  count: number,
  rows: number,
  message: string,
  work: (from: number, to: number) => void,
): Steps<void> {
  for (let from = 0; from < count; from += rows) {
    if (from > 0) yield { message };
    work(from, Math.min(from + rows, count));
  }
}

/** Groups pieces of work of different sizes into steps. */
export class StepMeter {
  private done = 0;

  /** `most` is the largest amount of work in one step. The caller chooses the unit. */
  constructor(private readonly most: number) {}

  /** Counts a piece of work. Returns true if it does not fit into the current step: the caller must then yield before the piece. */
  beginsNextStep(work: number): boolean {
    const beginsNext = this.done > 0 && this.done + work > this.most;
    this.done = beginsNext ? work : this.done + work;
    return beginsNext;
  }
}

/** Work whose result can be cached. The work consists of the description of its first step, and a function that starts the work. */
export interface Work<Result> extends Step {
  steps(): Steps<Result>;
}

/**
 * A cache of results that are computed in steps, by owner and key. Requests for the same incomplete result share the work: each can run the
 * next step, so the work continues if the first request is aborted. Beyond `entriesMax` results of an owner, drops the least recently used.
 */
export class StepCache<Owner extends WeakKey, Result> {
  private readonly caches = new WeakMap<Owner, Map<string, Entry<Result>>>();

  constructor(private readonly entriesMax: (owner: Owner) => number) {}

  /** Returns the cached result, or computes the result. Throws the errors of the work. Errors are not cached. */
  *of(owner: Owner, key: string, { steps, ...step }: Work<Result>): Steps<Result> {
    const entries = this.caches.get(owner) ?? new Map<string, Entry<Result>>();
    this.caches.set(owner, entries);
    // The request pays for the first step before the cache entry is created. Otherwise, a request that cannot pay would leave an entry, and
    // the next request would get the work for free.
    if (!entries.has(key)) yield step;
    const entry = entries.get(key) ?? { steps: steps(), ended: undefined };
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > this.entriesMax(owner)) entries.delete(entries.keys().next().value!);
    while (!entry.ended) {
      const next = advance(entry);
      if (next) yield next;
      else if (entry.ended && 'error' in entry.ended && entries.get(key) === entry) entries.delete(key);
    }
    if ('error' in entry.ended) throw entry.ended.error;
    return entry.ended.result;
  }
}

/** Returns a function like `compute` whose result is cached by its argument. `message` describes the first step of the work. */
export function cachedBy<Owner extends WeakKey, Result>(
  message: string,
  compute: (owner: Owner) => Steps<Result>,
): (owner: Owner) => Steps<Result> {
  const cache = new StepCache<Owner, Result>(() => 1);
  return (owner) => cache.of(owner, '', { message, steps: () => compute(owner) });
}

interface Entry<Result> {
  readonly steps: Steps<Result>;
  ended: { readonly result: Result } | { readonly error: unknown } | undefined;
}

/** Runs one step of the work. Returns the next step, or `undefined` if the work has ended with a result or an error. */
function advance<Result>(entry: Entry<Result>): Step | undefined {
  try {
    const { value, done } = entry.steps.next();
    if (!done) return value;
    entry.ended = { result: value };
  } catch (error) {
    entry.ended = { error };
  }
  return undefined;
}
