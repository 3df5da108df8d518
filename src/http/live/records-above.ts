import type { LevelEvent } from '../../market/level-record.ts';
import { AHEAD_MS } from '../../market/market.ts';
import type { LevelLog, LevelPlace } from '../../market/store.ts';
import type { GexEvent } from './gex-event.ts';
import { type LevelMarks, markOf } from './level-marks.ts';

interface RecordsAboveDeps {
  readonly log: Pick<LevelLog, 'levelPlaces' | 'levelRecords' | 'lateLevels'>;
  readonly simulated: boolean;
  /** The number of events that a call returns, about. */
  readonly pageEvents: number;
  /** Returns the entry with a sequence number, if it is in memory. */
  readonly recentEvent: (seq: number) => GexEvent | undefined;
  readonly eventOf: (levels: LevelEvent) => GexEvent;
}

/** Sequence numbers: after the first, and up to the second. */
type Range = readonly [afterSeq: number, upToSeq: number];

/** Creates the functions that read records above marks, entries or not, as events. */
export function createRecordsAbove({ log, simulated, pageEvents, recentEvent, eventOf }: RecordsAboveDeps) {
  /** Returns the events of some places, in their order. Leaves out records whose moment was wrong, and with `onlyEntries` those that are no entries. */
  const eventsAt = (places: readonly Pick<LevelPlace, 'seq'>[], onlyEntries: boolean): GexEvent[] => {
    const seqs = places.map(({ seq }) => seq).filter((seq) => !recentEvent(seq));
    const read = new Map<number, GexEvent>();
    for (const record of log.levelRecords(seqs))
      if (record.isEntry || (!onlyEntries && isPlausible(record))) read.set(record.seq, eventOf(record));
    return places.flatMap(({ seq }) => recentEvent(seq) ?? read.get(seq) ?? []);
  };

  return {
    /**
     * Returns the first records of a range above the marks and above a moment, in the order of the moments, up to `upToMs`. Crossings are
     * between entries, so a stream of crossings has only entries.
     */
    byMoment(tickers: ReadonlySet<string>, marks: LevelMarks, aboveMs: number, range: Range, onlyEntries: boolean) {
      const most = Math.max(4, Math.ceil((2 * pageEvents) / tickers.size));
      const places: Pick<LevelPlace, 'seq' | 'asOf'>[] = [];
      // All records up to this moment are among the places.
      let upToMs = Number.POSITIVE_INFINITY;
      for (const ticker of tickers) {
        const above = Math.max(markOf(marks, ticker), aboveMs);
        const found = log.levelPlaces(ticker, above, range, most + 1, simulated);
        if (found.length > most) upToMs = Math.min(upToMs, found[most - 1]!.asOf);
        places.push(...found);
      }
      places.sort((a, b) => a.asOf - b.asOf);
      if (places.length > pageEvents) upToMs = Math.min(upToMs, places[pageEvents - 1]!.asOf);
      const taken = places.filter(({ asOf }) => asOf <= upToMs);
      return { events: eventsAt(taken, onlyEntries), upToMs, hasMore: taken.length < places.length };
    },
    /** Returns the first records of a range above the marks that are no entries, in the order of storage, up to `upToSeq`. */
    late(tickers: ReadonlySet<string>, marks: LevelMarks, range: Range) {
      const found = log.lateLevels([...tickers], range, pageEvents, simulated);
      const records = found.filter((each) => each.asOf > markOf(marks, each.underlying) && isPlausible(each));
      return { events: records.map(eventOf), upToSeq: found.length < pageEvents ? range[1] : found.at(-1)!.seq };
    },
  };
}

/** Returns whether a record that is no entry had a plausible moment when it was stored. */
function isPlausible({ asOf, keptAt }: Pick<LevelEvent, 'asOf' | 'keptAt'>): boolean {
  return asOf <= keptAt + AHEAD_MS;
}
