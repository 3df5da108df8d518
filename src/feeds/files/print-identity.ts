/** How many different trades are cached to recognise equal rows. Equal rows of a tape are close to each other. */
const RECENT_MAX = 20_000;

/**
 * Derives ids for the prints of one file from their content, for files without an id column. An id is a digest of the trade. The second and
 * further equal rows also get their ordinal. So a print has the same id if a file is read twice or two files overlap, but two equal fills
 * in the same moment both count. Values that may differ in a later copy (`canceled`, condition, flags, quotes and Greeks) are not part of
 * the id. A cancelled row is a copy of the first such print that is not yet cancelled. If there is none, the cancelled row is a
 * separate print.
 *
 * Memory is bounded: if more than 20,000 to 40,000 other trades are between two equal rows, the second one counts as a copy.
 */
export class PrintIdentity {
  #recent = new Map<string, Seen>();
  #older = new Map<string, Seen>();

  /** `trade` is the identity of the trade in canonical form. `at` (ms since the epoch) comes first in the id, so that the store appends. */
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

/** Counts of equal rows: how many prints they are, and how many of these prints, from the first one, are cancelled. */
interface Seen {
  prints: number;
  canceled: number;
}
