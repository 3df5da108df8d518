import type { Access } from '../access/access.ts';
import { canonicalUuid } from '../access/api-key.ts';
import type { MemberStore } from '../access/members.ts';
import { telegramStatus } from '../access/telegram-link.ts';
import { Failure } from '../errors.ts';
import { type HttpApp, queryOf, respondJson } from './http-app.ts';

/** Public routes: liveness, and what a member may ask by uuid without a key. */
export const accountRoutes = (access: Access, members: MemberStore) => (app: HttpApp) =>
  app
    .get('/health', ({ set }) => respondJson(set, { status: 'online' }))
    .get('/api/v1/auth/my-key', ({ request, set }) => respondJson(set, myKey(queryOf(request.url), access)))
    .get('/api/v1/auth/telegram-status', ({ request, set }) =>
      respondJson(set, telegramLinkage(queryOf(request.url), members)),
    );

/** `GET /api/v1/auth/my-key`: a member's key. Throws `Failure`: 400 for a bad uuid, 403 for a member without access. */
function myKey(query: URLSearchParams, access: Access): Record<string, unknown> {
  return { status: 'authorized', api_key: access.issueKey(uuidOf(query)) };
}

/** `GET /api/v1/auth/telegram-status`. A uuid that nobody has is answered as a member not linked: it tells nothing. */
function telegramLinkage(query: URLSearchParams, members: MemberStore): Record<string, unknown> {
  return { ...telegramStatus(members.telegramLink(uuidOf(query))) };
}

function uuidOf(query: URLSearchParams): string {
  const given = query.getAll('uuid');
  if (given.length === 1) return canonicalUuid(given[0]!);
  throw new Failure(
    'invalid_parameter',
    given.length === 0 ? 'The query parameter uuid is missing' : 'uuid is given twice',
    {
      hint: 'Send ?uuid=<member uuid> once.',
      faults: [{ field: '/uuid', expected: 'must be given once' }],
    },
  );
}
