import type { Clock } from '../clock.ts';

/**
 * Spreads requests evenly at a rate per minute, without bursts. Providers count requests in windows of time, and clients cannot see when a
 * window begins. So a burst could exceed the limit of a window.
 */
export class Pacer {
  #next = Number.NEGATIVE_INFINITY;
  readonly #intervalMs: number;
  readonly #clock: Clock;

  constructor(ratePerMinute: number, clock: Clock) {
    this.#intervalMs = 60_000 / ratePerMinute;
    this.#clock = clock;
  }

  /** Waits until the next request may be sent, or until `signal` is aborted. */
  async waitTurn(signal?: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const startAt = Math.max(now, this.#next);
    this.#next = startAt + this.#intervalMs;
    if (startAt > now) await this.#clock.pause(startAt - now, signal);
  }
}
