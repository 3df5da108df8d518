import type { Delivery } from '../../market/feed.ts';
import type { Print } from '../../market/prints.ts';
import { countRejected } from '../rejections.ts';

/**
 * A bounded queue between a source that does not wait and a slow reader. Deliveries to a full queue are lost, and the reader then gets
 * deliveries that report the connection as down meanwhile.
 */
export class DeliveryQueue {
  #queue: Delivery[] = [];
  /** The last delivery in the queue, if it can take more prints. */
  #batch: { kind: 'prints'; prints: Print[]; refused: Record<string, number> } | undefined;
  #prints = 0;
  /** Time of the first lost delivery since the last read, ms since the epoch. */
  #lostSince: number | undefined;
  #isUp = false;
  #wake: () => void = () => {};

  constructor(private readonly nowMs: () => number) {}

  /** Adds a delivery that reports a connection (`up` is true) or a disconnection at the time `at`. */
  connection(up: boolean, at: number, reason?: string): void {
    this.#isUp = up;
    this.#batch = undefined;
    this.#put({ kind: 'connection', up, at, ...(reason !== undefined && { reason }) });
  }

  /** Adds a rejection. `origin` names the source of the rejected data. */
  rejection(origin: string, reason: string): void {
    this.#batch = undefined;
    this.#put({ kind: 'rejection', origin, reason });
  }

  /** Adds prints, and the counts of rejected trades by reason. */
  prints(prints: readonly Print[], refused: Readonly<Record<string, number>>): void {
    if (this.#prints + prints.length > PRINTS_MAX) this.#lostSince ??= this.nowMs();
    if (this.#lostSince !== undefined) return;
    if (this.#batch === undefined || this.#batch.prints.length >= BATCH_PRINTS) {
      this.#batch = { kind: 'prints', prints: [], refused: {} };
      this.#put(this.#batch);
    }
    for (const print of prints) this.#batch.prints.push(print);
    for (const [why, trades] of Object.entries(refused)) countRejected(this.#batch.refused, why, trades);
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

  /** Empties the queue and returns its deliveries. If deliveries were lost, adds deliveries for the start and the end of the loss. */
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

/** Maximum number of prints in the queue, some 30 MB. The tracked tickers produce `PRINTS_MAX` trades in two very busy minutes. */
export const PRINTS_MAX = 100_000;
/** A delivery with this number of prints gets no further prints. */
const BATCH_PRINTS = 5_000;
/** Maximum number of deliveries in the queue. The maximum matters if connections open and close repeatedly while no reader is active. */
const DELIVERIES_MAX = 1_000;
