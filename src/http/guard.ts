import type { Access, Account } from '../access/access.ts';
import { type RateLimiter, rateLimitHeaders } from '../access/rate-limit.ts';
import { Failure } from '../errors.ts';
import { DOCS_FILES } from './docs-page.ts';

/** All else needs a key, unknown paths too: what is forgotten here is closed, not open. */
const PUBLIC_PATHS = new Set([
  '/health',
  '/openapi.json',
  ...Object.keys(DOCS_FILES),
  '/api/v1/auth/my-key',
  '/api/v1/auth/telegram-status',
]);

/** On these the contract answers a missing key as a wrong one. */
const STREAM_PATHS = new Set(['/sse', '/messages']);

/** Many clients of this one can send no other header than this; the key in it is the same. */
const BEARER_PATH = '/mcp';

export interface Admission {
  /** Undefined on public paths. */
  readonly account: Account | undefined;
  /** Fields for the answer, also where the request is refused later. */
  readonly headers: Record<string, string>;
  readonly refusal?: Failure;
}

export type Guard = (path: string, headers: Headers) => Promise<Admission>;

/**
 * Decides on a request by its path and headers alone, before anything of it is parsed or looked up.
 * Throws `Failure`: 401 without a key, 403 with one that is not good. Past the account's rate the refusal, 429, comes back
 * with the fields that say so.
 */
export function createGuard(access: Access, limiter: RateLimiter | undefined): Guard {
  return async (path, headers) => {
    if (PUBLIC_PATHS.has(path)) return { account: undefined, headers: {} };
    const account = authenticate(access, path, headers.get('x-api-key') ?? bearerOf(path, headers));
    if (!limiter) return { account, headers: {} };
    const decision = await limiter.take(account.id);
    const fields = rateLimitHeaders(limiter.policy, decision);
    return decision.allowed ? { account, headers: fields } : { account, headers: fields, refusal: tooMany() };
  };
}

function authenticate(access: Access, path: string, header: string | null): Account {
  try {
    return access.authenticate(header);
  } catch (error) {
    if (!(error instanceof Failure) || !STREAM_PATHS.has(path)) throw error;
    throw new Failure('key_invalid', '403 Forbidden: Invalid Subscriber Key', error.hint ? { hint: error.hint } : {});
  }
}

function bearerOf(path: string, headers: Headers): string | null {
  if (path !== BEARER_PATH) return null;
  return /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
}

function tooMany(): Failure {
  return new Failure('rate_limited', 'This account has made too many requests', {
    hint: 'Wait for Retry-After seconds, or space requests out.',
  });
}
