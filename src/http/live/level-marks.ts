import type { LevelLog, LevelPlace } from '../../market/store.ts';

/**
 * For each ticker of a stream, a moment up to which its client has the levels. An id of an event carries these marks, because another server
 * stores the same levels under other numbers. The text of usual marks is one moment, which is not later than the mark of any ticker.
 */
export interface LevelMarks {
  /** The mark of each ticker without an own one, ms since the epoch. */
  readonly shared: number;
  readonly own: ReadonlyMap<string, number>;
  /** The marks as a part of an id, in whole seconds. */
  readonly text: string;
}

/** A mark is at least this time, ms, and at least one entry before the newest entry that the client has. */
export const OVERLAP_MS = 60_000;
/** Maximum number of tickers with an own mark: an id then has some 200 characters. */
export const OWN_MARKS_MAX = 12;
/** A ticker whose mark is less than this time after the shared mark has no own mark. */
const NEAR_MS = 3 * 60_000;
/** Maximum sum, over the tickers, of the times between the shared mark and their marks: 24,000 events at a snapshot each 15 s. */
const REPEATED_MS_MAX = 100 * 3_600_000;
/** Number of checkpoints of a ticker in memory. They cover streams that are up to two minutes behind. */
const CHECKPOINTS = 4;
/** Maximum number of entries that are read to find an entry before the overlap. */
const STEPS_MAX = 64;

/** Returns the mark of a ticker, ms since the epoch. */
export const markOf = ({ shared, own }: LevelMarks, ticker: string): number => own.get(ticker) ?? shared;

function marksWith(shared: number, own: readonly (readonly [string, number])[] = []): LevelMarks {
  const seconds = (ms: number) => Math.max(0, Math.floor(ms / 1_000)).toString(36);
  const text = own.reduce((before, [ticker, ms]) => `${before}~${ticker}_${seconds(ms)}`, seconds(shared));
  return { shared, own: own.length > 0 ? new Map(own) : NONE, text };
}

const NONE: ReadonlyMap<string, number> = new Map();

/** The text of marks, as a part of a regular expression. */
export const MARKS_PATTERN = `[0-9a-z]{1,8}(?:~[A-Z][A-Z0-9.]{0,9}_[0-9a-z]{1,8}){0,${OWN_MARKS_MAX}}`;

/** Returns the marks with a text that matches `MARKS_PATTERN`. */
export function parseMarks(text: string): LevelMarks {
  const ms = (seconds: string) => Number.parseInt(seconds, 36) * 1_000;
  const [shared, ...own] = text.split('~');
  return marksWith(
    ms(shared!),
    own.map((each) => [each.slice(0, each.indexOf('_')), ms(each.slice(each.indexOf('_') + 1))]),
  );
}

/**
 * Returns marks that are not later than those given for each ticker, except as follows. If too many tickers have stopped long before the
 * others, some get the mark of the others: otherwise, each resumed stream would repeat hours of all tickers. `otherwise` is the shared mark
 * if no ticker has a mark.
 */
export function summarizeMarks(given: readonly (readonly [string, number])[], otherwise: number): LevelMarks {
  if (given.length === 0) return marksWith(otherwise);
  let [earliest, latest] = [Number.POSITIVE_INFINITY, 0];
  for (const [, ms] of given) {
    if (ms < earliest) earliest = ms;
    if (ms > latest) latest = ms;
  }
  if (latest - earliest <= NEAR_MS) return marksWith(earliest);
  const sorted = given.toSorted((a, b) => a[1] - b[1]);
  const at = (i: number) => sorted[i]![1];
  const sums = [0];
  for (const [, ms] of sorted) sums.push(sums.at(-1)! + ms);
  /** The sum of the times that the tickers of a run would repeat if they had the mark of the first. */
  const repeated = (from: number, to: number) => sums[to]! - sums[from]! - (to - from) * at(from);
  let count = Math.max(1, sorted.length - OWN_MARKS_MAX);
  for (let from = 0, to = 0; to < sorted.length; to++) {
    while (at(to) - at(from) > NEAR_MS) from++;
    count = Math.max(count, to - from + 1);
  }
  // The tickers without an own mark are a run in the order of time: the one that repeats least.
  let from = 0;
  for (let i = 1; i + count <= sorted.length; i++) if (repeated(i, i + count) < repeated(from, from + count)) from = i;
  if (repeated(from, from + count) <= REPEATED_MS_MAX) {
    const later = sorted.slice(from + count).filter(([, ms]) => ms - at(from) > NEAR_MS);
    return marksWith(at(from), [...sorted.slice(0, from), ...later]);
  }
  from = OWN_MARKS_MAX;
  while (repeated(from, sorted.length) > REPEATED_MS_MAX) from++;
  return marksWith(at(from), sorted.slice(0, OWN_MARKS_MAX));
}

