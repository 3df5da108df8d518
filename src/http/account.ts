import type { Access } from '../access/access.ts';
import { canonicalUuid } from '../access/api-key.ts';
import type { MemberStore } from '../access/members.ts';
import { telegramStatus } from '../access/telegram-link.ts';
import { ClientError } from '../errors.ts';
import { type HttpApp, queryOf, respondJson } from './http-app.ts';

/** Adds the public routes: liveness, and the two routes that members call with their UUID instead of a key. */
export const accountRoutes = (access: Access, members: MemberStore) => (app: HttpApp) =>
  app
    .get('/health', ({ set }) => respondJson(set, { status: 'online' }))
    .get('/api/v1/auth/my-key', ({ request, set }) => respondJson(set, myKey(queryOf(request.url), access)))
    .get('/api/v1/auth/telegram-status', ({ request, set }) =>
      respondJson(set, telegramLinkage(queryOf(request.url), members)),
    );

/** Answers `GET /api/v1/auth/my-key`: a member's key. Throws `ClientError`: 400 if the UUID is invalid, 403 if the member has no access. */
function myKey(query: URLSearchParams, access: Access): Record<string, unknown> {
  return { status: 'authorized', api_key: access.issueKey(uuidOf(query)) };
}

/**
 * Answers `GET /api/v1/auth/telegram-status`. An unknown UUID gets the same answer as a member without a link, so the answer does not
 * reveal who is a member. Throws `ClientError` (400) if the UUID is invalid.
 */
function telegramLinkage(query: URLSearchParams, members: MemberStore): Record<string, unknown> {
  return { ...telegramStatus(members.telegramLink(uuidOf(query))) };
}

function uuidOf(query: URLSearchParams): string {
  const given = query.getAll('uuid');
  if (given.length === 1) return canonicalUuid(given[0]!);
  throw new ClientError(
    'invalid_parameter',
    given.length === 0 ? 'The query parameter uuid is missing' : 'The query parameter uuid is repeated',
    {
      hint: 'Send ?uuid=<member uuid> once.',
      fieldErrors: [{ field: '/uuid', expected: 'must be given once' }],
    },
  );
}
