import type { Access, Account } from '../access/access.ts';
import { type RateLimiter, rateLimitHeaders } from '../access/rate-limit.ts';
import { Failure } from '../errors.ts';
import { DOCS_PATHS } from './docs-page.ts';
import type { BeforeRouting, HttpApp } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';

/** All else needs a key, unknown paths too: what is forgotten here is closed, not open. */
const PUBLIC_PATHS = new Set(['/health', ...DOCS_PATHS, '/api/v1/auth/my-key', '/api/v1/auth/telegram-status']);

/** On these the contract answers a missing key as a wrong one. */
const STREAM_PATHS = new Set(['/sse', '/messages']);

/** Many clients of this one can send no other header than this; the key in it is the same. */
const BEARER_PATH = '/mcp';

/**
 * Admits a request by its path and headers alone, before anything of it is parsed or looked up, and counts it against its account's rate.
 * Throws `Failure`: 401 without a key, 403 with one that is not good, 429 past the rate.
 */
export const guard =
  (access: Access, limiter: RateLimiter | undefined, connections: HttpDeps['connections']) => (app: HttpApp) =>
    app.onRequest((context) => {
      const { request, set, path } = context as typeof context & BeforeRouting;
      if (PUBLIC_PATHS.has(path)) {
        connections?.heard(request);
        return;
      }
      context.account = authenticate(access, path, request.headers);
      if (limiter) {
        const decision = limiter.take(context.account.id);
        Object.assign(set.headers, rateLimitHeaders(limiter.policy, decision));
        if (!decision.allowed) throw tooMany();
      }
      connections?.heard(request, context.account.id);
    });

function authenticate(access: Access, path: string, headers: Headers): Account {
  try {
    return access.authenticate(headers.get('x-api-key') ?? bearerOf(path, headers));
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
