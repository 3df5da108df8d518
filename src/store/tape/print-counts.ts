import type { Database } from 'bun:sqlite';

/** The fields of a `prints` row that determine which count includes the row. */
interface Counted {
  readonly simulated: number;
  readonly underlying: string;
  /** Time of the print, ms since the epoch. */
  readonly at: number;
}

/** Length of a slot, ms. This length must not change, because the stored counts have slots of this length. */
export const SLOT_MS = 60_000;

/** Creates the functions of the counts of print rows by minute, written once per transaction. With triggers, a save takes twice as long. */
export function printCounts(db: Database) {
  const add = db.prepare<null, [number, string, number, number, number]>(
    `INSERT INTO print_counts VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET entries = entries + excluded.entries, canceled = canceled + excluded.canceled`,
  );
  const removeEmpty = db.prepare<null, [number, string, number]>(
    'DELETE FROM print_counts WHERE simulated = ? AND underlying = ? AND slot = ? AND entries <= 0',
  );
  const SUM = 'SELECT ifnull(sum(entries), 0) AS entries, ifnull(sum(canceled), 0) AS canceled';
  const WITHIN = 'simulated = ? AND underlying = ? AND at BETWEEN ? AND ?';
  const selectSlots = db.prepare<{ entries: number; canceled: number }, [number, string, number, number]>(
    `${SUM} FROM print_counts WHERE simulated = ? AND underlying = ? AND slot BETWEEN ? AND ?`,
  );
  const selectRows = db.prepare<{ entries: number; canceled: number }, [number, string, number, number]>(
    `SELECT count(*) AS entries, ifnull(sum(canceled), 0) AS canceled FROM prints WHERE ${WITHIN}`,
  );
  const selectAny = db.prepare<{ found: number }, [number, string, number, number]>(
    `SELECT EXISTS (SELECT * FROM prints WHERE ${WITHIN}) AS found`,
  );

  const slots = new Map<string, Slot>();
  // Prints mostly arrive in time order, so the next print is usually in the same slot.
  let last: Slot | undefined;
  const clear = () => {
    slots.clear();
    last = undefined;
  };
  const slotFor = ({ simulated, underlying, at }: Counted): Slot => {
    const slot = slotOf(at);
    if (last?.slot === slot && last.underlying === underlying && last.simulated === simulated) return last;
    const key = `${simulated} ${underlying} ${slot}`;
    last = slots.getOrInsert(key, { simulated, underlying, slot, entries: 0, canceled: 0 });
    return last;
  };

  return {
    /** Runs `work`, and then writes the counts that `work` changed. Callers must call this method within a transaction. */
    batch<T>(work: () => T): T {
      // Removes counts of a failed transaction.
      clear();
      const result = work();
      for (const { simulated, underlying, slot, entries, canceled } of slots.values()) {
        add.run(simulated, underlying, slot, entries, canceled);
        if (entries < 0) removeEmpty.run(simulated, underlying, slot);
      }
      clear();
      return result;
    },
    /** Adds to the counts of the row's minute; negative numbers reduce them. Callers must call this method within `batch`. */
    count(row: Counted, entries: number, canceled: number): void {
      const slot = slotFor(row);
      slot.entries += entries;
      slot.canceled += canceled;
    },
    /** Returns the number of rows from `fromMs` to `toMs`, and how many of these rows are canceled. */
    of(simulated: number, underlying: string, fromMs: number, toMs: number) {
      const tapeKey = [simulated, underlying] as const;
      const hasNoRows = (from: number, to: number) => from > to || selectAny.get(...tapeKey, from, to)!.found === 0;
      // The first and the last slot may be partly outside the range. If all their rows are inside, their counts are used.
      const [first, last] = [slotOf(fromMs), slotOf(toMs)];
      const from = hasNoRows(first * SLOT_MS, fromMs - 1) ? first : first + 1;
      const to = hasNoRows(toMs + 1, (last + 1) * SLOT_MS - 1) ? last : last - 1;
      if (from > to) return selectRows.get(...tapeKey, fromMs, toMs)!;
      const counts = [
        selectRows.get(...tapeKey, fromMs, from * SLOT_MS - 1)!,
        selectSlots.get(...tapeKey, from, to)!,
        selectRows.get(...tapeKey, (to + 1) * SLOT_MS, toMs)!,
      ];
      return {
        entries: counts.reduce((sum, { entries }) => sum + entries, 0),
        canceled: counts.reduce((sum, { canceled }) => sum + canceled, 0),
      };
    },
  };
}

/** The counts of rows in one minute, or the changes of these counts. */
interface Slot {
  readonly simulated: number;
  readonly underlying: string;
  readonly slot: number;
  entries: number;
  canceled: number;
}

/** Returns the number of minutes from the epoch to a time. */
function slotOf(atMs: number): number {
  return Math.floor(atMs / SLOT_MS);
}
