/** How many different trades are remembered to tell a twin from a first; the twins of a tape stand near each other. */
const REMEMBERED = 20_000;

/**
 * Names the prints of one file by what they say, where no column does: a digest, and for the second and further rows that say the
 * same, their ordinal. So a file read twice, or two that overlap, name a print alike, while of one trader's two equal fills in a
 * moment both count. What may change in a later copy (`canceled`, condition, flags, figures beside the trade) has no part in it: a
 * cancelled row is a copy of the first that still stands, or, where none does, a print of its own.
 *
 * Memory is bounded: a twin more than 20,000 to 40,000 trades further down is taken for a copy.
 */
export class PrintIdentity {
  #recent = new Map<string, Seen>();
  #older = new Map<string, Seen>();

  /** `trade` is what makes the trade, in one spelling; `at` (ms since the epoch) leads, so that the store appends. */
  of(at: number, trade: string, isCanceled: boolean): string {
    const id = `${at.toString(36)}-${Bun.hash.xxHash64(trade).toString(36)}`;
    const seen = this.#recent.get(id) ?? this.#older.get(id) ?? { prints: 0, canceled: 0 };
    if (this.#recent.size >= REMEMBERED) {
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

/** Of rows that say the same: how many prints they are, and how many of those, from the first on, are cancelled. */
interface Seen {
  prints: number;
  canceled: number;
}
