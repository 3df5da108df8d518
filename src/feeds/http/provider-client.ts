import { Failure } from '../../errors.ts';
import { type Clock, SYSTEM_CLOCK } from '../clock.ts';
import { ask, PARSED_BYTES_MAX, type Trouble } from './ask.ts';
import { Breaker } from './breaker.ts';
import { Pacer } from './pacer.ts';
import { backoffMs } from './retry.ts';

/** What every feed over HTTP can be told. */
export interface ProviderOptions {
  readonly baseUrl: string;
  /** As Zomma writes them: `SPY`, `SPX`, `BRK.B`. */
  readonly tickers: readonly string[];
  /** Requests; where none is given, what suits the provider. */
  readonly ratePerMinute?: number | undefined;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

export interface ProviderClient {
  /**
   * The JSON at a path under the base address, or at a whole address of the same origin. Throws a `Failure` that says why there is none,
   * or the reason of `signal`.
   */
  get(address: string, signal?: AbortSignal): Promise<unknown>;
  /** The same, but an answer of more than PARSED_BYTES_MAX comes as it is, unparsed. */
  getLarge(address: string, signal?: AbortSignal): Promise<{ readonly json: unknown } | { readonly body: Uint8Array }>;
}

/** Requests to one provider: paced, tried again, and not made at all while it is out of order. */
export function createProviderClient(
  base: string,
  headers: Readonly<Record<string, string>>,
  ratePerMinute: number,
  { timeoutMs = TIMEOUT_MS, clock = SYSTEM_CLOCK }: Pick<ProviderOptions, 'timeoutMs' | 'clock'>,
): ProviderClient {
  const { origin } = new URL(base);
  const pacer = new Pacer(ratePerMinute, clock);
  const breaker = new Breaker(clock.now);
  const sent = { accept: 'application/json', ...headers };

  function urlOf(address: string): URL {
    const url = URL.parse(address.startsWith('/') ? base + address : address);
    // Whoever is asked gets the credential.
    if (url === null || url.origin !== origin) throw unavailable('it names an address of another origin to go on at');
    return url;
  }

  async function getLarge(
    address: string,
    signal?: AbortSignal,
  ): Promise<{ readonly json: unknown } | { readonly body: Uint8Array }> {
    const url = urlOf(address);
    const state = breaker.state();
    if (typeof state === 'object') {
      throw unavailable(`not asked until ${new Date(state.openUntil).toISOString()}: ${state.reason}`);
    }
    const triesMax = state === 'probe' ? 1 : TRIES_MAX;
    for (let tries = 1; ; tries++) {
      await pacer.turn(signal);
      const answer = await ask(url, { headers: sent, timeoutMs, nowMs: clock.now, signal });
      if (answer.kind === 'json' || answer.kind === 'large') {
        breaker.succeeded();
        return answer;
      }
      const afterMs = answer.afterMs ?? 0;
      if (answer.kind !== 'passing' || tries === triesMax || afterMs > WAIT_MS_MAX) throw given(answer, tries);
      await clock.pause(Math.max(afterMs, backoffMs(tries - 1, clock.random)), signal);
    }
  }

  /** The failure that is told, once the breaker has heard of it. */
  function given({ kind, reason, afterMs }: Trouble, tries: number): Failure {
    const told = tries === 1 ? reason : `${reason}, ${tries} times`;
    if (kind === 'item') breaker.succeeded();
    else breaker.failed(told);
    if (afterMs !== undefined && afterMs > 0) breaker.hold(afterMs, told);
    return unavailable(told);
  }

  async function get(address: string, signal?: AbortSignal): Promise<unknown> {
    const answer = await getLarge(address, signal);
    if ('json' in answer) return answer.json;
    throw unavailable(`more than ${PARSED_BYTES_MAX} bytes`);
  }

  return { get, getLarge };
}

/** The largest answer over a slow line takes some seconds. */
const TIMEOUT_MS = 30_000;
const TRIES_MAX = 3;
/** Asked to wait longer than this, the ticker is given up for now: others wait behind it. */
const WAIT_MS_MAX = 60_000;

function unavailable(reason: string): Failure {
  return new Failure('unavailable', reason);
}
