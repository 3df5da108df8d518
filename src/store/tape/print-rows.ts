import type { Database } from 'bun:sqlite';
import { recordOf } from '../../core/record-of.ts';
import type { Print } from '../../market/prints.ts';
import { ContractNumbers, FLAG, NUMBERS, type TapeColumns, type TapeSeries } from '../../market/tape-columns.ts';
import { printCounts } from './print-counts.ts';
import type { TapeId } from './tape-days.ts';
import { CANCELED, CORRECTED } from './tape-entries.ts';

/** Smallest premium of a print in the index of large prints, dollars. */
const INDEXED_MIN = 25_000;

/** A row with only the columns of `TapeColumns`, which takes less time to read than a full row. */
export interface ColumnRow extends TapeSeries, Pick<Print, 'strike' | (typeof NUMBERS)[number]> {
  readonly rowid: number;
  readonly flags: number;
}

/** A position between two rows, directly after the row with the id `rowid` at the moment `atMs`. */
export type RowCursor = Readonly<{ atMs: number; rowid: number }>;

/** A row that can become part of the packed tape. */
export interface MovableRow {
  readonly rowid: number;
  /** The print with its id from the feed. */
  readonly print: Print;
  /** 0 if the print is valid, or else CANCELED or CORRECTED. */
  readonly flag: number;
}

/** The functions that `printRows` creates. */
export type PrintRows = ReturnType<typeof printRows>;

/**
 * Creates the functions that read and write prints that are not packed, by their id. The row of a corrected print gets another id, and
 * counts as canceled. Rowids are in order of arrival. Readers leave out canceled rows, unless their comment states otherwise.
 */
