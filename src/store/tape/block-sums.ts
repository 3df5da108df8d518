import type { Database } from 'bun:sqlite';
import { PARTS } from '../../market/tape.ts';
import { sumsOf, TapeSummer, type TapeSums } from '../../market/tape-sums.ts';
import { decodeSums, encodeSums } from './tape-codec.ts';
import type { TapeDay } from './tape-days.ts';
import { validRows } from './tape-entries.ts';
import type { Part, TapeParts } from './tape-parts.ts';

/** Consecutive parts of a day's tape, and the sums of their prints. */
export interface SummedParts {
  readonly parts: readonly Part[];
  /** Reads the stored sums. Throws `OperatorError` if the sums are damaged. */
  readonly sums: () => TapeSums;
}

/** The functions that `blockSums` creates. */
export type BlockSums = ReturnType<typeof blockSums>;

/** Minimum number of prints per contract for stored sums. With fewer, adding up prints takes no longer than reading sums. */
const PRINTS_PER_CONTRACT_MIN = 4;

/**
 * Creates the functions that read and write sums by contract of blocks: consecutive parts of a day, or all. Stored sums are valid while the
 * block has the stored numbers of prints, so a write need not remove them.
 */
export function blockSums(db: Database, parts: TapeParts) {
  const selectSums = db.prepare<{ rowid: number; last: number; entries: number; valid: number }, [number]>(
    'SELECT rowid, last, entries, standing AS valid FROM tape_sums WHERE first = ? ORDER BY entries DESC',
  );
  const selectSumsBlob = db.prepare<{ sums: Uint8Array }, [number]>('SELECT sums FROM tape_sums WHERE rowid = ?');
  const putSums = db.prepare<null, [number, number, number, number, Uint8Array]>(
    'INSERT OR REPLACE INTO tape_sums VALUES (?, ?, ?, ?, ?)',
  );
  const putDay = db.prepare<null, [number, string, string, number, number]>(
    'INSERT OR REPLACE INTO tape_days VALUES (?, ?, ?, ?, ?)',
  );
  const selectUnsummed = db.prepare<TapeDay, [string, number]>(
    `SELECT simulated, underlying, day FROM
       (SELECT simulated, underlying, day, sum(entries) AS entries, sum(standing) AS standing
        FROM tape_parts WHERE day < ? GROUP BY simulated, underlying, day) AS stored
     LEFT JOIN tape_days AS summed USING (simulated, underlying, day)
     WHERE (stored.entries, stored.standing) IS NOT (summed.entries, summed.standing)
       AND stored.entries - ifnull(summed.entries, 0) >= ? * stored.entries`,
  );

  /** Stores the sums of a block. Does nothing if the block has too few prints per contract (see PRINTS_PER_CONTRACT_MIN). */
  const put = (block: readonly Part[], sums: TapeSums): void => {
    const { entries, valid } = countsOf(block);
    if (valid < PRINTS_PER_CONTRACT_MIN * sums.contracts.strike.length) return;
    putSums.run(block[0]!.id, block.at(-1)!.id, entries, valid, encodeSums(sums));
  };
  /** Records that a day is summed, which means that its small parts are joined and the sums of all its parts are added up. */
  const recordSummedDay = ({ simulated, underlying, day }: TapeDay, dayParts: readonly Part[]): void => {
    const { entries, valid } = countsOf(dayParts);
    putDay.run(simulated, underlying, day, entries, valid);
  };
  /** Stores the sums of a block, and records a whole day (`isDay`) as summed, unless the parts or their prints have changed meanwhile. */
  const putUnchanged = db.transaction((tapeDay: TapeDay, block: readonly Part[], sums: TapeSums, isDay: boolean) => {
    const current = parts.ofDay(tapeDay);
    const first = current.findIndex(({ id }) => id === block[0]!.id);
    const isSame = block.every(({ id, retired }, i) => current[first + i]?.id === id && retired === 0);
    if (!isSame || (isDay && current.length !== block.length)) return;
    put(block, sums);
    if (isDay) recordSummedDay(tapeDay, block);
  });

  return {
    /** Returns the longest block with valid sums from index `from` on, of at most `partsMax` parts up to `toMs`. */
    longest(from: number, dayParts: readonly Part[], toMs: number, partsMax: number): SummedParts | undefined {
      const { id, day } = dayParts[from]!;
      for (const row of selectSums.all(id)) {
        const last = dayParts.findIndex((part) => part.id === row.last);
        const block = dayParts.slice(from, last + 1);
        const { entries, valid } = countsOf(block);
        if (block.length === 0 || block.length > partsMax || block.at(-1)!.toAt > toMs) continue;
        if (entries !== row.entries || valid !== row.valid) continue;
        const sums = () => decodeSums(selectSumsBlob.get(row.rowid)!.sums, `the sum of the tape of ${day}`);
        return { parts: block, sums };
      }
      return undefined;
    },
    /** Returns the days before `beforeDay` of whose prints at least the share `newFrom` is newer than their sums. */
    unsummedDays: (beforeDay: string, newFrom: number): TapeDay[] => selectUnsummed.all(beforeDay, newFrom),
    /** Adds up parts to blocks of PARTS.few, of PARTS.many and of the day, and stores their sums. Other work runs at each `yield`. */
    *addUp(tapeDay: TapeDay): Generator<number, void> {
      const dayParts = parts.ofDay(tapeDay);
      // Another process may have added prints since the layers were merged. The next run sums the day.
      if (dayParts.some(({ layer }) => layer > 0)) return;
      const sizes = [PARTS.few, PARTS.many].filter((size) => size < dayParts.length);
      const summers = new Map(sizes.map((size) => [size, new TapeSummer()]));
      const day = new TapeSummer();
      for (const [i, part] of dayParts.entries()) {
        let sums: TapeSums | undefined = sumsOf(validRows(parts.columnsOf(part)));
        // The sums of a block are added to the next larger block when the block is full or the day ends.
        for (const size of sizes) {
          summers.get(size)!.add(sums);
          yield 0;
          const isFull = (i + 1) % size === 0 || i + 1 === dayParts.length;
          sums = isFull ? summers.get(size)!.sums() : undefined;
          if (sums === undefined) break;
          summers.set(size, new TapeSummer());
          putUnchanged.immediate(tapeDay, dayParts.slice(Math.floor(i / size) * size, i + 1), sums, false);
        }
        if (sums) day.add(sums);
        yield 0;
      }
      putUnchanged.immediate(tapeDay, dayParts, day.sums(), true);
      yield 0;
    },
  };
}

function countsOf(block: readonly Part[]) {
  return {
    entries: block.reduce((sum, part) => sum + part.entries, 0),
    valid: block.reduce((sum, part) => sum + part.valid, 0),
  };
}
