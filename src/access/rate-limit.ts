import { Failure, OperatorError } from '../errors.ts';

/** So many tokens at once, and the whole of them again over the window. A request takes one, and more for what it has computed. */
export interface RateLimitPolicy {
  /** Tokens of an idle account: the requests that it may make at once. */
  readonly burst: number;
  /** Seconds in which an empty allowance fills again, evenly. */
  readonly windowS: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** Tokens that are left. */
  readonly remaining: number;
  /** Whole seconds until the allowance is full again. */
  readonly resetS: number;
  /** Whole seconds until a refused request would pass, at least 1; 0 where it was allowed. */
  readonly retryAfterS: number;
}

/** Counts requests by account, in this process's memory. */
export interface RateLimiter {
  readonly policy: RateLimitPolicy;
  /** Takes tokens, by default the one of a request: all of them or none. */
  take(accountId: string, tokens?: number): RateDecision;
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
    take(accountId, cost = 1) {
      const atMs = now();
      const known = buckets.get(accountId);
      const available = known === undefined ? burst : tokensAt(known, atMs);
      const allowed = available >= cost - ROUNDING;
      const tokens = allowed ? Math.max(0, available - cost) : available;
      buckets.delete(accountId);
      buckets.set(accountId, { tokens, atMs: known === undefined ? atMs : Math.max(known.atMs, atMs) });
      dropFull(atMs);
      return {
        allowed,
        remaining: Math.floor(tokens + ROUNDING),
        resetS: wholeSeconds((burst - tokens) / refillPerMs),
        retryAfterS: allowed ? 0 : Math.max(1, wholeSeconds((cost - tokens) / refillPerMs)),
      };
    },
    get size() {
      return buckets.size;
    },
  };
}

/** Charges an account for work that a request begins. Throws `Failure`, 429, if it cannot pay. */
export function charge(limiter: RateLimiter, accountId: string, tokens: number): RateDecision {
  // The request itself has taken one: whatever a limit is, a full allowance pays for anything.
  const decision = limiter.take(accountId, Math.min(tokens, limiter.policy.burst - 1));
  if (decision.allowed) return decision;
  throw new Failure('rate_limited', `This request costs ${tokens} tokens more, and ${decision.remaining} are left`, {
    hint: 'Wait for Retry-After seconds, or ask for less at a time: docs/rest.md has the prices.',
    retryAfterS: decision.retryAfterS,
  });
}

/**
 * The answer's fields by draft-ietf-httpapi-ratelimit-headers (revisions 08 to 11): the policy as quota `q` over a window of
 * `w` seconds, the state as `r` tokens remaining and `t` seconds until the quota is whole, with the request's own `cost` if it is above
 * one; `Retry-After` on a refusal.
 */
export function rateLimitHeaders(policy: RateLimitPolicy, decision: RateDecision, cost = 1): Record<string, string> {
  const headers: Record<string, string> = {
    'RateLimit-Policy': `"account";q=${policy.burst};w=${policy.windowS}`,
    RateLimit: `"account";r=${decision.remaining};t=${decision.resetS}${cost > 1 ? `;cost=${cost}` : ''}`,
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
