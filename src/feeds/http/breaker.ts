/**
 * A circuit breaker. While a provider fails, the breaker limits the requests to the provider and the entries in the log. After FAILURES_MAX
 * failures in a row the breaker opens, and no request is sent for a minute. After the minute without requests, one request is sent as a
 * probe. If the probe succeeds, the breaker closes again. If the probe fails, the breaker opens for twice as long as before.
 */
export class Breaker {
  #failures = 0;
  #openUntil = Number.NEGATIVE_INFINITY;
  #reason = '';

  /** `elapsed` is a clock that never steps, ms. */
  constructor(private readonly elapsed: () => number) {}

  /**
   * Returns `closed` if requests may be sent, and `probe` if one request may be sent as a probe. If the breaker is open, returns how long it
   * stays open (ms), and the reason.
   */
  state(): 'closed' | 'probe' | { readonly openMs: number; readonly reason: string } {
    const openMs = this.#openUntil - this.elapsed();
    if (openMs > 0) return { openMs, reason: this.#reason };
    return this.#failures < FAILURES_MAX ? 'closed' : 'probe';
  }

  /** Records that a request succeeded. */
  succeeded(): void {
    this.#failures = 0;
  }

  /** Records that a request failed. After enough failures in a row, opens the breaker. */
  failed(reason: string): void {
    this.#failures++;
    const opened = this.#failures - FAILURES_MAX;
    if (opened >= 0) this.hold(Math.min(OPEN_MS_MAX, OPEN_MS * 2 ** opened), reason);
  }

  /**
   * Opens the breaker for `forMs` milliseconds, but at most for OPEN_MS_MAX, so that data does not become too old. If the breaker is
   * already open until a later time, it stays open until then.
   */
  hold(forMs: number, reason: string): void {
    this.#openUntil = Math.max(this.#openUntil, this.elapsed() + Math.min(OPEN_MS_MAX, forMs));
    this.#reason = reason;
  }
}

/**
 * The number of failed requests in a row after which the breaker opens. A request counts as failed after all its tries have failed. The
 * number is above one, so that one failing ticker does not open the breaker.
 */
const FAILURES_MAX = 4;
/** Time for which the breaker stays open after it opens for the first time, ms. */
const OPEN_MS = 60_000;
/** Maximum time that the breaker stays open, ms. So a provider that works again is noticed within a quarter of an hour. */
const OPEN_MS_MAX = 15 * 60_000;
