import { memoizeByObject } from '../../core/cache.ts';
import type { LevelEvent } from '../../market/level-record.ts';
import type { KnownMarket } from '../../market/store.ts';
import { recordedGexNodes } from '../../operations/gex/gex-nodes.ts';
import { type CrossingKind, crossingsOf } from '../../operations/gex/level-crossings.ts';
import { sseEvent } from '../../sse/sse-format.ts';

interface GexEvent {
  readonly seq: number;
  readonly ticker: string;
  readonly bytes: Uint8Array;
  /** Returns the event with its crossings, or undefined if none of them is of the given kinds. */
  crossed(on: ReadonlySet<CrossingKind>): Uint8Array | undefined;
}

/** The events that a stream gets. With `on`, it gets only those with a crossing of one of these kinds. */
export interface StreamSelection {
  readonly tickers: ReadonlySet<string>;
  readonly on: ReadonlySet<CrossingKind> | undefined;
}

/** A page from the log of levels, with the selected events after a sequence number. */
export interface GexPage {
  readonly chunks: readonly Uint8Array[];
  /** The sequence number up to which the page has every selected event. */
  readonly upTo: number;
  readonly hasMore: boolean;
}

/**
 * The log of GEX levels as events. The newest are in memory, encoded once for all streams. Older ones are read from the store, page by
 * page. Pages are cached until the log grows, and streams with the same selection at the same position share them.
 */
export type GexEvents = ReturnType<typeof createGexEvents>;

export interface GexEventsOptions {
  readonly nowMs: () => number;
  readonly recentMax?: number;
}

type Log = Pick<
  KnownMarket,
  | 'lastLevelSeq'
  | 'levelEvents'
  | 'levelEventsOf'
  | 'levelEventBefore'
  | 'levelSeqAt'
  | 'firstMissedAt'
  | 'currentLevels'
>;

/** Maximum number of events on a page. A full page has about 100 KB. */
const PAGE_EVENTS = 256;
/** Number of events in memory: about 2 MB, and more than a minute of changes each second of 59 tickers. The store has older ones. */
const RECENT_EVENTS = 4_096;
/** Events are dropped when their number reaches this multiple of RECENT_EVENTS. */
const DROP_FROM = 1.25;
/** Maximum number of events that one call of `refresh` reads. A call that reads so many events takes about 5 ms. */
const REFRESH_EVENTS = 1_024;
/** Maximum number of cached pages. The cached pages take about 8 MB. */
const SHARED_PAGES = 64;
/** The log is replayed for at most a day. The route of the history returns older levels. */
const REPLAY_MS = 24 * 3_600_000;
/** Time for which current levels are cached, ms. Levels with a future date become current on that date without an event. */
const CURRENT_MS = 1_000;

