import { countRejected } from '../rejections.ts';
import type { PrintsDelivery } from './prints-csv.ts';

/** Counts all rows and rejected rows in one file of prints, over all batches. */
export class RejectedRows {
  #rows = 0;
  readonly #counts: Record<string, number> = {};

  add({ prints, refused = {} }: Pick<PrintsDelivery, 'prints' | 'refused'>): void {
    this.#rows += prints.length;
    for (const [reason, count] of Object.entries(refused)) {
      this.#rows += count;
      countRejected(this.#counts, reason, count);
    }
  }

  copy(): RejectedRows {
    const copy = new RejectedRows();
    copy.#rows = this.#rows;
    Object.assign(copy.#counts, this.#counts);
    return copy;
  }

  /** Returns the counts in words, or `undefined` if no row was rejected. */
  summary(): string | undefined {
    const counts = Object.entries(this.#counts);
    if (counts.length === 0) return undefined;
    const sum = counts.reduce((all, [, count]) => all + count, 0);
    return `${sum} of ${this.#rows} rows are invalid (${counts.map(([why, count]) => `${why} ${count}`).join(', ')})`;
  }
}
