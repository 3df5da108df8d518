import { createRateLimiter } from '../access/rate-limit.ts';
import { ClientError } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import { networkOf } from './client-address.ts';

/** Maximum number of refused keys and UUID requests per network and minute. A program with an outdated key sends a few hundred requests. */
const NETWORK_POLICY = { burst: 300, windowS: 60 };
/** Maximum number of refusals from all networks per minute, against clients that guess keys from many addresses. */
const GLOBAL_POLICY = { burst: 3_000, windowS: 60 };
/** Maximum number of log lines per minute about one address. At the end of the minute, one line counts all further refusals. */
const LINES_MAX = 20;
const MINUTE_MS = 60_000;
/** Maximum number of addresses that have a separate count. All other addresses share one count. */
const ADDRESSES_MAX = 10_000;

/** Limits and reports attempts to guess keys and UUIDs. Requests with a valid key are never limited. */
export type Refusals = ReturnType<typeof createRefusals>;

export function createRefusals(observe: Observe, nowMs: () => number) {
  const byNetwork = createRateLimiter(NETWORK_POLICY, nowMs);
  const all = createRateLimiter(GLOBAL_POLICY, nowMs);
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
    /** Reports a refused key or UUID. */
    report,
    /**
     * Counts a refused key, or a request with a UUID instead of a key. If the limit of the address's network or the limit of all networks
     * is exceeded, reports this fact and throws `ClientError` (429). A UUID must be counted before the server looks it up, because
     * otherwise the answer would reveal who is a member.
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
