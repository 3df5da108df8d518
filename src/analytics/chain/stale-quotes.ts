import type { Chain } from '../../market/chain.ts';
import { mid } from './quotes.ts';

/**
 * Finds the rows whose quote contradicts the other quotes of its wing. `wing` holds the rows of one series and side, ordered away from the
 * money. Prices can only fall in that order, so an option with a bid above the ask of one nearer the money contradicts it (Merton 1973,
 * theorem 1). Feeds keep stale quotes of strikes that have been dead since a split or a large move, often dozens in a row that agree with
 * each other. So the nearer quotes decide. If a quote contradicts only one of several nearer quotes, that one is taken to be stale
 * instead.
 */
export function staleQuotes(chain: Chain, wing: ArrayLike<number>, tick: number): number[] {
  const stale: number[] = [];
  const fresh = new LowestAsks(chain.ask);
  for (let at = 0; at < wing.length; at++) {
    const row = wing[at]!;
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
 * Rows by their ask. A quote is compared with the nearer ones in O(log n), in any order of quotes. As long as no quote contradicts another,
 * as in most chains, the lowest ask is enough. From the first contradiction on, the rows are a binary heap.
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
    let at = rows.push(row) - 1;
    if (!this.isHeap) return;
    for (let above = (at - 1) >> 1; at > 0 && this.askAt(at) < this.askAt(above); above = (at - 1) >> 1) {
      [rows[at], rows[above]] = [rows[above]!, rows[at]!];
      at = above;
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
    for (let at = (this.rows.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  private sink(from: number): void {
    const { rows } = this;
    for (let at = from; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const below = this.askAt(right) < this.askAt(left) ? right : left;
      if (!(this.askAt(below) < this.askAt(at))) return;
      [rows[at], rows[below]] = [rows[below]!, rows[at]!];
      at = below;
    }
  }

  private askAt(at: number): number {
    return at < this.rows.length ? this.ask[this.rows[at]!]! : Number.POSITIVE_INFINITY;
  }
}
