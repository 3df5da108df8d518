/**
 * Stops asking a provider that is out of order, so that neither it nor the log is flooded: after some failures in a row it
 * opens, and nothing is asked until a while has passed. Then one request goes as a probe, which closes it or opens it for twice as long.
 */
export class Breaker {
  #failures = 0;
  #openUntil = Number.NEGATIVE_INFINITY;
  #reason = '';
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether a request may go now, as one of many or as the probe; else until when not (ms), and why. */
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

  /** Keeps it open for so long at the least, but never for longer than is good for the data. */
  hold(forMs: number, reason: string): void {
    this.#openUntil = Math.max(this.#openUntil, this.#now() + Math.min(OPEN_MS_MAX, forMs));
    this.#reason = reason;
  }
}

/** Requests that fail one after the other, each after its own retries: tickers that the provider has trouble with stand alone. */
const FAILURES_MAX = 4;
const OPEN_MS = 60_000;
/** A provider that is back should be noticed within a quarter of an hour. */
const OPEN_MS_MAX = 15 * 60_000;
