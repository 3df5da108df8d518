/** How many different trades are remembered to tell a twin from a first; the twins of a tape stand near each other. */
const REMEMBERED = 20_000;

/**
 * Names the prints of one file by what they say, where no column does: a digest, and for the second and further rows that say the
 * same, their ordinal. So a file read twice, or two that overlap, name a print alike, while of one trader's two equal fills in a
 * moment both count. What may change in a later copy (`canceled`, flags, figures beside the trade) has no part in it.
 *
 * Memory is bounded: a twin more than 20,000 to 40,000 trades further down is taken for a copy.
 */
export class PrintIdentity {
  #recent = new Map<string, number>();
  #older = new Map<string, number>();

  /** `trade` is what makes the trade, in one spelling; `at` (ms since the epoch) leads, so that the store appends. */
  of(at: number, trade: string): string {
    const id = `${at.toString(36)}-${Bun.hash.xxHash64(trade).toString(36)}`;
    const before = this.#recent.get(id) ?? this.#older.get(id) ?? 0;
    if (this.#recent.size >= REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(id, before + 1);
    return before === 0 ? id : `${id}-${before + 1}`;
  }
}
