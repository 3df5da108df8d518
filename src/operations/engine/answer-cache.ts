import { recordedMarket } from '../../market/recorded-market.ts';
import type { DataChanges, DataKind } from '../../market/store.ts';
import type { Context } from './operation.ts';

const MIB = 1024 * 1024;

/** Limits on the cached answers. */
export interface AnswerLimits {
  /** Maximum size of all cached answers, with their keys and compressed forms, bytes. */
  readonly bytesMax: number;
  /** Maximum size of one answer, bytes. */
  readonly entryBytesMax: number;
}

const LIMITS: AnswerLimits = { bytesMax: 32 * MIB, entryBytesMax: MIB };

/** What an entry takes besides its answer and its key, bytes: the entry, its dependencies and the header fields of a response. */
const ENTRY_BYTES = 2 * 1024;

/** Maximum length of a key, in characters. The arguments of usual requests are much shorter. */
const KEY_LENGTH_MAX = 2 * 1024;

/**
 * If an answer reads data of more underlyings than this, the answer depends on the data of all underlyings. The check of a cached answer would
 * otherwise take longer than a few microseconds.
 */
const READS_MAX = 64;

/** A computation whose answer may be cached. */
export interface Recording {
  /** The context with which the answer must be computed. The context records what the answer depends on. */
  readonly context: Context;
  /**
   * Caches an answer of `bytes` bytes, unless the answer or its key is too large, or the answer depends on the present moment. Returns a
   * function that counts further bytes of the cached answer, such as a compressed form.
   */
  add(answer: object, bytes: number): (moreBytes: number) => void;
}

export type AnswerCache = ReturnType<typeof createAnswerCache>;

/**
 * Caches the answers of operations for every adapter, until the data that an answer has read changes, or a moment passes on which the answer
 * depends. The least recently used answers go first. A key must name the adapter and the kind of the answer, the operation and all arguments.
 * An answer must not depend on the account, because all accounts share the cached answers.
 */
export function createAnswerCache(context: Context, data: DataChanges, limits: Partial<AnswerLimits> = {}) {
  const { bytesMax, entryBytesMax } = { ...LIMITS, ...limits };
  // The least recently used entry comes first, because a Map iterates in insertion order.
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const remove = (key: string, entry: Entry) => {
    if (entries.get(key) !== entry) return;
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
  const isValid = ({ others, reads, fromMs, untilMs }: Entry) => {
    const nowMs = context.nowMs();
    if (nowMs < fromMs || nowMs >= untilMs || others !== data.otherChanges()) return false;
    return reads.every(({ kind, underlying, changes }) => changes === data.changes(kind, underlying));
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
    /** Begins the computation of an answer. Without a key, the answer is not cached. */
    record(key: string | undefined): Recording {
      const dependencies = new RecordedDependencies(context, data);
      return {
        context: dependencies.context,
        add(answer, ofAnswer) {
          const isCached = key !== undefined && key.length <= KEY_LENGTH_MAX && ofAnswer <= entryBytesMax;
          const found = isCached ? dependencies.found() : undefined;
          if (!isCached || !found) return () => {};
          const entry: Entry = { answer, ...found, bytes: 0 };
          const replaced = entries.get(key);
          if (replaced) remove(key, replaced);
          entries.set(key, entry);
          count(key, entry, ENTRY_BYTES + 2 * key.length + ofAnswer);
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

interface Read {
  readonly kind: DataKind;
  readonly underlying?: string | undefined;
  /** The number of changes before the data was read. */
  readonly changes: number;
}

interface Found {
  /** The text of `otherChanges` before the computation. */
  readonly others: string;
  readonly reads: readonly Read[];
  /** The answer is valid from `fromMs` (included) to `untilMs` (excluded), ms since the epoch. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** The ticker of the request, for `Context.onTicker`. */
  readonly ticker: string | undefined;
}

interface Entry extends Found {
  readonly answer: object;
  bytes: number;
}

/** Records what an answer depends on. */
class RecordedDependencies {
  readonly context: Context;
  private readonly others: string;
  private readonly reads = new Map<string, Read>();
  /** The reads of all underlyings together, by kind. */
  private readonly totals = new Map<DataKind, Read>();
  private fromMs = Number.NEGATIVE_INFINITY;
  private untilMs = Number.POSITIVE_INFINITY;
  private ticker: string | undefined;
  private isOfNow = false;

  constructor(
    context: Context,
    private readonly data: DataChanges,
  ) {
    this.others = data.otherChanges();
    const ofNow = () => {
      this.isOfNow = true;
    };
    const hasPassed = (atMs: number) => {
      const isPast = atMs <= context.nowMs();
      if (isPast) this.fromMs = Math.max(this.fromMs, atMs);
      else this.untilMs = Math.min(this.untilMs, atMs);
      return isPast;
    };
    this.context = {
      ...context,
      market: recordedMarket(context.market, {
        onRead: (kind, underlying) => this.read(kind, underlying),
        onMoment: hasPassed,
      }),
      nowMs: () => {
        ofNow();
        return context.nowMs();
      },
      cacheClock: { hasPassed, nowMs: context.nowMs },
      feedStates: () => {
        this.read('feeds');
        return context.feedStates();
      },
      clockSteps: () => {
        this.read('feeds');
        return context.clockSteps();
      },
      gapsIn: (...period) => {
        this.read('gaps');
        return context.gapsIn(...period);
      },
      onTicker: (ticker) => {
        this.ticker = ticker;
        context.onTicker?.(ticker);
      },
    };
  }

  /** Returns what the answer depends on. Returns undefined if the answer depends on the present moment. */
  found(): Found | undefined {
    if (this.isOfNow) return undefined;
    const { others, fromMs, untilMs, ticker } = this;
    const reads = [...(this.reads.size > READS_MAX ? this.totals : this.reads).values()];
    return { others, reads, fromMs, untilMs, ticker };
  }

  /** Counts the changes before the first read. If the data changes during the computation, the answer is therefore never valid. */
  private read(kind: DataKind, underlying?: string): void {
    if (!this.totals.has(kind)) this.totals.set(kind, { kind, changes: this.data.changes(kind) });
    if (this.reads.size > READS_MAX) return;
    const key = `${kind} ${underlying ?? ''}`;
    if (!this.reads.has(key)) this.reads.set(key, { kind, underlying, changes: this.data.changes(kind, underlying) });
  }
}
