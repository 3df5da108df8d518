import { OperatorError } from '../errors.ts';

/** So many requests at once, and the whole of them again over the window. */
export interface RateLimitPolicy {
  /** Requests an idle account may make at once. */
  readonly burst: number;
  /** Seconds in which an empty allowance fills again, evenly. */
  readonly windowS: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** Requests the account could still make at once. */
  readonly remaining: number;
  /** Whole seconds until the allowance is full again. */
  readonly resetS: number;
  /** Whole seconds until a refused request would pass, at least 1; 0 where it was allowed. */
  readonly retryAfterS: number;
}

/** Counts requests by account, in this process's memory. */
export interface RateLimiter {
  readonly policy: RateLimitPolicy;
  take(accountId: string): RateDecision;
  /** Accounts held in memory now. */
  readonly size: number;
}

/** A bucket is about 100 bytes: the whole table stays below 10 MB whatever comes. */
const ACCOUNTS_MAX = 50_000;

/**
 * One token bucket an account, each take in constant time. A bucket that has filled is the same as none, so it is dropped; at
 * `accountsMax` the account longest silent is forgotten, which can only favour it. `now` is a clock in ms; steps back are
 * taken as no time passed.
 */
export function createRateLimiter(
  policy: RateLimitPolicy,
  now: () => number,
  accountsMax: number = ACCOUNTS_MAX,
): RateLimiter {
  const { burst, windowS } = policy;
  const refillPerMs = burst / (windowS * 1000);
  // In order of last use: a Map iterates by insertion, and every take inserts anew.
  const buckets = new Map<string, Bucket>();

  const tokensAt = (bucket: Bucket, atMs: number): number =>
    Math.min(burst, bucket.tokens + Math.max(0, atMs - bucket.atMs) * refillPerMs);

  /** Two out for each one in: the table shrinks while there is anything to drop. */
  const dropFull = (atMs: number): void => {
    if (buckets.size === 1) return;
    let looks = 2;
    for (const [accountId, bucket] of buckets) {
      if (looks-- === 0) return;
      if (buckets.size <= accountsMax && tokensAt(bucket, atMs) < burst) return;
      buckets.delete(accountId);
    }
  };

  return {
    policy,
    take(accountId) {
      const atMs = now();
      const known = buckets.get(accountId);
      const available = known === undefined ? burst : tokensAt(known, atMs);
      const allowed = available >= 1 - ROUNDING;
      const tokens = allowed ? Math.max(0, available - 1) : available;
      buckets.delete(accountId);
      buckets.set(accountId, { tokens, atMs: known === undefined ? atMs : Math.max(known.atMs, atMs) });
      dropFull(atMs);
      return {
        allowed,
        remaining: Math.floor(tokens + ROUNDING),
        resetS: wholeSeconds((burst - tokens) / refillPerMs),
        retryAfterS: allowed ? 0 : Math.max(1, wholeSeconds((1 - tokens) / refillPerMs)),
      };
    },
    get size() {
      return buckets.size;
    },
  };
}

/**
 * The answer's fields by draft-ietf-httpapi-ratelimit-headers (revisions 08 to 11): the policy as quota `q` over a window of
 * `w` seconds, the state as `r` requests remaining and `t` seconds until the quota is whole; `Retry-After` on a refusal.
 */
export function rateLimitHeaders(policy: RateLimitPolicy, decision: RateDecision): Record<string, string> {
  const headers: Record<string, string> = {
    'RateLimit-Policy': `"account";q=${policy.burst};w=${policy.windowS}`,
    RateLimit: `"account";r=${decision.remaining};t=${decision.resetS}`,
  };
  if (!decision.allowed) headers['Retry-After'] = String(decision.retryAfterS);
  return headers;
}

/**
 * Reads a setting such as `600/min`, `10/s` or `1000/h`: so many requests at once, filling again evenly over that time.
 * `off`, for no limit, gives undefined.
 *
 * @throws OperatorError for anything else.
 */
export function parseRateLimit(text: string): RateLimitPolicy | undefined {
  if (text === 'off') return undefined;
  const [, count, unit] = /^([1-9]\d{0,6})\/(s|min|h)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new OperatorError(
      `"${text}" is not a rate limit`,
      'use COUNT/s, COUNT/min or COUNT/h, such as 600/min, or off',
    );
  }
  return { burst: Number(count), windowS: WINDOW_S[unit as keyof typeof WINDOW_S] };
}

interface Bucket {
  readonly tokens: number;
  /** When that many were left. */
  readonly atMs: number;
}

const WINDOW_S = { s: 1, min: 60, h: 3600 } as const;

/** A token refilled in many small steps sums to a hair less than one; a request is not refused for that. */
const ROUNDING = 1e-6;

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000 - ROUNDING);
}