export function printRows(db: Database) {
  const counts = printCounts(db);
  const insert = db.prepare<null, [PrintRow]>(
    `INSERT INTO prints (simulated, id, underlying, root, expiry, call_put, strike, price, size, multiplier, at, side,
       bid, ask, delta, multi_leg, sweep, block, canceled)
     VALUES ($simulated, $id, $underlying, $root, $expiry, $callPut, $strike, $price, $size, $multiplier, $at, $side,
       $bid, $ask, $delta, $multiLeg, $sweep, $block, $canceled) ON CONFLICT DO NOTHING`,
  );
  const selectKnown = db.prepare<PrintRow, [number, string]>(`${SELECT} WHERE simulated = ? AND id = ?`);
  // A corrected copy's id is the print's id, '~' and a rowid, which sorts between the id followed by '~' and by '~:'.
  const selectEarlier = db.prepare<PrintRow, [number, string]>(
    `${SELECT} WHERE simulated = ?1 AND id > ?2 || '~' AND id < ?2 || '~:'`,
  );
  const cancel = db.prepare<null, [number, string]>('UPDATE prints SET canceled = 1 WHERE simulated = ? AND id = ?');
  // The original row stays as a canceled row under another id, and the correction gets the original id.
  const replace = db.prepare<null, [number, string]>(
    `UPDATE prints SET canceled = 1, id = id || '~' || rowid WHERE simulated = ? AND id = ?`,
  );
  const WITHIN = 'WHERE simulated = ? AND underlying = ? AND at BETWEEN ? AND ?';
  const select = (more: string) =>
    db.prepare<PrintRow, [number, string, number, number, number]>(`${SELECT} ${WITHIN} AND canceled = 0 ${more}`);
  const selectAbove = select('AND premium >= ? ORDER BY at, rowid');
  const selectLarge = select(`AND premium >= ${INDEXED_MIN} AND premium >= ? ORDER BY at, rowid`);
  // Sorting by rowid would take as long as the rest. `sortRows` sorts the few prints that have the same moment.
  const selectColumns = db.prepare<ColumnRow, [number, string, number, number]>(
    `${SELECT_COLUMNS} ${WITHIN} AND canceled = 0 ORDER BY at`,
  );
  const selectNext = (least: string) =>
    db.prepare<ColumnRow, [number, string, number, number, number, number, number]>(
      `${SELECT_COLUMNS} ${WITHIN} AND canceled = 0 AND ${least} AND premium >= ? AND (at, rowid) > (?3, ?)
       ORDER BY at, rowid LIMIT ?`,
    );
  const [selectNextAbove, selectNextLarge] = [selectNext('TRUE'), selectNext(`premium >= ${INDEXED_MIN}`)];
  const selectNth = db.prepare<{ at: number }, [number, string, number, number, number]>(
    `SELECT at FROM prints ${WITHIN} AND canceled = 0 ORDER BY at LIMIT 1 OFFSET ?`,
  );
  const selectFirst = db.prepare<{ at: number }, [number, string, number, number]>(
    `SELECT at FROM prints ${WITHIN} AND canceled = 0 ORDER BY at LIMIT 1`,
  );
  const selectAny = db.prepare<{ found: number }, [number, string, number, number]>(
    `SELECT EXISTS (SELECT * FROM prints ${WITHIN}) AS found`,
  );
  const selectLast = db.prepare<{ at: number }, [number, string, number]>(
    'SELECT at FROM prints WHERE simulated = ? AND underlying = ? AND at <= ? AND canceled = 0 ORDER BY at DESC LIMIT 1',
  );
  const selectOldest = db.prepare<PrintRow & { rowid: number }, [number, string, number, number, number]>(
    `SELECT rowid, ${SELECT.slice('SELECT '.length)} ${WITHIN} ORDER BY at, rowid LIMIT ?`,
  );
  const selectOldestAt = db.prepare<{ at: number }, [number, string]>(
    'SELECT at FROM prints WHERE simulated = ? AND underlying = ? ORDER BY at LIMIT 1',
  );
  const deleteOldest = db.prepare<null, [number, string, number, number, number, number]>(
    `DELETE FROM prints ${WITHIN} AND (at, rowid) <= (?, ?)`,
  );
  const selectTapes = tapesIn(db);

  /** Runs `statement`, which cancels the row of a print or marks the row as corrected. Counts the row as canceled. */
  const retireBy = (statement: typeof cancel, { simulated, underlying, at, id }: Print): void => {
    statement.run(Number(simulated), id);
    counts.count({ simulated: Number(simulated), underlying, at }, 0, 1);
  };

  return {
    /** Runs `work`, which may write rows, and then writes the counts of rows. Callers must call this method within a transaction. */
    counted: counts.batch,
    /** Inserts a print. Returns false if a row already has the id of the print. */
    insert(print: Print): boolean {
      const row = rowOf(print);
      if (insert.run(row).changes === 0) return false;
      counts.count(row, 1, row.canceled);
      return true;
    },
    /** Cancels a stored print. */
    cancel: (stored: Print): void => retireBy(cancel, stored),
    /** Marks a stored print as corrected. The correction can then be stored under the id of the print. */
    markCorrected: (stored: Print): void => retireBy(replace, stored),
    /** Returns the oldest rows of a range, including canceled rows, in order of time and then in order of arrival. */
    oldest: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number, limit: number): MovableRow[] =>
      selectOldest.all(simulated, underlying, fromMs, toMs, limit).map(movableOf),
    /** Removes the oldest rows of a range, which the method `oldest` returned. Throws `Error` if the rows have changed meanwhile. */
    removeOldest({ simulated, underlying }: TapeId, fromMs: number, toMs: number, oldest: readonly MovableRow[]): void {
      const last = oldest.at(-1)!;
      const removed = deleteOldest.run(simulated, underlying, fromMs, toMs, last.print.at, last.rowid).changes;
      if (removed !== oldest.length) throw new Error('rows disappeared while they were packed');
      for (const { print } of oldest) {
        counts.count({ simulated, underlying, at: print.at }, -1, -Number(print.canceled));
      }
    },

    /** Returns the row with the id of a print, even if the row is canceled. Returns `undefined` if there is no such row. */
    withIdOf({ simulated, id }: Print): Print | undefined {
      const row = selectKnown.get(Number(simulated), id);
      return row ? printOf(row) : undefined;
    },
    /** Returns the corrected copies of a print. The stored ids of the copies differ from the delivered id. */
    correctedCopiesOf: ({ simulated, id }: Print): Print[] => selectEarlier.all(Number(simulated), id).map(printOf),
    /** Returns the prints of a period with at least a minimum premium, in order of time and then in order of arrival. */
    atLeast: (underlying: string, fromMs: number, toMs: number, simulated: boolean, minPremiumUsd: number): Print[] =>
      (minPremiumUsd < INDEXED_MIN ? selectAbove : selectLarge)
        .all(Number(simulated), underlying, fromMs, toMs, minPremiumUsd)
        .map(printOf),
    /** Returns the first `limit` prints of a minimum premium after a position and up to `toMs`, by time and arrival. */
    nextAtLeast(
      { simulated, underlying }: TapeId,
      { atMs, rowid }: RowCursor,
      toMs: number,
      minPremiumUsd: number,
      limit: number,
    ): ColumnRow[] {
      const statement = minPremiumUsd < INDEXED_MIN ? selectNextAbove : selectNextLarge;
      return statement.all(simulated, underlying, atMs, toMs, minPremiumUsd, rowid, limit);
    },
    /** Returns the prints from `fromMs` to `toMs` as columns. */
    columns: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number): TapeColumns =>
      columnsOfRows(sortRows(selectColumns.all(simulated, underlying, fromMs, toMs))),

    /** Returns whether there are rows from `fromMs` to `toMs`. Canceled rows count. */
    has: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number): boolean =>
      selectAny.get(simulated, underlying, fromMs, toMs)!.found === 1,
    /** Returns the number of rows from `fromMs` to `toMs`, and how many of these rows are canceled. */
    count: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number) =>
      counts.of(simulated, underlying, fromMs, toMs),
    /** Returns the time of the first print from `fromMs` to `toMs`, ms since the epoch. Returns `undefined` if there is no print. */
    firstAt: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number): number | undefined =>
      selectFirst.get(simulated, underlying, fromMs, toMs)?.at,
    /** Returns the time of the print after the first `count` prints from `fromMs` to `toMs`, ms since the epoch, if there is one. */
    atAfter: ({ simulated, underlying }: TapeId, fromMs: number, toMs: number, count: number): number | undefined =>
      selectNth.get(simulated, underlying, fromMs, toMs, count)?.at,
    /** Returns the time of the last print up to `untilMs`, ms since the epoch. Returns `undefined` if there is no print. */
    lastAt: ({ simulated, underlying }: TapeId, untilMs: number): number | undefined =>
      selectLast.get(simulated, underlying, untilMs)?.at,
    /** Returns the time of the oldest row of a tape, ms since the epoch. Canceled rows count. Returns `undefined` if there is no row. */
    oldestAt: ({ simulated, underlying }: TapeId): number | undefined => selectOldestAt.get(simulated, underlying)?.at,
    /** Returns the tapes that have rows. */
    tapes: (): TapeId[] => selectTapes.all(),
  };
}

