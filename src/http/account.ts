import type { Static } from '@sinclair/typebox';
import type { Account } from '../access/access.ts';
import { bearerOf, canonicalUuid } from '../access/api-key.ts';
import type { RateLimiter } from '../access/rate-limit.ts';
import { telegramStatus } from '../access/telegram-link.ts';
import { TIERS } from '../access/tiers.ts';
import { ClientError } from '../core/errors.ts';
import { count, namedObject, wordField } from '../operations/engine/schemas.ts';
import { momentOrNull, nullable } from '../operations/engine/wrapped-schemas.ts';
import { type HttpApp, JSON_FIELDS, respond, respondJson, strictQuery } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';

/** Adds `/health`, `/ready`, the routes that need a member's UUID or a sign-in code instead of a key, and the route of a key's account. */
export const accountRoutes =
  ({ access, members, limiter, gexStreams, addressOf, refusals, myKeyPolicy, signInCodes, notReady }: HttpDeps) =>
  (app: HttpApp) =>
    app
      .get('/health', ({ set }) => respondJson(set, { status: 'online' }))
      .get('/ready', ({ set }) =>
        // The reasons are for the operator, on the operations address.
        notReady().length === 0
          ? respondJson(set, { status: 'ready' })
          : respond(set, JSON.stringify({ status: 'not_ready' }), JSON_FIELDS, 503),
      )
      .get('/api/v1/auth/my-key', async ({ request, set, path }) => {
        const address = addressOf(request);
        try {
          myKeyPolicy.check(address, request.headers.get('authorization'));
        } catch (error) {
          refusals.limit(address, path, 'foreign');
          throw refusals.reported(address, path, error);
        }
        const uuid = uuidOf(request.url);
        refusals.limit(address, path, myKeyPolicy.namesClients ? 'terminal' : 'uuid');
        try {
          return respondJson(set, { status: 'authorized', api_key: await access.issueKey(uuid, address) });
        } catch (error) {
          throw refusals.reported(address, path, error);
        }
      })
      .post('/api/v1/auth/sign-in', async ({ request, set, path }) => {
        strictQuery(request.url);
        const address = addressOf(request);
        const code = bearerOf(request.headers.get('authorization')) ?? '';
        refusals.limit(address, path, 'uuid');
        try {
          const uuid = signInCodes.redeem(code);
          if (uuid === undefined) throw codeRefused();
          return respondJson(set, { status: 'authorized', api_key: await access.issueKey(uuid, address) });
        } catch (error) {
          throw refusals.reported(address, path, error);
        }
      })
      .get('/api/v1/auth/telegram-status', ({ request, set, path }) => {
        const uuid = uuidOf(request.url);
        refusals.limit(addressOf(request), path, 'uuid');
        // An unknown UUID, a member without a link and a member without access get the same answer, so it does not reveal who is a member.
        return respondJson(set, { ...telegramStatus(access.isMember(uuid) ? members.telegramLink(uuid) : undefined) });
      })
      .get('/api/v1/account', ({ request, account, set }) => {
        strictQuery(request.url);
        return respondJson(set, accountStatus(account!, limiter, gexStreams.streamsOf(account!.id)));
      });

function codeRefused(): ClientError {
  const message = 'This link has been used, is older than a day, or is of an earlier start of the server';
  return new ClientError('key_invalid', message, { hint: 'Sign in with the key that `zomma start` printed.' });
}

const rateLimitStatus = namedObject('RateLimitStatus', undefined, {
  requests: count('Tokens of a full quota. A request takes one token, and expensive work takes more.'),
  window_s: count('Time in which an empty quota is refilled, seconds.'),
  remaining: count('Tokens that are left after this request.'),
  resets_in_s: count('Time until the quota is full again, seconds.'),
});

export const ACCOUNT_STATUS = namedObject('AccountStatus', undefined, {
  tier: wordField(Object.keys(TIERS), 'Tier of the membership: member, pro or demo.'),
  expires_at: momentOrNull('When the membership expires, ISO 8601; null if it does not expire.'),
  rate_limit: nullable(rateLimitStatus, 'The rate limit of the account; null if the service has none.'),
  live_streams: count('Open streams of live levels of the account.'),
});

/** Returns the answer of `GET /api/v1/account`: the membership and the limits of the account, without its key and UUID. */
function accountStatus(
  { id, tier, expiresAt }: Account,
  limiter: RateLimiter | undefined,
  liveStreams: number,
): Static<typeof ACCOUNT_STATUS> {
  return {
    tier,
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    rate_limit: limiter ? reportRateLimit(limiter, id) : null,
    live_streams: liveStreams,
  };
}

function reportRateLimit(limiter: RateLimiter, accountId: string) {
  const { burst, windowS } = limiter.policy;
  // The cost is 0, because the guard has already counted this request.
  const { remaining, resetS } = limiter.take(accountId, 0);
  return { requests: burst, window_s: windowS, remaining, resets_in_s: resetS };
}

function uuidOf(url: string): string {
  const given = strictQuery(url, ['uuid']).getAll('uuid');
  if (given.length === 1) return canonicalUuid(given[0]!);
  throw new ClientError(
    'invalid_parameter',
    given.length === 0 ? 'The query parameter uuid is missing' : 'The query parameter uuid is repeated',
    { hint: 'Send ?uuid=<member uuid> once.', fieldErrors: [{ field: '/uuid', expected: 'must be given once' }] },
  );
}
