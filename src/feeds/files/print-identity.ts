/**
 * Maximum size of each cache of recent trades. Two caches of this size are used to recognise equal rows. Equal rows of a tape are close to
 * each other, so small caches are sufficient.
 */
const RECENT_MAX = 20_000;

/**
 * Derives the ids of the prints of one file from their content, for files without an id column. An id consists of the time of the trade and
 * a digest of the trade. If rows are equal, the id of the second row ends with `-2`, the id of the third row ends with `-3`, and so on. So
 * a print keeps its id if its file is read twice, or if two files overlap. Two equal fills at the same time have different ids, so both
 * fills are stored. Values that may differ in a later copy of a row are left out of the id: `canceled`, condition, flags, quotes and
 * Greeks.
 *
 * A canceled row gets the id of the first equal print that is not yet canceled, and so cancels this print. If all equal prints are
 * canceled, the canceled row becomes a separate print.
 *
 * The memory is bounded: the id generator forgets a trade after 20,000 to 40,000 other trades. If an equal row comes after the trade is
 * forgotten, it gets the id of the first row, so both rows are stored as one print.
 */
export class PrintIdentity {
  #recent = new Map<string, Seen>();
  #older = new Map<string, Seen>();

  /**
   * Returns the id of the next row. `trade` is the text that identifies the trade. The id begins with `at` (ms since the epoch). So ids are
   * in time order, and the store adds new ids at the end of its index.
   */
  of(at: number, trade: string, isCanceled: boolean): string {
    const id = `${at.toString(36)}-${Bun.hash.xxHash64(trade).toString(36)}`;
    const seen = this.#recent.get(id) ?? this.#older.get(id) ?? { prints: 0, canceled: 0 };
    if (this.#recent.size >= RECENT_MAX) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(id, seen);
    const cancelsOne = isCanceled && seen.canceled < seen.prints;
    if (!cancelsOne) seen.prints++;
    if (isCanceled) seen.canceled++;
    const ordinal = cancelsOne ? seen.canceled : seen.prints;
    return ordinal === 1 ? id : `${id}-${ordinal}`;
  }
}

/** The counts for equal rows of one trade. */
interface Seen {
  /** Number of prints that the rows of the trade create. A row that cancels another row creates no print. */
  prints: number;
  /** Number of canceled prints. The earliest prints are canceled first. */
  canceled: number;
}
