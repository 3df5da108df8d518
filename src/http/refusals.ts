import { createRateLimiter } from '../access/rate-limit.ts';
import { ClientError } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import { networkOf } from './client-address.ts';

/** Refused keys and requests with a UUID that one network may make in a minute. A program with an old key makes some hundreds. */
const NETWORK_POLICY = { burst: 300, windowS: 60 };
/** The limit per minute over all networks together, against guesses from many addresses. */
const GLOBAL_POLICY = { burst: 3_000, windowS: 60 };
/** Lines that one address writes to the log in a minute. Further refusals are counted in one line at its end. */
const LINES_MAX = 20;
const MINUTE_MS = 60_000;
/** Addresses whose lines are counted. Above this number, further addresses share one count. */
const ADDRESSES_MAX = 10_000;

/** Limits and reports guesses of keys and of UUIDs. A request with a valid key is never limited. */
export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals(observe: Observe, nowMs: () => number) {
  const byNetwork = createRateLimiter(NETWORK_POLICY, nowMs);
  const all = createRateLimiter(GLOBAL_POLICY, nowMs);
  /** Refusals by address in the present minute. */
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
    /** Reports a refused key or UUID. */
    report,
    /**
     * Counts a refused key, or a request that carries a UUID in place of a key. If the network of the address, or all networks together, have
     * made too many, reports this and throws `ClientError` (429). A UUID is counted before it is looked up: otherwise the answer would tell
     * who is a member.
     */
    limit(address: string, route: string) {
      const own = byNetwork.take(networkOf(address));
      const { allowed, retryAfterS } = own.allowed ? all.take('all') : own;
      if (allowed) return;
      report(address, route, 'rate_limited');
      throw new ClientError('rate_limited', 'Too many keys or UUIDs were refused', {
        hint: 'Wait as many seconds as Retry-After says. Requests with a valid key are not affected.',
        retryAfterS,
      });
    },
    /** Reports a refusal if an error is one. Returns the error. */
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
