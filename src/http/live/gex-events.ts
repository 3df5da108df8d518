import type { LevelEvent } from '../../market/level-record.ts';
import type { LevelLog, LevelStore } from '../../market/store.ts';
import { sseEvent } from '../../sse/sse-format.ts';
import { type EventId, idHead, idTail, isOfLog, tailOf } from './event-ids.ts';
import { createGexEvent, type GexEvent, withIdHead } from './gex-event.ts';
import { createMarkKeeper, type LevelMarks, OVERLAP_MS, raiseMarks } from './level-marks.ts';
import { createRecordsAbove } from './records-above.ts';
import {
  type LateRecords,
  type MissedRecords,
  pageKeyOf,
  type StreamPosition,
  type StreamSelection,
} from './stream-position.ts';

/** A page from the log of levels, with the selected events after a position. */
export interface GexPage {
  readonly chunks: readonly Uint8Array[];
  /** The position after the page, which has every selected event up to there. */
  readonly next: StreamPosition;
  readonly hasMore: boolean;
}

/**
 * The log of GEX levels as events. The newest are in memory, encoded once for all streams. Older ones are read from the store, page by
 * page. Pages are cached until the log grows, and streams with the same selection at the same position share them.
 *
 * A client may resume with an id of another log: that of a server with the same inputs. The marks of the id say what the client has. It gets
 * every record above the marks at least once:
 * - First those that are stored now, in the order of their moments. They include records that are no entries of this log, because it stored
 *   a newer one before (`missed`).
 * - Then the entries that are stored later, as every stream gets them.
 * - For LATE_MS also the records that are stored later and are no entries (`late`).
 * The client has every entry that the other log has up to the marks. What the other log lacks there, or stored late, is lost for the client. The
 * marks are a minute and an entry older than the client's last event, so only records from before that are lost (see `createMarkKeeper`).
 *
 * The connection may break at any event. While missed records are sent, ids have the client's place in the other log, and marks that rise with
 * the records. After that, ids have the place in this log. For LATE_MS, they also have the marks with which the client came, and the sign that
 * late records are due. So each of these ids leads to the same records, on either server.
 */
export type GexEvents = ReturnType<typeof createGexEvents>;

export interface GexEventsOptions {
  readonly nowMs: () => number;
  /** Returns for how long this server may lack entries that another server of the same log has, ms. */
  readonly sinceReadMs?: (() => number) | undefined;
  readonly recentMax?: number;
}

type Log = LevelLog & Pick<LevelStore, 'currentLevels'>;

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
/** Time for which a client from another log gets records that are no entries, ms. A feed of files reads a late file within seconds. */
const LATE_MS = 5 * 60_000;
/** The end of this time is a whole minute, so that streams that resume together share their pages. */
const LATE_STEP_MS = 60_000;
/** Time for which current levels are cached, ms. Levels with a future date become current on that date without an event. */
const CURRENT_MS = 1_000;

