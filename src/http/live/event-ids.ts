import type { LevelPlace } from '../../market/store.ts';
import { type LevelMarks, MARKS_PATTERN, parseMarks } from './level-marks.ts';

/**
 * What the id of a live event states: `MARKS.LOG.SEQ.KEPT_AT.CHECK`, with numbers in base 36. The marks serve a server with another log, the
 * rest a server of this log. No part names a server. The marks stand first, because all ids of a page have the same.
 */
export interface EventId extends IdTail {
  readonly marks: LevelMarks;
  /** Whether the client still waits for late records above the marks. The id then begins with `L`. */
  readonly isLate: boolean;
}

/** A place in a log. */
interface IdTail {
  /** The name of the log. */
  readonly log: string;
  /** The sequence number up to which the client has all entries of this log. */
  readonly seq: number;
  /** When the last record up to `seq` was stored, ms since the epoch. */
  readonly keptAt: number;
  /** A short hash of the ticker and the moment of this record. */
  readonly check: string;
}

/** Returns the beginning of the ids of a page. */
export const idHead = ({ marks, isLate }: Pick<EventId, 'marks' | 'isLate'>): string =>
  `${isLate ? 'L' : ''}${marks.text}.`;

/** Returns the end of an id. */
export const idTail = ({ log, seq, keptAt, check }: IdTail): string =>
  `${log}.${seq.toString(36)}.${Math.max(0, keptAt).toString(36)}.${check}`;

/** Returns the end of the id of a record in a log. */
export const tailOf = (log: string, { seq, underlying, asOf, keptAt }: LevelPlace): string =>
  idTail({ log, seq, keptAt, check: checkOf({ underlying, asOf }) });

/**
 * Returns whether the log with the id's name is the log of the id, and no copy that has continued in another way, or that has lost its
 * end: the record of the id is there, or it was removed, and stood between an earlier and a later one.
 */
export function isOfLog(
  { seq, keptAt, check }: EventId,
  { before, after }: { readonly before: LevelPlace | undefined; readonly after: LevelPlace | undefined },
  lastSeq: number,
): boolean {
  if (before?.seq === seq) return before.keptAt === keptAt && checkOf(before) === check;
  return seq <= lastSeq && (before?.keptAt ?? keptAt) <= keptAt && keptAt <= (after?.keptAt ?? keptAt);
}

/**
 * Returns what an id states, or `undefined` if it is malformed. The number of an earlier version's id is a sequence number of this server's
 * log.
 */
export function parseEventId(text: string): EventId | number | undefined {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, late, marks, log, seq, keptAt, check] = ID.exec(text) ?? [];
  if (check === undefined) return undefined;
  const number = (digits: string) => Number.parseInt(digits, 36);
  return {
    marks: parseMarks(marks!),
    isLate: late === 'L',
    log: log!,
    seq: number(seq!),
    keptAt: number(keptAt!),
    check,
  };
}

/** The pattern of ids. Ten digits in base 36 are a safe integer. */
const ID = new RegExp(
  `^(L?)(${MARKS_PATTERN})\\.([0-9a-z]{1,32})\\.([0-9a-z]{1,10})\\.([0-9a-z]{1,10})\\.([0-9a-z]{1,3})$`,
);

function checkOf({ underlying, asOf }: Pick<LevelPlace, 'underlying' | 'asOf'>): string {
  return Bun.hash(`${underlying} ${asOf}`).toString(36).slice(-3);
}
