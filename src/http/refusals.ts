import { createRateLimiter, type RateDecision, waitFor } from '../access/rate-limit.ts';
import { ClientError } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import { networksOfClient } from './client-address.ts';

/** Refused keys and UUID requests per minute and network (see `networksOfClient`). A program with an old key sends some hundred. */
const NETWORK_POLICIES = [300, 600, 1_200].map((burst) => ({ burst, windowS: 60 }));
/** Maximum number per minute from all networks together. This limits clients that guess keys from many addresses. */
const GLOBAL_POLICY = { burst: 3_000, windowS: 60 };
/** Maximum number of UUID requests from one address of the operator terminal per minute. The terminal asks for all of its members. */
const TERMINAL_POLICY = { burst: 3_000, windowS: 60 };
/** Maximum number of log lines per minute about one address. At the end of the minute, one line counts the other refusals. */
const LINES_MAX = 20;
const MINUTE_MS = 60_000;
/** Maximum number of addresses that have a separate count. All other addresses share one count. */
const ADDRESSES_MAX = 10_000;

/** Limits and reports attempts to guess keys and UUIDs. Requests with a valid key are never limited. */
export type Refusals = ReturnType<typeof createRefusals>;

/**
 * The kinds of counted requests.
 *
 * - `key`: a refused key.
 * - `uuid`: a request with a UUID, which any client may send.
 * - `foreign`: a request of a client that may not send UUIDs. It counts for its network only, so it takes nothing from other clients.
 * - `terminal`: a request of the operator terminal, which the settings name. It has limits of its own, so guesses of others never limit it.
 */
export type CountedRequest = 'key' | 'uuid' | 'foreign' | 'terminal';

export function createRefusals(observe: Observe, nowMs: () => number) {
  const byNetwork = NETWORK_POLICIES.map((policy) => createRateLimiter(policy, nowMs));
  const byTerminal = createRateLimiter(TERMINAL_POLICY, nowMs);
  const ofAll = { key: createRateLimiter(GLOBAL_POLICY, nowMs), uuid: createRateLimiter(GLOBAL_POLICY, nowMs) };
  const take = (address: string, kind: CountedRequest): RateDecision => {
    if (kind === 'terminal') return byTerminal.take(address);
    // A refused request takes nothing from the larger networks, which other clients may share.
    let own: RateDecision | undefined;
    for (const [size, network] of networksOfClient(address).entries()) {
      own = byNetwork[size]!.take(network);
      if (!own.allowed) return own;
    }
    return kind === 'foreign' ? own! : ofAll[kind].take('all');
  };
  /** The number of refusals in the current minute for each address. */
  let counts = new Map<string, number>();
  const flush = (): void => {
    for (const [address, count] of counts) {
      if (count > LINES_MAX) observe({ kind: 'keys_refused', client: address, count: count - LINES_MAX });
    }
    counts = new Map();
  };
  const timer = setInterval(flush, MINUTE_MS);
  timer.unref();

  const report = (address: string, route: string, code: string): void => {
    const counted = counts.has(address) || counts.size < ADDRESSES_MAX ? address : 'others';
    const count = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, count);
    if (count <= LINES_MAX) observe({ kind: 'key_refused', client: address, route, code });
  };

  return {
    report,
    /**
     * Counts a refused key, or a request with a UUID. Beyond a limit of a network or of all networks, reports this and throws `ClientError`
     * (429). A UUID must be counted before it is looked up, because the answer would otherwise reveal who is a member.
     */
    limit(address: string, route: string, kind: CountedRequest) {
      const { allowed, retryAfterS } = take(address, kind);
      if (allowed) return;
      report(address, route, 'rate_limited');
      throw new ClientError('rate_limited', 'Too many keys or UUIDs were refused', {
        hint: `${waitFor(retryAfterS)}. Requests with a valid key are not affected.`,
        retryAfterS,
      });
    },
    /** Returns the error. If the error is a refusal, also reports it. */
    reported(address: string, route: string, error: unknown) {
      if (error instanceof ClientError) report(address, route, error.code);
      return error;
    },
    stop() {
      clearInterval(timer);
      flush();
    },
  };
}
