import { recordedMarket } from '../../market/recorded-market.ts';
import type { DataChanges, DataKey, DataKind } from '../../market/store.ts';
import type { Context } from './operation.ts';

const MIB = 1024 * 1024;

/** Maximum size of all cached answers, with their keys and compressed forms, and maximum size of one answer, bytes. */
const LIMITS = { bytesMax: 32 * MIB, entryBytesMax: MIB };

/** Size of an entry without its answer and its key, bytes: the dependencies, and the header fields of a response. */
const ENTRY_BYTES = 2 * 1024;

/** Maximum length of a key, in characters. The arguments of usual requests are much shorter. */
const KEY_LENGTH_MAX = 2 * 1024;

/**
 * An answer that reads more kinds of data and underlyings than this depends on the data of all underlyings. The check of a cached answer would
 * otherwise take longer than a few microseconds.
 */
const READS_MAX = 64;

export type AnswerCache = ReturnType<typeof createAnswerCache>;

/** A computation whose answer may be cached. */
export type Recording = ReturnType<AnswerCache['record']>;

/**
 * Caches the answers of operations for every adapter, until the data that an answer has read changes, or a moment passes on which the answer
 * depends. The least recently used answers go first. A key must name the adapter and the form of the answer, the operation and all arguments.
 * An answer must not depend on the account, because all accounts share the cached answers.
 */
export function createAnswerCache(context: Context, data: DataChanges, limits: Partial<typeof LIMITS> = {}) {
  const { bytesMax, entryBytesMax } = { ...LIMITS, ...limits };
  // The least recently used entry comes first, because a Map iterates in insertion order.
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const remove = (key: string, entry: Entry) => {
    entries.delete(key);
    bytes -= entry.bytes;
  };
  const count = (key: string, entry: Entry, more: number) => {
    if (entries.get(key) !== entry) return;
    entry.bytes += more;
    bytes += more;
    for (const [oldest, each] of entries) {
      if (bytes <= bytesMax) return;
      remove(oldest, each);
    }
  };
  const isValid = ({ others, reads, fromMs, untilMs }: Dependencies) => {
    const nowMs = context.nowMs();
    if (nowMs < fromMs || nowMs >= untilMs || others !== data.otherChanges()) return false;
    return reads.every(([key, changes]) => changes === data.changes(key));
  };

  return {
    /** Returns the cached answer of a key. Returns undefined if there is none, or if the answer is no longer valid. */
    get<Answer extends object>(key: string): Answer | undefined {
      const entry = entries.get(key);
      if (!entry) return undefined;
      if (!isValid(entry)) {
        remove(key, entry);
        return undefined;
      }
      entries.delete(key);
      entries.set(key, entry);
      if (entry.ticker !== undefined) context.onTicker?.(entry.ticker);
      return entry.answer as Answer;
    },
    /**
     * Begins the computation of an answer. Without a key, the answer is not cached. An answer that depends on the present moment is cached
     * for `momentMs` ms.
     */
    record(key: string | undefined, momentMs = 0) {
      const recorded =
        key === undefined ? { context, found: () => undefined } : recordDependencies(context, data, momentMs);
      return {
        /** The context with which the answer must be computed. The context records what the answer depends on. */
        context: recorded.context,
        /**
         * Caches an answer of `size` bytes, unless its key is too large, or the answer depends on the present moment. In place of an answer
         * that is too large, caches what `smallPart` returns, such as the answer without its body. Returns a function that counts further
         * bytes of the cached answer, such as a compressed form.
         */
        add(answer: object, size: number, smallPart?: () => object): (moreBytes: number) => void {
          const found = recorded.found();
          const isLarge = size > entryBytesMax;
          const kept = isLarge ? smallPart?.() : answer;
          if (key === undefined || key.length > KEY_LENGTH_MAX || !kept || !found) return () => {};
          const entry = { ...found, answer: kept, bytes: 0 };
          const replaced = entries.get(key);
          if (replaced) remove(key, replaced);
          entries.set(key, entry);
          count(key, entry, ENTRY_BYTES + 2 * key.length + (isLarge ? 0 : size));
          if (isLarge) return () => {};
          return (more) => count(key, entry, more);
        },
      };
    },
    /** The size of all cached answers, bytes. */
    get bytes() {
      return bytes;
    },
  };
}

/**
 * Returns the arguments of a call as a part of a key. Equal texts mean equal arguments. Returns undefined for numbers that JSON cannot write
 * exactly. The arguments are not validated, because only valid arguments lead to an answer that is cached.
 */
export function keyOfArguments(args: unknown): string | undefined {
  let isExact = true;
  const text = JSON.stringify(args, (_, value) => {
    if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0))) isExact = false;
    return value;
  });
  return isExact ? text : undefined;
}

interface Dependencies {
  /** The text of `otherChanges` before the computation. */
  readonly others: string;
  /** The data that the answer has read, with the number of changes before the first read. */
  readonly reads: readonly (readonly [DataKey, number])[];
  /** The answer is valid from `fromMs` (included) to `untilMs` (excluded), ms since the epoch. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** The ticker of the request, for `Context.onTicker`. */
  readonly ticker: string | undefined;
}

interface Entry extends Dependencies {
  readonly answer: object;
  bytes: number;
}

/**
 * Returns a context that records what an answer depends on. `found` returns the dependencies, or undefined if the answer depends on the
 * present moment and `momentMs` is 0. If data changes during the computation, the answer is never valid, because changes are counted before the first read.
 */
function recordDependencies(context: Context, data: DataChanges, momentMs: number) {
  const others = data.otherChanges();
  const reads = new Map<DataKey, number>();
  /** The reads of all underlyings together. */
  const ofKinds = new Map<DataKey, number>();
  let [fromMs, untilMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let ticker: string | undefined;
  let nowMs: number | undefined;
  const onRead = (key: DataKey) => {
    if (reads.has(key)) return;
    const kind = key.split(' ', 1)[0] as DataKind;
    if (!ofKinds.has(kind)) ofKinds.set(kind, data.changes(kind));
    if (reads.size <= READS_MAX) reads.set(key, data.changes(key));
  };
  const hasPassed = (atMs: number) => {
    const isPast = atMs <= context.nowMs();
    if (isPast) fromMs = Math.max(fromMs, atMs);
    else untilMs = Math.min(untilMs, atMs);
    return isPast;
  };
  const reading =
    <Given extends unknown[], Result>(key: DataKey, read: (...given: Given) => Result) =>
    (...given: Given) => {
      onRead(key);
      return read(...given);
    };
  const recorded: Context = {
    ...context,
    market: recordedMarket(context.market, { onRead, onMoment: hasPassed }),
    nowMs() {
      nowMs ??= context.nowMs();
      return context.nowMs();
    },
    cacheClock: { hasPassed, nowMs: context.nowMs },
    feedStates: reading('feeds', context.feedStates),
    clockSteps: reading('feeds', context.clockSteps),
    gapsIn: reading('gaps', context.gapsIn),
    onTicker(given) {
      ticker = given;
      context.onTicker?.(given);
    },
  };
  const found = (): Dependencies | undefined => {
    if (nowMs !== undefined && momentMs === 0) return undefined;
    if (nowMs !== undefined) [fromMs, untilMs] = [Math.max(fromMs, nowMs), Math.min(untilMs, nowMs + momentMs)];
    return { others, reads: [...(reads.size > READS_MAX ? ofKinds : reads)], fromMs, untilMs, ticker };
  };
  return { context: recorded, found };
}
