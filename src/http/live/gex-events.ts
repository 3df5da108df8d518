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

/** Part of the log: its events in order, up to which place they are all there are, and whether it goes on from there. */
export interface GexPage {
  readonly events: readonly GexEvent[];
  readonly upTo: number;
  readonly more: boolean;
}

/** The log of levels as events. The newest are written once and kept, so that many subscribers cost one reading. */
export interface GexEvents {
  /** Takes in what was kept since. */
  refresh(): void;
  /** What comes after a place, a page of it. */
  after(seq: number): GexPage;
  /** Whether the log has come to a place. */
  reaches(seq: number): boolean;
  /** The newest levels of tickers, in the log's order, and the place that they are of. */
  current(tickers: Iterable<string>): { readonly events: readonly GexEvent[]; readonly upTo: number };
}

type Log = Pick<MarketStore, 'lastLevelSeq' | 'levelEvents' | 'currentLevels'>;

/** Some 100 KB: what a stream may be given at once. */
const PAGE_EVENTS = 256;
/** Of 59 tickers that move every second more than a minute, in 2 MB: who is further behind reads the store. */
const RECENT_EVENTS = 4_096;

export function createGexEvents(log: Log, simulated: boolean, recentMax = RECENT_EVENTS): GexEvents {
  /** All events after `from` up to `head`, oldest first. */
  let recent: GexEvent[] = [];
  let from = log.lastLevelSeq();
  let head = from;

  const read = (seq: number): GexPage => {
    const events = log.levelEvents(seq, PAGE_EVENTS, simulated).map(eventOf);
    return { events, upTo: events.at(-1)?.seq ?? seq, more: events.length === PAGE_EVENTS };
  };

  return {
    refresh() {
      for (let more = true; more; ) {
        const page = read(head);
        recent.push(...page.events);
        head = page.upTo;
        more = page.more;
      }
      // Trimmed by halves: cutting at each event would move the rest at each.
      if (recent.length <= 2 * recentMax) return;
      from = recent.at(-recentMax - 1)!.seq;
      recent = recent.slice(-recentMax);
    },
    after(seq) {
      if (seq < from) return read(seq);
      const start = firstAfter(recent, seq);
      const events = recent.slice(start, start + PAGE_EVENTS);
      const more = start + events.length < recent.length;
      return { events, upTo: events.at(-1)?.seq ?? seq, more };
    },
    reaches: (seq) => seq <= log.lastLevelSeq(),
    current(tickers) {
      // Asked for first: what another process adds meanwhile comes after it.
      const upTo = log.lastLevelSeq();
      const levels = [...tickers].flatMap((ticker) => log.currentLevels(ticker, upTo, simulated) ?? []);
      return { events: levels.sort((a, b) => a.seq - b.seq).map(eventOf), upTo };
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
