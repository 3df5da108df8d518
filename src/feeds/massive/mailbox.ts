import type { Delivery } from '../../market/feed.ts';
import type { Print } from '../../market/prints.ts';

/**
 * A bounded queue of deliveries between a source that does not wait and a reader that may be slow. Deliveries that arrive while the queue
 * is full are lost. The reader gets this time as one in which the connection was down.
 */
export class Mailbox {
  #queue: Delivery[] = [];
  /** The last delivery in the queue, while more prints can be added to it. */
  #batch: { kind: 'prints'; prints: Print[]; refused: Record<string, number> } | undefined;
  #prints = 0;
  #lostSince: number | undefined;
  #isUp = false;
  #wake: () => void = () => {};

  constructor(private readonly nowMs: () => number) {}

  connection(up: boolean, at: number, reason?: string): void {
    this.#isUp = up;
    this.#batch = undefined;
    this.#put({ kind: 'connection', up, at, ...(reason !== undefined && { reason }) });
  }

  rejection(origin: string, reason: string): void {
    this.#batch = undefined;
    this.#put({ kind: 'rejection', origin, reason });
  }

  prints(prints: readonly Print[], refused: Readonly<Record<string, number>>): void {
    if (this.#prints + prints.length > PRINTS_MAX) this.#lostSince ??= this.nowMs();
    if (this.#lostSince !== undefined) return;
    if (this.#batch === undefined || this.#batch.prints.length >= BATCH_PRINTS) {
      this.#batch = { kind: 'prints', prints: [], refused: {} };
      this.#put(this.#batch);
    }
    for (const print of prints) this.#batch.prints.push(print);
    for (const [why, count] of Object.entries(refused))
      this.#batch.refused[why] = (this.#batch.refused[why] ?? 0) + count;
    this.#prints += prints.length;
  }

  #put(delivery: Delivery): void {
    if (this.#queue.length >= DELIVERIES_MAX) this.#lostSince ??= this.nowMs();
    if (this.#lostSince === undefined) this.#queue.push(delivery);
    this.#wake();
  }

  /** Yields deliveries as they arrive, until `signal` is aborted. */
  async *take(signal: AbortSignal): AsyncGenerator<Delivery> {
    const wake = () => this.#wake();
    signal.addEventListener('abort', wake);
    try {
      while (!signal.aborted) {
        if (this.#queue.length > 0) yield* this.#drain();
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      signal.removeEventListener('abort', wake);
    }
  }

  #drain(): Delivery[] {
    const queue = this.#queue;
    if (this.#lostSince !== undefined) {
      const reason = 'trades arrived faster than they could be stored, so some are lost';
      queue.push({ kind: 'connection', up: false, at: this.#lostSince, reason });
      if (this.#isUp) queue.push({ kind: 'connection', up: true, at: this.nowMs() });
    }
    this.#queue = [];
    this.#batch = undefined;
    this.#prints = 0;
    this.#lostSince = undefined;
    return queue;
  }
}

/** Some 30 MB: the number of trades of the tracked tickers in the two busiest minutes of a day. */
export const PRINTS_MAX = 100_000;
/** Written in one transaction, for which requests wait. */
const BATCH_PRINTS = 5_000;
/** Connections may open and close for a long time while nobody reads. */
const DELIVERIES_MAX = 1_000;
