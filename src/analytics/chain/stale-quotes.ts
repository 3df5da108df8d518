import type { Chain } from '../../market/chain.ts';
import { mid } from './quotes.ts';

/**
 * Returns the rows of stale quotes. `wing` has the rows of either the calls or the puts of one series, sorted by their distance from the
 * money. Option prices must not rise with the distance from the money. Two quotes contradict each other if an option's bid exceeds the ask
 * of an option nearer the money by more than `tick` (Merton 1973, theorem 1).
 *
 * Feeds deliver stale quotes for strikes that have not traded since a split or a large move. Often, dozens of neighbouring stale quotes are
 * consistent with one another. So a quote that contradicts the quotes nearer the money is taken as stale. If a quote contradicts only one
 * of several quotes nearer the money, the contradicted quote is taken as stale.
 */
export function staleQuotes(chain: Chain, wing: ArrayLike<number>, tick: number): number[] {
  const stale: number[] = [];
  const fresh = new LowestAsks(chain.ask);
  for (let i = 0; i < wing.length; i++) {
    const row = wing[i]!;
    if (Number.isNaN(mid(chain, row))) continue;
    const ceiling = chain.bid[row]! - tick;
    if (ceiling > fresh.lowest) {
      if (fresh.size === 1 || ceiling > fresh.secondLowest) {
        stale.push(row);
        continue;
      }
      stale.push(fresh.removeLowest());
    }
    fresh.add(row);
  }
  return stale;
}

/**
 * The rows without a stale quote, sorted by ask. Until the first contradiction, only the lowest ask is needed. Most chains have no
 * contradiction. After the first contradiction, the rows form a binary heap, because each heap operation takes O(log n).
 */
class LowestAsks {
  private readonly rows: number[] = [];
  private isHeap = false;
  lowest = Number.POSITIVE_INFINITY;

  constructor(private readonly ask: Float64Array) {}

  get size(): number {
    return this.rows.length;
  }

  get secondLowest(): number {
    this.makeHeap();
    return Math.min(this.askAt(1), this.askAt(2));
  }

  add(row: number): void {
    const { rows } = this;
    this.lowest = Math.min(this.lowest, this.ask[row]!);
    let i = rows.push(row) - 1;
    if (!this.isHeap) return;
    for (let above = (i - 1) >> 1; i > 0 && this.askAt(i) < this.askAt(above); above = (i - 1) >> 1) {
      [rows[i], rows[above]] = [rows[above]!, rows[i]!];
      i = above;
    }
  }

  removeLowest(): number {
    this.makeHeap();
    const { rows } = this;
    const lowest = rows[0]!;
    const last = rows.pop()!;
    if (rows.length > 0) {
      rows[0] = last;
      this.sink(0);
    }
    this.lowest = this.askAt(0);
    return lowest;
  }

  private makeHeap(): void {
    if (this.isHeap) return;
    this.isHeap = true;
    for (let i = (this.rows.length >> 1) - 1; i >= 0; i--) this.sink(i);
  }

  private sink(from: number): void {
    const { rows } = this;
    for (let i = from; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      const below = this.askAt(right) < this.askAt(left) ? right : left;
      if (!(this.askAt(below) < this.askAt(i))) return;
      [rows[i], rows[below]] = [rows[below]!, rows[i]!];
      i = below;
    }
  }

  private askAt(i: number): number {
    return i < this.rows.length ? this.ask[this.rows[i]!]! : Number.POSITIVE_INFINITY;
  }
}