/** Returns the marks of a client of some tickers that has also got these records. */
export function raiseMarks(marks: LevelMarks, tickers: Iterable<string>, records: readonly LevelPlace[]): LevelMarks {
  const raised = new Map([...tickers].map((ticker) => [ticker, markOf(marks, ticker)]));
  for (const each of records) {
    const ms = momentOf(each) - OVERLAP_MS;
    if (ms > raised.get(each.underlying)!) raised.set(each.underlying, ms);
  }
  return summarizeMarks([...raised], marks.shared);
}

/** An entry of the log that is at least OVERLAP_MS newer than the checkpoint before it, or the time before the first entry. */
interface Checkpoint {
  readonly seq: number;
  readonly ms: number;
}

/**
 * Computes the marks of streams. The mark of a ticker is the moment of one of its entries. The entries of a ticker have ascending moments, so
 * a client that has a later entry has all entries of this log up to the mark. The mark is before the last entry, by OVERLAP_MS and an entry at
 * least, for the snapshots that this log lacks or has late, and that another log has in order: they are above the mark.
 */
export function createMarkKeeper(log: Pick<LevelLog, 'lastLevelEntry'>, simulated: boolean, nowMs: () => number) {
  /** The checkpoints of the tickers that streams have asked for, the newest first. Each but the newest is the mark at those after it. */
  const checkpoints = new Map<string, Checkpoint[]>();

  /** Reads the newest two checkpoints of a ticker up to a sequence number from the store. */
  const read = (ticker: string, upToSeq: number): Checkpoint[] => {
    const newest = log.lastLevelEntry(ticker, upToSeq, simulated);
    if (!newest) return [];
    const first = { seq: newest.seq, ms: momentOf(newest) };
    let next = before(first);
    for (let step = 0, { seq } = first; step < STEPS_MAX && first.ms - next.ms < OVERLAP_MS; step++) {
      const entry = log.lastLevelEntry(ticker, seq - 1, simulated);
      if (!entry) break;
      seq = entry.seq;
      if (momentOf(entry) < next.ms) next = { seq, ms: momentOf(entry) };
    }
    return [first, next];
  };

  const markAt = (ticker: string, seq: number, headSeq: number): number | undefined => {
    let known = checkpoints.get(ticker);
    if (!known) {
      known = read(ticker, headSeq);
      checkpoints.set(ticker, known);
    }
    if (known.length === 0) return undefined;
    const i = known.findIndex((each) => each.seq <= seq);
    return (i < 0 ? undefined : known[i + 1]?.ms) ?? read(ticker, seq)[1]?.ms;
  };

  return {
    /** Adds a new entry of the log. */
    add(entry: LevelPlace) {
      const known = checkpoints.get(entry.underlying);
      if (!known) return;
      const added = { seq: entry.seq, ms: momentOf(entry) };
      while (known[0] && known[0].ms >= added.ms) known.shift();
      if (known.length === 0) known.push(added, before(added));
      else if (added.ms - known[0]!.ms >= OVERLAP_MS) known.unshift(added);
      known.splice(CHECKPOINTS);
    },
    /** Returns the marks of a client that has all entries of the tickers up to `seq`. `headSeq` is that of the last entry that was added. */
    at(tickers: Iterable<string>, seq: number, headSeq: number): LevelMarks {
      const marks: [string, number][] = [];
      for (const ticker of tickers) {
        const ms = markAt(ticker, seq, headSeq);
        if (ms !== undefined) marks.push([ticker, ms]);
      }
      return summarizeMarks(marks, nowMs() - OVERLAP_MS);
    },
  };
}

/** Returns the moment of an entry for marks. A moment after the storage is wrong, and would hide the entries of another log up to it. */
function momentOf({ asOf, keptAt }: Pick<LevelPlace, 'asOf' | 'keptAt'>): number {
  return Math.min(asOf, keptAt);
}

/** Returns the checkpoint before the first entry. */
function before({ ms }: Checkpoint): Checkpoint {
  return { seq: 0, ms: ms - 1 };
}
