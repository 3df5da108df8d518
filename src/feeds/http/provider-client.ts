import { ClientError } from '../../errors.ts';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';
import { Breaker } from './breaker.ts';
import { type FetchError, fetchJson, type LargeResponse } from './fetch-json.ts';
import { Pacer } from './pacer.ts';
import { backoffMs } from './retry.ts';

/** Options of every feed over HTTP. */
export interface ProviderOptions {
  readonly baseUrl: string;
  /** In Zomma's spelling: `SPY`, `SPX`, `BRK.B`. */
  readonly tickers: readonly string[];
  /** Requests per minute. If omitted, a rate that suits the provider. */
  readonly ratePerMinute?: number | undefined;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

export interface ProviderClient {
  /**
   * Returns the JSON at a path under the base address, or at a complete address of the same origin. Throws a `ClientError` with the reason if
   * there is none. Throws the reason of `signal` if it is aborted.
   */
  get(address: string, signal?: AbortSignal): Promise<unknown>;
  /** Like `get`, but returns an answer that may take long to parse unparsed, as bytes. */
  getLarge(address: string, signal?: AbortSignal): Promise<{ readonly json: unknown } | LargeResponse>;
}

/** Creates a client for one provider. Requests are paced and retried, and none is sent while the circuit breaker is open. */
export function createProviderClient(
  base: string,
  headers: Readonly<Record<string, string>>,
  ratePerMinute: number,
  { timeoutMs = TIMEOUT_MS, clock = SYSTEM_CLOCK }: Pick<ProviderOptions, 'timeoutMs' | 'clock'>,
): ProviderClient {
  const { origin } = new URL(base);
  const pacer = new Pacer(ratePerMinute, clock);
  const breaker = new Breaker(clock.now);
  const requestHeaders = { accept: 'application/json', ...headers };

  function urlOf(address: string): URL {
    const url = URL.parse(address.startsWith('/') ? base + address : address);
    // The request would send the credential to that origin.
    if (url === null || url.origin !== origin) throw unavailable('the next address is invalid or of another origin');
    return url;
  }

  async function getLarge(address: string, signal?: AbortSignal): Promise<{ readonly json: unknown } | LargeResponse> {
    const url = urlOf(address);
    const state = breaker.state();
    if (typeof state === 'object') {
      throw unavailable(`no request until ${new Date(state.openUntil).toISOString()}: ${state.reason}`);
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

  /** Reports an error to the breaker, and returns the `ClientError` to throw. */
  function recordError({ kind, reason, afterMs }: FetchError, tries: number): ClientError {
    const reasonWithTries = tries === 1 ? reason : `${reason}, ${tries} times`;
    if (kind === 'item') breaker.succeeded();
    else breaker.failed(reasonWithTries);
    if (afterMs !== undefined && afterMs > 0) breaker.hold(afterMs, reasonWithTries);
    return unavailable(reasonWithTries);
  }

  async function get(address: string, signal?: AbortSignal): Promise<unknown> {
    const answer = await getLarge(address, signal);
    if ('json' in answer) return answer.json;
    throw unavailable(answer.reason);
  }

  return { get, getLarge };
}

/** The largest answer takes some seconds over a slow line. */
const TIMEOUT_MS = 30_000;
const TRIES_MAX = 3;
/** If the provider asks to wait longer than this, the request fails, because other tickers wait behind it. */
const WAIT_MS_MAX = 60_000;

function unavailable(reason: string): ClientError {
  return new ClientError('unavailable', reason);
}
