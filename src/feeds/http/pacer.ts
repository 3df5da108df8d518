import type { Clock } from '../clock.ts';

/** Spreads requests evenly at a rate per minute, without bursts. Providers count requests in windows that clients cannot see. */
export class Pacer {
  #next = Number.NEGATIVE_INFINITY;
  readonly #intervalMs: number;
  readonly #clock: Clock;

  constructor(ratePerMinute: number, clock: Clock) {
    this.#intervalMs = 60_000 / ratePerMinute;
    this.#clock = clock;
  }

  /** Waits until the next request may be sent, or until `signal` is aborted. */
  async turn(signal?: AbortSignal): Promise<void> {
    const now = this.#clock.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#intervalMs;
    if (at > now) await this.#clock.pause(at - now, signal);
  }
}
