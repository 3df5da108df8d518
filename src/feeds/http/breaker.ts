/**
 * A circuit breaker for a provider that fails, so that neither the provider nor the log is flooded. After FAILURES_MAX failures in a row it
 * opens, and no request is sent for a minute. Then one request is sent as a probe. If the probe succeeds, the breaker closes. If it fails,
 * the breaker opens for twice as long.
 */
export class Breaker {
  #failures = 0;
  #openUntil = Number.NEGATIVE_INFINITY;
  #reason = '';
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether a request may be sent now, normally or as the probe. Otherwise returns until when not (ms since the epoch), and why. */
  state(): 'closed' | 'probe' | { readonly openUntil: number; readonly reason: string } {
    if (this.#now() < this.#openUntil) return { openUntil: this.#openUntil, reason: this.#reason };
    return this.#failures < FAILURES_MAX ? 'closed' : 'probe';
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(reason: string): void {
    this.#failures++;
    const opened = this.#failures - FAILURES_MAX;
    if (opened >= 0) this.hold(Math.min(OPEN_MS_MAX, OPEN_MS * 2 ** opened), reason);
  }

  /** Keeps the breaker open for at least `forMs`, but never longer than OPEN_MS_MAX, so that data does not become too old. */
  hold(forMs: number, reason: string): void {
    this.#openUntil = Math.max(this.#openUntil, this.#now() + Math.min(OPEN_MS_MAX, forMs));
    this.#reason = reason;
  }
}

/** Failed requests in a row, each after its own retries. More than one, so that a single failing ticker does not open the breaker. */
const FAILURES_MAX = 4;
const OPEN_MS = 60_000;
/** A provider that works again is noticed within a quarter of an hour. */
const OPEN_MS_MAX = 15 * 60_000;
