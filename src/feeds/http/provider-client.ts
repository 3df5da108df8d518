import { ClientError } from '../../core/errors.ts';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';
import { type AnswerForm, type FetchError, fetchJson, type LargeResponse } from './fetch-json.ts';
import { backoffMs } from './retry.ts';

/** Options that all HTTP feeds share. */
export interface ProviderOptions {
  readonly baseUrl: string;
  /** The tickers as Zomma writes them: `SPY`, `SPX`, `BRK.B`. */
  readonly tickers: readonly string[];
  /** Maximum number of requests per minute. If omitted, the feed uses a rate that suits the provider. */
  readonly ratePerMinute?: number | undefined;
  /** Maximum duration of one request, ms. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * Creates a client for one provider. Requests are paced and retried. While the circuit breaker is open, no request is sent. Without `form`,
 * the provider answers in JSON.
 */
export function createProviderClient(
  base: string,
  headers: Readonly<Record<string, string>>,
  ratePerMinute: number,
  { timeoutMs = TIMEOUT_MS, clock = SYSTEM_CLOCK }: Pick<ProviderOptions, 'timeoutMs' | 'clock'>,
  form?: AnswerForm,
) {
  const { origin } = new URL(base);
  const pacer = new Pacer(ratePerMinute, clock);
  const breaker = new Breaker(clock.elapsed);
  const requestHeaders = { accept: 'application/json', ...headers };

  function urlOf(address: string): URL {
    const url = URL.parse(address.startsWith('/') ? base + address : address);
    // A request to another origin would send the credential to that origin.
    if (url === null || url.origin !== origin)
      throw unavailable('the address of the next page is invalid or has another origin');
    return url;
  }

  /** Works like `get`, but returns an answer as bytes if parsing it may take long. */
  async function getLarge(address: string, signal?: AbortSignal): Promise<{ readonly json: unknown } | LargeResponse> {
    const url = urlOf(address);
    const state = breaker.state();
    if (typeof state === 'object') {
      const until = new Date(clock.now() + state.openMs).toISOString();
      throw unavailable(`${state.reason}, so no request is sent until ${until}`);
    }
    const triesMax = state === 'probe' ? 1 : TRIES_MAX;
    for (let tries = 1; ; tries++) {
      await pacer.waitTurn(signal);
      const response = await fetchJson(url, { headers: requestHeaders, timeoutMs, nowMs: clock.now, signal, form });
      if (response.kind === 'json' || response.kind === 'large') {
        breaker.succeeded();
        return response;
      }
      const afterMs = response.afterMs ?? 0;
      if (response.kind !== 'temporary' || tries === triesMax || afterMs > WAIT_MS_MAX)
        throw recordError(response, tries);
      await clock.pause(Math.max(afterMs, backoffMs(tries - 1, clock.random)), signal);
    }
  }

  /** Reports the error of the last try to the breaker. Returns the `ClientError` to throw. */
  function recordError({ kind, reason, afterMs }: FetchError, tries: number): ClientError {
    if (kind === 'item') breaker.succeeded();
    else breaker.failed(reason);
    if (afterMs !== undefined && afterMs > 0) breaker.hold(afterMs, reason);
    return unavailable(tries === 1 ? reason : `${reason} in the last of ${tries} tries`);
  }

  /**
   * Requests JSON at a path below the base address, or at a complete address of the same origin. Throws a `ClientError` with the reason if
   * the answer is not JSON, or may take long to parse. Throws `signal.reason` if `signal` is aborted.
   */
  async function get(address: string, signal?: AbortSignal): Promise<unknown> {
    const answer = await getLarge(address, signal);
    if ('json' in answer) return answer.json;
    throw unavailable(answer.reason);
  }

  return { get, getLarge };
}

/** Maximum duration of one try of a request. The largest answer takes some seconds over a slow line. */
const TIMEOUT_MS = 30_000;
const TRIES_MAX = 3;
/** The longest wait that a provider may ask for, ms. Beyond it, a request fails at once, because other tickers must not wait. */
const WAIT_MS_MAX = 60_000;

function unavailable(reason: string): ClientError {
  return new ClientError('unavailable', reason);
}

/**
 * A circuit breaker, which limits the requests to a failing provider and the entries in the log. After FAILURES_MAX failures in a row it
 * opens for a minute. Then one request is sent as a probe: the breaker closes if it succeeds, and else opens for twice as long.
 */
class Breaker {
  #failures = 0;
  #openUntil = Number.NEGATIVE_INFINITY;
  #reason = '';

  /** `elapsed` is a clock that never steps, ms. */
  constructor(private readonly elapsed: () => number) {}

  /** Returns `closed`, `probe` (one request may be sent), or how long the breaker stays open, ms, with the reason. */
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

  /** Opens the breaker for `forMs` milliseconds, at most OPEN_MS_MAX, or keeps it open if it is already open for longer. */
  hold(forMs: number, reason: string): void {
    this.#openUntil = Math.max(this.#openUntil, this.elapsed() + Math.min(OPEN_MS_MAX, forMs));
    this.#reason = reason;
  }
}

/** Failed requests in a row, after all their tries, that open the breaker. One failing ticker does not open it. */
const FAILURES_MAX = 4;
/** Time for which the breaker stays open after it opens for the first time, ms. */
const OPEN_MS = 60_000;
/** Maximum time that the breaker stays open, ms. So a provider that works again is noticed within a quarter of an hour. */
const OPEN_MS_MAX = 15 * 60_000;

/** Spreads requests evenly at a rate per minute. A burst could exceed a provider's time window, whose begin is unknown. */
class Pacer {
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
