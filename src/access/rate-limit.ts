import { ClientError } from '../core/errors.ts';
import type { RateLimitPolicy } from '../settings/setting-values.ts';

/** The decision whether a request is allowed, and the state of the account's token bucket after the decision. */
export type RateDecision = ReturnType<RateLimiter['take']>;

/** Limits the requests of each account. The state of the limiter is only in the memory of this process. */
export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** Maximum number of buckets in memory. A bucket takes about 100 bytes, so all buckets stay below 10 MB. */
const ACCOUNTS_MAX = 50_000;

/**
 * Creates a rate limiter with one token bucket per account. `take` runs in constant time. Full buckets are dropped. If there are more than
 * `accountsMax` buckets, the least recently used bucket is dropped. Dropping a bucket never causes a rejection, because an account without
 * a bucket starts with a full bucket. `nowMs` is a clock in ms. If the clock goes back, the limiter assumes that no time has passed.
 */
export function createRateLimiter(policy: RateLimitPolicy, nowMs: () => number, accountsMax: number = ACCOUNTS_MAX) {
  const { burst, windowS } = policy;
  const refillPerMs = burst / (windowS * 1000);
  // The buckets are in the order of their last use. A Map iterates in insertion order, and every `take` inserts its bucket again.
  const buckets = new Map<string, Bucket>();

  const tokensAt = (bucket: Bucket, atMs: number): number =>
    Math.min(burst, bucket.tokens + Math.max(0, atMs - bucket.atMs) * refillPerMs);

  /** Drops at most two buckets. A call of `take` inserts at most one bucket and may drop two, so the number of buckets can fall. */
  const dropFull = (atMs: number): void => {
    if (buckets.size === 1) return;
    let checks = 2;
    for (const [accountId, bucket] of buckets) {
      if (checks-- === 0) return;
      if (buckets.size <= accountsMax && tokensAt(bucket, atMs) < burst) return;
      buckets.delete(accountId);
    }
  };

  return {
    policy,
    /** Takes `cost` tokens, or none if the bucket has too few. With a cost of 0, returns the state of the bucket without a change. */
    take(accountId: string, cost = 1) {
      const atMs = nowMs();
      const known = buckets.get(accountId);
      const available = known === undefined ? burst : tokensAt(known, atMs);
      const allowed = available >= cost - ROUNDING;
      const tokens = allowed ? Math.max(0, available - cost) : available;
      buckets.delete(accountId);
      buckets.set(accountId, { tokens, atMs: known === undefined ? atMs : Math.max(known.atMs, atMs) });
      dropFull(atMs);
      return {
        allowed,
        /** Whole tokens that remain, and whole seconds until the bucket is full. */
        remaining: Math.floor(tokens + ROUNDING),
        resetS: wholeSeconds((burst - tokens) / refillPerMs),
        /** Whole seconds until a rejected request would be allowed, at least 1; 0 for an allowed request. */
        retryAfterS: allowed ? 0 : Math.max(1, wholeSeconds((cost - tokens) / refillPerMs)),
      };
    },
    get size() {
      return buckets.size;
    },
  };
}

/**
 * Charges an account for the work of a request. `paid` is what the request has cost before, the token that each request takes included.
 * Throws `ClientError` (429), with `message` if it is given, if too few tokens are left.
 */
export function charge(
  limiter: RateLimiter,
  accountId: string,
  tokens: number,
  { message, paid = 1 }: { readonly message?: string; readonly paid?: number } = {},
): RateDecision {
  // Because of the upper bound, a full bucket is enough for every request, even under a low limit.
  const decision = limiter.take(accountId, Math.max(0, Math.min(tokens, limiter.policy.burst - paid)));
  if (decision.allowed) return decision;
  throw new ClientError(
    'rate_limited',
    message ?? `This request costs ${tokens} more tokens, and ${decision.remaining} are left`,
    { hint: `${waitFor(decision.retryAfterS)}, or ask for less at a time.`, retryAfterS: decision.retryAfterS },
  );
}

/** Returns the start of a hint. The hint states the seconds, because a model sees no header fields. */
export function waitFor(seconds: number): string {
  return `Wait ${seconds} ${seconds === 1 ? 'second' : 'seconds'} and ask again`;
}

/**
 * Returns the header fields of draft-ietf-httpapi-ratelimit-headers (revisions 08 to 11). `RateLimit-Policy` contains the quota `q`, and
 * the length `w` of the quota's window in seconds. `RateLimit` contains the remaining tokens `r`, the seconds `t` until the quota is full,
 * and the `cost` if it is above one token. If the request is rejected, the fields include `Retry-After`.
 */
export function rateLimitHeaders(policy: RateLimitPolicy, decision: RateDecision, cost = 1): Record<string, string> {
  const headers: Record<string, string> = {
    'RateLimit-Policy': `"account";q=${policy.burst};w=${policy.windowS}`,
    RateLimit: `"account";r=${decision.remaining};t=${decision.resetS}${cost > 1 ? `;cost=${cost}` : ''}`,
  };
  if (!decision.allowed) headers['Retry-After'] = String(decision.retryAfterS);
  return headers;
}

interface Bucket {
  readonly tokens: number;
  /** The time at which the bucket had `tokens` tokens, ms. */
  readonly atMs: number;
}

/** Tolerance for rounding errors, tokens. The sum of many small refills can be slightly less than one token. */
const ROUNDING = 1e-6;

function wholeSeconds(ms: number): number {
  // `Math.max` turns -0 into 0.
  return Math.max(0, Math.ceil(ms / 1000 - ROUNDING));
}