/** Returns the position before the first row at or after a moment. */
export function beforeRowsOf(atMs: number): RowCursor {
  // The number -1 is less than every rowid.
  return { atMs, rowid: -1 };
}

/** Returns rows as columns. The rows must be in order of time and then in order of arrival. */
export function columnsOfRows(rows: readonly ColumnRow[]): TapeColumns {
  const numbers = new ContractNumbers();
  const count = rows.length;
  const contract = new Uint32Array(count);
  for (let i = 0; i < count; i++) contract[i] = numbers.of(rows[i]!);
  const columns = recordOf(NUMBERS, (name) => {
    const column = new Float64Array(count);
    for (let i = 0; i < count; i++) column[i] = rows[i]![name] ?? Number.NaN;
    return column;
  });
  const flags = Uint8Array.from(rows, ({ flags }) => flags);
  return { count, contracts: numbers.contracts(), contract, ...columns, flags };
}

/** Prepares the query for the tapes that have rows. */
export function tapesIn(db: Database) {
  // The query uses the index to step from one underlying to the next. The query's time therefore grows with the number of underlyings, not
  // with the length of the tape. The comparison (simulated, underlying) > (…) would read all rows, because SQLite would use only the first
  // column of the index.
  return db.prepare<TapeId, []>(
    `WITH RECURSIVE kinds (simulated, underlying) AS (
       SELECT * FROM (SELECT simulated, underlying FROM prints ORDER BY simulated, underlying LIMIT 1)
       UNION ALL
       SELECT prints.simulated, prints.underlying FROM kinds, prints WHERE prints.rowid = (
         SELECT ifnull(
           (SELECT rowid FROM prints WHERE simulated = kinds.simulated AND underlying > kinds.underlying
            ORDER BY underlying LIMIT 1),
           (SELECT rowid FROM prints WHERE simulated > kinds.simulated ORDER BY simulated, underlying LIMIT 1)
         )
       )
     ) SELECT * FROM kinds`,
  );
}

