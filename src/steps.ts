/** Work in steps of at most some 25 ms each: between two of them, other requests have their turn. */
export type Steps<Result> = Generator<Step, Result>;

/** What the next step does. */
export interface Step {
  readonly message: string;
  /** Steps in all, if that is known. */
  readonly total?: number;
  /** What the work that begins here costs its account, beside the token of the request. */
  readonly tokens?: number;
}

/** Does all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}

/** Does work for rows [0, count), at most `rows` of them in a step: fewer are done in the step in hand. */
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

/** Counts work, which comes in pieces of different sizes, toward the end of a step. */
export class StepMeter {
  private done = 0;

  /** `most` is what fits into a step, in the caller's unit. */
  constructor(private readonly most: number) {}

  /** Whether a piece of work belongs to the next step. */
  isFull(work: number): boolean {
    const isFull = this.done > 0 && this.done + work > this.most;
    this.done = isFull ? work : this.done + work;
    return isFull;
  }
}

/** Work that a request begins, if its result is not cached. */
export interface Work<Result> extends Step {
  steps(): Steps<Result>;
}

/**
 * A cache of results by owner and key, whose work is done in steps. Requests for a result that is being computed take part in the work: the
 * next step is done by whoever has its turn. So the work is done once, and goes on if the request that began it is dropped. An owner has up
 * to `entriesMax` results; the least recently used one is dropped first.
 */
export class StepCache<Owner extends WeakKey, Result> {
  private readonly caches = new WeakMap<Owner, Map<string, Entry<Result>>>();

  constructor(private readonly entriesMax: (owner: Owner) => number) {}

  /** Throws what the work throws; a failure is not cached. */
  *of(owner: Owner, key: string, { steps, ...step }: Work<Result>): Steps<Result> {
    const entries = this.caches.get(owner) ?? new Map<string, Entry<Result>>();
    this.caches.set(owner, entries);
    // Before an entry is made: a request that cannot pay for the work must not leave it to the next one for nothing.
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

/** Does a step of the work. Returns the step that follows, if there is one. */
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
