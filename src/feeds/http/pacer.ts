import type { Clock } from '../clock.ts';

/**
 * Spreads requests evenly at a rate per minute, without bursts. Providers limit the requests in a time window, and clients do not know when
 * a window begins. So a burst could exceed the limit of a window.
 */
export class Pacer {
  #next = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly ratePerMinute: number,
    private readonly clock: Clock,
  ) {}

  /** Waits until the next request may be sent, or until `signal` is aborted. */
  async waitTurn(signal?: AbortSignal): Promise<void> {
    const now = this.clock.elapsed();
    const startAt = Math.max(now, this.#next);
    this.#next = startAt + 60_000 / this.ratePerMinute;
    if (startAt > now) await this.clock.pause(startAt - now, signal);
  }
}