export function createGexEvents(log: Log, simulated: boolean, { nowMs, recentMax = RECENT_EVENTS }: GexEventsOptions) {
  /** All events after the sequence number `from` up to `head`, the oldest event first. */
  let recent: GexEvent[] = [];
  let from = log.lastLevelSeq();
  let head = from;
  const pages = new Map<string, GexPage>();
  const eventOf = (levels: LevelEvent) => createEvent(levels, log, simulated);
  const sharedPage = (seq: number, { tickers, on }: StreamSelection, read: () => GexPage): GexPage => {
    const key = `${seq},${on ? namesOf(on) : ''},${namesOf(tickers)}`;
    const known = pages.get(key);
    if (known) return known;
    const page = read();
    if (pages.size >= SHARED_PAGES) pages.delete(pages.keys().next().value!);
    pages.set(key, page);
    return page;
  };
  let current = { upTo: -1, atMs: 0, events: new Map<string, GexEvent | undefined>() };

  return {
    /** Reads at most REFRESH_EVENTS levels that were stored since the last call. Returns true if there may be more levels. */
    refresh() {
      let count = 0;
      for (let hasMore = true; hasMore && count < REFRESH_EVENTS; ) {
        const events = log.levelEvents(head, PAGE_EVENTS, simulated).map(eventOf);
        recent.push(...events);
        head = events.at(-1)?.seq ?? head;
        count += events.length;
        hasMore = events.length === PAGE_EVENTS;
      }
      if (count > 0) pages.clear();
      // Drops many events at once, because each drop copies all events that remain.
      if (recent.length > DROP_FROM * recentMax) {
        from = recent.at(-recentMax - 1)!.seq;
        recent = recent.slice(-recentMax);
      }
      return count >= REFRESH_EVENTS;
    },
    /** Returns the page after the sequence number `seq` from memory. Returns undefined if memory does not have all events after `seq`. */
    recentPage(seq: number, selection: StreamSelection) {
      if (seq < from) return undefined;
      return sharedPage(seq, selection, () => {
        const start = firstAfter(recent, seq);
        const events = recent.slice(start, start + PAGE_EVENTS);
        const hasMore = start + events.length < recent.length;
        return pageOf(
          events.filter(({ ticker }) => selection.tickers.has(ticker)),
          selection,
          events.at(-1)?.seq ?? seq,
          hasMore,
        );
      });
    },
    /** Returns the page after the sequence number `seq` from the store. Reading a page takes a few milliseconds. */
    storedPage(seq: number, selection: StreamSelection) {
      return sharedPage(seq, selection, () => {
        const events = log.levelEventsOf([...selection.tickers].sort(), seq, PAGE_EVENTS, simulated).map(eventOf);
        const hasMore = events.length === PAGE_EVENTS;
        // If a page is not full, it contains the last events of these tickers up to `head`.
        return pageOf(events, selection, Math.max(events.at(-1)?.seq ?? seq, hasMore ? seq : head), hasMore);
      });
    },
    /**
     * Returns the position from which a client resumes after the event `seq`, or undefined if it cannot: the log does not have the event, or
     * an event that the client has missed is older than a day. A client of crossings may have received the last event long ago without
     * missing one, so it gets the crossings of the last day.
     */
    resumeFrom(seq: number, { tickers, on }: StreamSelection) {
      if (seq > log.lastLevelSeq()) return undefined;
      const missedAt = log.firstMissedAt([...tickers], seq, simulated);
      if (missedAt === undefined || nowMs() - missedAt < REPLAY_MS) return seq;
      return on && log.levelSeqAt(nowMs() - REPLAY_MS, seq);
    },
    /** Returns the first event of a new stream of crossings, from which a client can resume before any crossing. */
    start({ tickers, on }: StreamSelection) {
      const upTo = log.lastLevelSeq();
      const data = JSON.stringify({ tickers: [...tickers], on: [...on!] });
      return { chunks: [Buffer.from(sseEvent('start', data, upTo))], upTo };
    },
    /** Returns the newest levels of the tickers in the order of the log, and the last sequence number before the levels were read. */
    current(tickers: Iterable<string>) {
      // The sequence number is read before the levels. Levels that another process adds meanwhile therefore have a higher number.
      const upTo = log.lastLevelSeq();
      if (current.upTo !== upTo || Math.abs(nowMs() - current.atMs) >= CURRENT_MS) {
        current = { upTo, atMs: nowMs(), events: new Map() };
      }
      const found: GexEvent[] = [];
      for (const ticker of tickers) {
        if (!current.events.has(ticker)) {
          const levels = log.currentLevels(ticker, upTo, simulated);
          current.events.set(ticker, levels && eventOf(levels));
        }
        const event = current.events.get(ticker);
        if (event) found.push(event);
      }
      return { chunks: found.sort((a, b) => a.seq - b.seq).map(({ bytes }) => bytes), upTo };
    },
  };
}

/** Returns names as one text, which is equal for sets of the same names. */
const namesOf = memoizeByObject((names: ReadonlySet<string>) => [...names].sort().join());

/** Returns a page whose events form one chunk, which all streams that read the page share. */
function pageOf(events: readonly GexEvent[], { on }: StreamSelection, upTo: number, hasMore: boolean): GexPage {
  const selected = events.map((event) => (on ? event.crossed(on) : event.bytes)).filter((bytes) => bytes !== undefined);
  return { chunks: selected.length === 0 ? [] : [Buffer.concat(selected)], upTo, hasMore };
}

const NO_BYTES = new Uint8Array(0);

function firstAfter(events: readonly GexEvent[], seq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (events[middle]!.seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Creates the event of a level record. The event is encoded when a stream first needs it, because often no stream is open. */
function createEvent(levels: LevelEvent, log: Log, simulated: boolean): GexEvent {
  const { seq, underlying: ticker } = levels;
  const encode = (rest?: object) =>
    Buffer.from(sseEvent('gex', JSON.stringify({ ...recordedGexNodes(levels), ...rest }), seq));
  let bytes: Uint8Array | undefined;
  let crossed: { readonly kinds: ReadonlySet<CrossingKind>; readonly bytes: Uint8Array } | undefined;
  return {
    seq,
    ticker,
    get bytes() {
      bytes ??= encode();
      return bytes;
    },
    crossed(on) {
      if (!crossed) {
        const before = log.levelEventBefore(ticker, seq, simulated);
        const crossings = before ? crossingsOf(before, levels) : [];
        const kinds = new Set(crossings.map((each) => each.on));
        crossed = { kinds, bytes: kinds.size > 0 ? encode({ crossed: crossings }) : NO_BYTES };
      }
      return crossed.kinds.isDisjointFrom(on) ? undefined : crossed.bytes;
    },
  };
}
