import { ClientError } from '../../core/errors.ts';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';
import { Breaker } from './breaker.ts';
import { type FetchError, fetchJson, type LargeResponse } from './fetch-json.ts';
import { Pacer } from './pacer.ts';
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

/** Sends requests to one provider. */
export interface ProviderClient {
  /**
   * Requests JSON at a path below the base address, or at a complete address with the same scheme, host and port. Throws a `ClientError`
   * with the reason if the answer is not JSON, or if it may take long to parse. Throws `signal.reason` if `signal` is aborted.
   */
  get(address: string, signal?: AbortSignal): Promise<unknown>;
  /** Works like `get`, but returns an answer as bytes if parsing it may take long. */
  getLarge(address: string, signal?: AbortSignal): Promise<{ readonly json: unknown } | LargeResponse>;
}

/** Creates a client for one provider. Requests are paced and retried. While the circuit breaker is open, no request is sent. */
export function createProviderClient(
  base: string,
  headers: Readonly<Record<string, string>>,
  ratePerMinute: number,
  { timeoutMs = TIMEOUT_MS, clock = SYSTEM_CLOCK }: Pick<ProviderOptions, 'timeoutMs' | 'clock'>,
): ProviderClient {
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
      const response = await fetchJson(url, { headers: requestHeaders, timeoutMs, nowMs: clock.now, signal });
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
/**
 * The longest wait that a provider may ask for, ms. A request that must wait longer fails at once, because the other tickers must not wait.
 */
const WAIT_MS_MAX = 60_000;

function unavailable(reason: string): ClientError {
  return new ClientError('unavailable', reason);
}
