import { shownName } from '../../clean-text.ts';
import type { LevelEvent } from '../../market/level-record.ts';
import type { MarketStore } from '../../market/store.ts';
import { MILLION } from '../../operations/gex-report.ts';

/** An event as it goes over the wire. */
export interface GexEvent {
  readonly seq: number;
  readonly ticker: string;
  readonly bytes: Uint8Array;
}

/** Part of the log: what there is for some tickers after a place, as chunks to send, and up to which place that is all. */
export interface GexPage {
  readonly chunks: readonly Uint8Array[];
  readonly upTo: number;
  /** Whether the log goes on from there. */
  readonly more: boolean;
}

/**
 * The log of levels as events. The newest are written once and kept for all streams; what is older is read from the store by ticker, a page at
 * a time, and pages are kept for a moment: many streams that go through the same part of the log cost one.
 */
export interface GexEvents {
  /** Takes in some of what was kept since; true if there is more to take in. */
  refresh(): boolean;
  /** What comes after a place; undefined if the place is older than what is in memory. */
  after(seq: number, tickers: ReadonlySet<string>): GexPage | undefined;
  /** The same of any place, from the store: some milliseconds. */
  stored(seq: number, tickers: ReadonlySet<string>): GexPage;
  /** Whether a client that has everything up to this place can go on from there: it is of this log, and what was missed is not too old. */
  goesOnFrom(seq: number, tickers: ReadonlySet<string>): boolean;
  /** The newest levels of tickers, in the log's order, and the place that they are of. */
  current(tickers: Iterable<string>): Pick<GexPage, 'chunks' | 'upTo'>;
}

export interface GexEventsOptions {
  readonly recentMax?: number;
  readonly nowMs?: () => number;
}

type Log = Pick<MarketStore, 'lastLevelSeq' | 'levelEvents' | 'levelEventsOf' | 'firstMissedAt' | 'currentLevels'>;

/** Some 100 KB: what a stream may be given at once. */
const PAGE_EVENTS = 256;
/** Of 59 tickers that move every second more than a minute, in 2 MB: who is further behind reads the store. */
const RECENT_EVENTS = 4_096;
/** Taken in at once: some 5 ms. */
const REFRESH_EVENTS = 1_024;
/** Pages of the store that are kept, some 8 MB, until the log grows. */
const SHARED_PAGES = 64;
/** Who has missed more than a day begins anew: levels of that time are history, which has a route of its own. */
const REPLAY_MS = 24 * 3_600_000;
/** Levels dated ahead become current as time passes, without an event. */
const CURRENT_MS = 1_000;

export function createGexEvents(log: Log, simulated: boolean, options: GexEventsOptions = {}): GexEvents {
  const { recentMax = RECENT_EVENTS, nowMs = Date.now } = options;
  /** All events after `from` up to `head`, oldest first. */
  let recent: GexEvent[] = [];
  let from = log.lastLevelSeq();
  let head = from;
  const pages = new Map<string, GexPage>();
  let current = { upTo: -1, atMs: 0, events: new Map<string, GexEvent | undefined>() };

  return {
    refresh() {
      let taken = 0;
      for (let more = true; more && taken < REFRESH_EVENTS; ) {
        const events = log.levelEvents(head, PAGE_EVENTS, simulated).map(eventOf);
        recent.push(...events);
        head = events.at(-1)?.seq ?? head;
        taken += events.length;
        more = events.length === PAGE_EVENTS;
      }
      if (taken > 0) pages.clear();
      // Trimmed by halves: cutting at each event would move the rest at each.
      if (recent.length > 2 * recentMax) {
        from = recent.at(-recentMax - 1)!.seq;
        recent = recent.slice(-recentMax);
      }
      return taken >= REFRESH_EVENTS;
    },
    after(seq, tickers) {
      if (seq < from) return undefined;
      const start = firstAfter(recent, seq);
      const events = recent.slice(start, start + PAGE_EVENTS);
      const more = start + events.length < recent.length;
      const wanted = events.filter(({ ticker }) => tickers.has(ticker));
      return { chunks: wanted.map(({ bytes }) => bytes), upTo: events.at(-1)?.seq ?? seq, more };
    },
    stored(seq, tickers) {
      const names = [...tickers].sort();
      const key = `${seq},${names.join()}`;
      const known = pages.get(key);
      if (known) return known;
      const events = log.levelEventsOf(names, seq, PAGE_EVENTS, simulated).map(eventOf);
      const more = events.length === PAGE_EVENTS;
      // Fewer than a page: there is nothing else up to what is in memory.
      const upTo = Math.max(events.at(-1)?.seq ?? seq, more ? seq : head);
      // One chunk, which all streams of that page share.
      const chunks = events.length === 0 ? [] : [Buffer.concat(events.map(({ bytes }) => bytes))];
      const page = { chunks, upTo, more };
      if (pages.size >= SHARED_PAGES) pages.delete(pages.keys().next().value!);
      pages.set(key, page);
      return page;
    },
    goesOnFrom(seq, tickers) {
      if (seq > log.lastLevelSeq()) return false;
      const missedAt = log.firstMissedAt([...tickers], seq, simulated);
      return missedAt === undefined || nowMs() - missedAt < REPLAY_MS;
    },
    current(tickers) {
      // Asked for first: what another process adds meanwhile comes after it.
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

/** Position of the first event after a place. */
function firstAfter(events: readonly GexEvent[], seq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (events[middle]!.seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}

function eventOf(levels: LevelEvent): GexEvent {
  const text = `id: ${levels.seq}\nevent: gex\ndata: ${JSON.stringify(dataOf(levels))}\n\n`;
  return { seq: levels.seq, ticker: levels.underlying, bytes: encoder.encode(text) };
}

/** What `GET /api/v1/nodes/gex/{ticker}` answers of that snapshot. Without an age: it would be another when the event is sent again. */
function dataOf(levels: LevelEvent) {
  return {
    ticker: levels.underlying,
    spot_price: levels.spot,
    expiry: levels.expiry,
    max_pain: levels.maxPain,
    call_wall: levels.callWall,
    put_wall: levels.putWall,
    gex_flip: levels.gexFlip,
    net_gex_mil: levels.netGex / MILLION,
    provenance: {
      source: shownName(levels.source),
      simulated: levels.simulated,
      as_of: new Date(levels.asOf).toISOString(),
      notes: [
        ...(levels.simulated ? ['Simulated market: no real quotes.'] : []),
        ...(levels.flipResolved
          ? []
          : ['Net gamma changes sign nowhere within half of spot: gex_flip is its least level.']),
      ],
    },
  };
}

const encoder = new TextEncoder();
