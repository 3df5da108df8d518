/** Work in steps of at most 25 ms each. Between two steps, other requests have their turn. */
export type Steps<Result> = Generator<Step, Result>;

/** What the next step does. */
export interface Step {
  readonly message: string;
  /** The total number of steps, if it is known. */
  readonly total?: number;
  /** Rate-limit tokens that the work from here on costs the account, in addition to the token of the request. */
  readonly tokens?: number;
}

/** Runs all steps without a break. Returns the result. */
export function runToCompletion<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}

/** Does work for the rows [0, count), at most `rows` of them in a step. The first `rows` belong to the caller's current step. */
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

  /** `most` is the most work that fits into a step, in a unit of the caller's choice. */
  constructor(private readonly most: number) {}

  /** Counts a piece of work. Returns true if the piece belongs to the next step, because it does not fit into the current one. */
  isFull(work: number): boolean {
    const isFull = this.done > 0 && this.done + work > this.most;
    this.done = isFull ? work : this.done + work;
    return isFull;
  }
}

/** The work that a request starts if its result is not cached. */
export interface Work<Result> extends Step {
  steps(): Steps<Result>;
}

/**
 * A cache of results by owner and key. The results are computed in steps. Requests for a result that is being computed share the work: each
 * step is done by the request that has its turn. So the work is done only once, and continues if the request that started it is dropped.
 * An owner has at most `entriesMax` results. The least recently used one is dropped first.
 */
export class StepCache<Owner extends WeakKey, Result> {
  private readonly caches = new WeakMap<Owner, Map<string, Entry<Result>>>();

  constructor(private readonly entriesMax: (owner: Owner) => number) {}

  /** Returns the result for the key, from the cache or computed. Throws what the work throws. Errors are not cached. */
  *of(owner: Owner, key: string, { steps, ...step }: Work<Result>): Steps<Result> {
    const entries = this.caches.get(owner) ?? new Map<string, Entry<Result>>();
    this.caches.set(owner, entries);
    // The request pays before the entry is created. Otherwise a request that cannot pay would leave free work to the next request.
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

interface Entry<Result> {
  readonly steps: Steps<Result>;
  ended: { readonly result: Result } | { readonly error: unknown } | undefined;
}

/** Does one step of the work. Returns the next step, or `undefined` if the work is complete. */
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