export function createGexEvents(
  log: Log,
  simulated: boolean,
  { nowMs, sinceReadMs = () => 0, recentMax = RECENT_EVENTS }: GexEventsOptions,
) {
  const name = log.levelLogName();
  const marks = createMarkKeeper(log, simulated, nowMs);
  /** All events after the sequence number `from` up to `head`, the oldest event first. */
  let recent: GexEvent[] = [];
  let from = log.lastLevelSeq();
  let head = from;
  /** The highest sequence number of a record that may be no entry. */
  let otherSeq = head;
  const pages = new Map<string, GexPage>();
  const eventOf = (levels: LevelEvent) => createGexEvent(name, levels, log, simulated);
  const above = createRecordsAbove({
    ...{ log, simulated, eventOf, pageEvents: PAGE_EVENTS },
    recentEvent(seq) {
      const event = recent[firstAfter(recent, seq - 1)];
      return event?.seq === seq ? event : undefined;
    },
  });
  const sharedPage = (position: StreamPosition, selection: StreamSelection, read: () => GexPage): GexPage => {
    const key = pageKeyOf(position, selection);
    const known = pages.get(key);
    if (known) return known;
    const page = read();
    if (pages.size >= SHARED_PAGES) pages.delete(pages.keys().next().value!);
    pages.set(key, page);
    return page;
  };
  /** Returns the beginning of the ids of the events after a position. The marks at the position are valid for all of them. */
  const headAt = ({ seq, late }: StreamPosition, tickers: Iterable<string>): string =>
    idHead({ marks: late?.marks ?? marks.at(tickers, seq, head), isLate: late !== undefined });
  const idAt = (position: StreamPosition, tickers: Iterable<string>): string => {
    const { before } = log.levelsAround(position.seq);
    const last = before ?? { underlying: '', asOf: 0, keptAt: nowMs() };
    return headAt(position, tickers) + tailOf(name, { ...last, seq: position.seq });
  };
  let current = { upTo: -1, atMs: 0, events: new Map<string, GexEvent | undefined>() };

  /** Returns a page of the entries after a position up to the number `upTo`, and with `late` of the other records. */
  const pageOf = (
    entries: readonly GexEvent[],
    { seq, ...position }: StreamPosition,
    { tickers, on }: StreamSelection,
    upTo: number,
    hasMore: boolean,
  ): GexPage => {
    const late = position.late && isDue(position.late, seq) ? position.late : undefined;
    let [events, last] = [entries, upTo];
    if (late && (otherSeq > seq || upTo > head)) {
      const added = above.late(tickers, late.marks, [seq, Math.min(upTo, late.upToSeq ?? upTo)]);
      last = added.upToSeq;
      events = [...entries.filter((each) => each.seq <= last), ...added.events].sort((a, b) => a.seq - b.seq);
    }
    const chosen = events.map((each) => (on ? each.crossed(on) : each.bytes)).filter((bytes) => bytes !== undefined);
    const chunks = chosen.length > 0 ? [withIdHead(headAt({ seq, late }, tickers), chosen)] : [];
    return { chunks, next: { seq: last, late }, hasMore: hasMore || last < upTo };
  };

  /** Returns the next page of missed records. */
  const missedPage = (seq: number, missed: MissedRecords, { tickers, on }: StreamSelection): GexPage => {
    const { id, afterSeq } = missed;
    const range = [afterSeq, seq] as const;
    const { events, upToMs, hasMore } = above.byMoment(tickers, id.marks, missed.upToMs, range, on !== undefined);
    const next: StreamPosition = hasMore
      ? { seq, missed: { ...missed, upToMs, marks: raiseMarks(missed.marks, tickers, events) } }
      : { seq, late: missed.late };
    const before = idHead({ ...id, marks: missed.marks }) + idTail(id);
    const chunks: Uint8Array[] = [];
    for (const [i, event] of events.entries()) {
      const bytes = on ? event.crossed(on) : event.bytes;
      const isLast = !hasMore && i === events.length - 1;
      if (bytes)
        chunks.push(Buffer.from(`id: ${isLast ? idAt(next, tickers) : before}`), bytes.subarray(event.tailBytes));
    }
    return { chunks: chunks.length > 0 ? [Buffer.concat(chunks)] : [], next, hasMore: true };
  };

  const isDue = ({ untilMs, upToSeq }: LateRecords, seq: number): boolean =>
    upToSeq === undefined ? nowMs() < untilMs : seq < upToSeq;
  const isOld = (missedAt: number | undefined) => missedAt !== undefined && missedAt <= nowMs() - REPLAY_MS;

  const resumeHere = (
    seq: number,
    { tickers, on }: StreamSelection,
    late?: LateRecords,
  ): StreamPosition | undefined => {
    if (!isOld(log.firstMissedAt([...tickers], seq, simulated))) return { seq, late };
    return on && { seq: log.levelSeqAt(nowMs() - REPLAY_MS, seq) };
  };

  const resumeFromOther = (id: EventId, { tickers, on }: StreamSelection): StreamPosition | undefined => {
    const seq = log.lastLevelSeq();
    const dayAgo = nowMs() - REPLAY_MS;
    // Records up to then may be those that the client has. They are sent, however old they are, and do not count as missed.
    const overlapTo = log.levelSeqAt(id.keptAt + OVERLAP_MS, 0);
    if (!on && isOld(log.firstMissedAt([...tickers], overlapTo, simulated))) return undefined;
    // Nothing is sent from more than a day before the client's last event. Otherwise, invented marks would make the server read all records.
    const fromMs = on ? dayAgo : Math.min(id.keptAt - REPLAY_MS, dayAgo);
    const late = on ? undefined : lateFrom(id.marks, nowMs());
    return { seq, missed: { id, marks: id.marks, upToMs: fromMs, afterSeq: log.levelSeqAt(fromMs, 0), late } };
  };

  return {
    /** Reads at most REFRESH_EVENTS levels that were stored since the last call. Returns true if there may be more levels. */
    refresh() {
      const before = head;
      const lastSeq = log.lastLevelSeq();
      let count = 0;
      let hasMore = true;
      while (hasMore && count < REFRESH_EVENTS) {
        const levels = log.levelEvents(head, PAGE_EVENTS, simulated);
        for (const each of levels) marks.add(each);
        recent.push(...levels.map(eventOf));
        head = levels.at(-1)?.seq ?? head;
        count += levels.length;
        hasMore = levels.length === PAGE_EVENTS;
      }
      if (!hasMore) head = Math.max(head, lastSeq);
      if (head - before > count) otherSeq = head;
      if (head > before) pages.clear();
      // Drops many events at once, because each drop copies all events that remain.
      if (recent.length > DROP_FROM * recentMax) {
        from = recent.at(-recentMax - 1)!.seq;
        recent = recent.slice(-recentMax);
      }
      return count >= REFRESH_EVENTS;
    },
    /** Returns the page after a position from memory. Returns undefined if memory does not have all events after the position. */
    recentPage(position: StreamPosition, selection: StreamSelection) {
      const { seq, missed } = position;
      if (missed || seq < from) return undefined;
      return sharedPage(position, selection, () => {
        const start = firstAfter(recent, seq);
        const events = recent.slice(start, start + PAGE_EVENTS);
        const hasMore = start + events.length < recent.length;
        const upTo = hasMore ? events.at(-1)!.seq : Math.max(seq, head);
        const selected = events.filter(({ underlying }) => selection.tickers.has(underlying));
        return pageOf(selected, position, selection, upTo, hasMore);
      });
    },
    /** Returns the page after a position from the store. Reading a page takes a few milliseconds. */
    storedPage(position: StreamPosition, selection: StreamSelection) {
      const { seq, missed } = position;
      return sharedPage(position, selection, () => {
        if (missed) return missedPage(seq, missed, selection);
        const events = log.levelEventsOf([...selection.tickers].sort(), seq, PAGE_EVENTS, simulated).map(eventOf);
        const hasMore = events.length === PAGE_EVENTS;
        // If a page is not full, it contains the last events of these tickers up to `head`.
        const upTo = Math.max(events.at(-1)?.seq ?? seq, hasMore ? seq : head);
        return pageOf(events, position, selection, upTo, hasMore);
      });
    },
    /**
     * Returns whether a client that came at `sinceMs` of the monotonic clock must wait: it has an event that another server of this log has sent,
     * and that this server has not read yet. Once the log was read to its end, such an event is lost, and the client can resume.
     */
    isBehind(after: EventId | number, sinceMs: number): boolean {
      if (typeof after === 'number' || after.log !== name || after.seq <= log.lastLevelSeq()) return false;
      return performance.now() - sinceReadMs() < sinceMs;
    },
    /**
     * Returns the position from which a client resumes after an event, or undefined if it cannot: an event that the client has missed is older
     * than a day, or the number of an earlier version's id is not in the log. A client of crossings may have received the last event long
     * ago without missing one, so it gets the crossings of the last day.
     */
    resumeFrom(after: EventId | number, selection: StreamSelection): StreamPosition | undefined {
      if (typeof after === 'number') return after > log.lastLevelSeq() ? undefined : resumeHere(after, selection);
      const isHere = after.log === name && isOfLog(after, log.levelsAround(after.seq), log.lastLevelSeq());
      if (!isHere) return resumeFromOther(after, selection);
      const late = after.isLate && !selection.on ? lateFrom(after.marks, after.keptAt) : undefined;
      if (!late || nowMs() < late.untilMs) return resumeHere(after.seq, selection, late);
      return resumeHere(after.seq, selection, { ...late, upToSeq: log.levelSeqAt(late.untilMs, after.seq) });
    },
    /** Returns the first event of a new stream of crossings, from which a client can resume before any crossing. */
    start({ tickers, on }: StreamSelection) {
      const next = { seq: log.lastLevelSeq() };
      const data = JSON.stringify({ tickers: [...tickers], on: [...on!] });
      return { chunks: [Buffer.from(sseEvent('start', data, idAt(next, tickers)))], next };
    },
    /** Returns the newest levels of the tickers in the order of the log, and the last position before the levels were read. */
    current(tickers: ReadonlySet<string>) {
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
      const next = { seq: upTo };
      // The marks are before the newest levels of each ticker. So they are also valid for a client that breaks off between these events.
      const bytes = found.sort((a, b) => a.seq - b.seq).map((event) => event.bytes);
      return { chunks: bytes.length > 0 ? [withIdHead(headAt(next, tickers), bytes)] : [], next };
    },
  };
}

/** Returns the late records of a client with these marks, from a time on. */
function lateFrom(marks: LevelMarks, ms: number): LateRecords {
  return { marks, untilMs: Math.ceil((ms + LATE_MS) / LATE_STEP_MS) * LATE_STEP_MS };
}

function firstAfter(events: readonly GexEvent[], seq: number): number {
  let [low, high] = [0, events.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (events[middle]!.seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
