import { countRejected } from '../rejections.ts';
import { SessionShare } from '../session-share.ts';
import type { PrintsDelivery } from './prints-csv.ts';

/** Counts all rows, rejected rows and prints outside the session in one file of prints, over all batches. */
export class RejectedRows {
  #rows = 0;
  #session = new SessionShare();
  readonly #counts: Record<string, number> = {};

  add({ prints, refused = {} }: Pick<PrintsDelivery, 'prints' | 'refused'>): void {
    this.#rows += prints.length;
    this.#session.add(prints);
    for (const [reason, count] of Object.entries(refused)) {
      this.#rows += count;
      countRejected(this.#counts, reason, count);
    }
  }

  copy(): RejectedRows {
    const copy = new RejectedRows();
    copy.#rows = this.#rows;
    copy.#session = this.#session.copy();
    Object.assign(copy.#counts, this.#counts);
    return copy;
  }

  /** Returns what is wrong with rows or with the times of prints, or `undefined` if nothing is. */
  summary(): string | undefined {
    const found = [this.#rejected(), this.#session.warning()].filter((each) => each !== undefined);
    return found.length === 0 ? undefined : found.join('; ');
  }

  #rejected(): string | undefined {
    const counts = Object.entries(this.#counts);
    if (counts.length === 0) return undefined;
    const sum = counts.reduce((all, [, count]) => all + count, 0);
    return `${sum} of ${this.#rows} rows are invalid (${counts.map(([why, count]) => `${why} ${count}`).join(', ')})`;
  }
}
