import { memoizeByObject } from '../../core/cache.ts';
import type { CrossingKind } from '../../operations/gex/level-crossings.ts';
import { type EventId, idHead, idTail } from './event-ids.ts';
import type { LevelMarks } from './level-marks.ts';

/** The events that a stream gets. With `on`, it gets only those with a crossing of one of these kinds. */
export interface StreamSelection {
  readonly tickers: ReadonlySet<string>;
  readonly on: ReadonlySet<CrossingKind> | undefined;
}

/** Where a stream is in the log. */
export interface StreamPosition {
  /** The stream has sent all selected entries up to this number, except those of `missed`. */
  readonly seq: number;
  /** The records up to `seq` that the client of another log may lack. They come before all others. */
  readonly missed?: MissedRecords | undefined;
  /** If set, the stream also has the records above the client's marks that are no entries. */
  readonly late?: LateRecords | undefined;
}

export interface LateRecords {
  readonly marks: LevelMarks;
  /** The end of the time in which they are stored, ms since the epoch. */
  readonly untilMs: number;
  /** The last number of this time, if it has passed. */
  readonly upToSeq?: number;
}

export interface MissedRecords {
  /** The id of the client's last event before these records. */
  readonly id: EventId;
  /** The marks of the client, which rise with the records that it gets. */
  readonly marks: LevelMarks;
  /** The stream has sent the missed records up to this moment, ms since the epoch, or leaves them out because they are too old. */
  readonly upToMs: number;
  /** The stream leaves out the records up to this number, because they are too old. */
  readonly afterSeq: number;
  /** The value of `late` after these records. */
  readonly late: LateRecords | undefined;
}

/** Returns a text that is equal for streams that get the same events with the same ids. */
export function pageKeyOf({ seq, missed, late }: StreamPosition, { tickers, on }: StreamSelection): string {
  const before = missed && `${missed.upToMs}+${missed.marks.text}+${idHead(missed.id)}${idTail(missed.id)}`;
  const above = missed?.late ?? late;
  return `${seq},${before},${above?.marks.text},${above?.untilMs},${on && namesOf(on)},${namesOf(tickers)}`;
}

/** Returns names as one text, which is equal for sets of the same names. */
const namesOf = memoizeByObject((names: ReadonlySet<string>) => [...names].sort().join());