const SELECT = `SELECT simulated, id, underlying, root, expiry, call_put AS callPut, strike, price, size, multiplier, at, side,
  bid, ask, delta, multi_leg AS multiLeg, sweep, block, canceled FROM prints`;

const SELECT_COLUMNS = `SELECT rowid, root, expiry, call_put AS callPut, strike, price, size, multiplier, at, bid, ask, delta,
  CASE side WHEN 'bid' THEN ${FLAG.bid} WHEN 'ask' THEN ${FLAG.ask} WHEN 'mid' THEN ${FLAG.mid} ELSE 0 END
    + ${FLAG.multiLeg} * multi_leg + ${FLAG.sweep} * sweep + ${FLAG.block} * block AS flags FROM prints`;

/** Returns rows in order of time and then in order of arrival. The given rows must already be in order of time. */
function sortRows(rows: ColumnRow[]): ColumnRow[] {
  const isSorted = rows.every(({ at, rowid }, i) => {
    const before = rows[i - 1];
    return before === undefined || before.at < at || before.rowid < rowid;
  });
  return isSorted ? rows : rows.sort((a, b) => a.at - b.at || a.rowid - b.rowid);
}

/** A print as SQLite stores it: booleans are 0 and 1. */
type PrintRow = Omit<Print, Flag> & Record<Flag, number>;
type Flag = 'multiLeg' | 'sweep' | 'block' | 'canceled' | 'simulated';

function rowOf(print: Print): PrintRow {
  return {
    ...print,
    multiLeg: Number(print.multiLeg),
    sweep: Number(print.sweep),
    block: Number(print.block),
    canceled: Number(print.canceled),
    simulated: Number(print.simulated),
  };
}

/** Returns a row as a print with the id that the feed delivered. */
function movableOf({ rowid, ...row }: PrintRow & { rowid: number }): MovableRow {
  const print = printOf(row);
  const isCorrected = print.canceled && row.id.endsWith(`~${rowid}`);
  if (!isCorrected) return { rowid, print, flag: print.canceled ? CANCELED : 0 };
  return { rowid, print: { ...print, id: row.id.slice(0, row.id.lastIndexOf('~')) }, flag: CORRECTED };
}

function printOf(row: PrintRow): Print {
  return {
    ...row,
    multiLeg: row.multiLeg === 1,
    sweep: row.sweep === 1,
    block: row.block === 1,
    canceled: row.canceled === 1,
    simulated: row.simulated === 1,
  };
}
