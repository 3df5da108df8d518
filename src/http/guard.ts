import type { Access, Account } from '../access/access.ts';
import { bearerOf } from '../access/api-key.ts';
import { rateLimitHeaders, waitFor } from '../access/rate-limit.ts';
import { ClientError } from '../core/errors.ts';
import { DOCS_PATHS } from './docs-page.ts';
import { type BeforeRouting, type HttpApp, patternOf } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';
import { PROBE_PATHS } from './origins.ts';
import { WEB_PATHS } from './web-page.ts';

/** The paths that need no key. All other paths need a key, including unknown paths. */
const PUBLIC_PATHS = new Set([
  ...PROBE_PATHS,
  ...WEB_PATHS,
  ...DOCS_PATHS,
  '/api/v1/auth/my-key',
  '/api/v1/auth/sign-in',
  '/api/v1/auth/telegram-status',
]);

/** Paths with the same answer for a missing key and for an invalid key, as the API contract requires. */
const STREAM_PATHS = new Set(['/sse', '/messages']);

/** Paths on which clients look for an OAuth sign-in before they send a key. They get 404, because 401 would suggest that there is one. */
const WELL_KNOWN = /^(?:\/mcp|\/sse)?\/\.well-known\//;

/**
 * Authenticates a request before it is parsed or routed, using only path and headers. Counts the request in the account's rate limit.
 * Throws `ClientError`: 401 (403 on STREAM_PATHS) if the key is missing, 403 if the key is invalid, 429 if the rate limit is exceeded.
 */
export const guard =
  ({ access, limiter, connections, addressOf, refusals }: HttpDeps) =>
  (app: HttpApp) =>
    app.onRequest((context) => {
      const { request, set, path } = context as typeof context & BeforeRouting;
      if (PUBLIC_PATHS.has(path) || WELL_KNOWN.test(path)) {
        connections?.onRequest(request);
        return;
      }
      try {
        context.account = authenticate(access, path, request.headers);
      } catch (error) {
        if (error instanceof ClientError && error.code === 'key_invalid') {
          const [address, route] = [addressOf(request), patternOf(app, path, undefined)];
          refusals.limit(address, route, 'key');
          refusals.report(address, route, error.code);
        }
        throw error;
      }
      if (limiter) {
        const decision = limiter.take(context.account.id);
        Object.assign(set.headers, rateLimitHeaders(limiter.policy, decision));
        if (!decision.allowed) throw tooMany(decision.retryAfterS);
      }
      connections?.onRequest(request, context.account.id);
    });

function authenticate(access: Access, path: string, headers: Headers): Account {
  try {
    // Many clients can send a key only in the Authorization header.
    return access.authenticate(headers.get('x-api-key') || bearerOf(headers.get('authorization')));
  } catch (error) {
    if (!(error instanceof ClientError) || !STREAM_PATHS.has(path)) throw error;
    throw new ClientError(
      'key_invalid',
      '403 Forbidden: Invalid Subscriber Key',
      error.hint ? { hint: error.hint } : {},
    );
  }
}

function tooMany(retryAfterS: number): ClientError {
  return new ClientError('rate_limited', 'This account has made too many requests', {
    hint: `${waitFor(retryAfterS)}, or send fewer requests.`,
  });
}
