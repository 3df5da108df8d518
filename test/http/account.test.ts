import { describe, expect, test } from 'bun:test';
import { ACCOUNT_STATUS } from '../../src/http/account.ts';
import { satisfies } from '../../src/operations/engine/validate.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { startService } from '../support/service.ts';

/** `GET /api/v1/account` over the whole application: the account of the request's key. */
const service = serviceForTests({ isEmpty: true });

async function account(of = service) {
  const response = await of.request('GET', '/api/v1/account');
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const text = await response.text();
  expect(text).not.toContain(of.key);
  expect(text).not.toContain(of.uuid);
  const body = JSON.parse(text);
  expect(satisfies(ACCOUNT_STATUS, body)).toBe(true);
  return { body, headers: response.headers };
}

describe('the membership', () => {
  test.each([
    [{}, { tier: 'member', expires_at: null }],
    [
      { tier: 'pro', expiresAt: Date.UTC(2099, 0, 1) },
      { tier: 'pro', expires_at: '2099-01-01T00:00:00.000Z' },
    ],
    [{ tier: 'demo' }, { tier: 'demo', expires_at: null }],
  ])('of a member added with %j', async (membership, expected) => {
    await service.app.access.addMember({ uuid: service.uuid, ...membership });
    expect((await account()).body).toEqual({ ...expected, rate_limit: null, live_streams: 0 });
  });
});

test.each([
  [null, 401],
  ['ZOMMA_0000000000000000', 403],
])('with the key %p the answer is %d', async (key, status) => {
  const response = await service.request('GET', '/api/v1/account', { headers: { 'X-API-Key': key } });
  expect(response.status).toBe(status);
});

test('a request takes a token like any other, and states what is left', async () => {
  await using limited = await startService({ isEmpty: true, rateLimit: '3/h' });
  for (const remaining of [2, 1, 0]) {
    const { body, headers } = await account(limited);
    const { rate_limit } = body;
    expect(rate_limit).toMatchObject({ requests: 3, window_s: 3_600, remaining });
    expect(headers.get('ratelimit')).toBe(`"account";r=${remaining};t=${rate_limit.resets_in_s}`);
    expect(headers.get('ratelimit-policy')).toBe('"account";q=3;w=3600');
  }
  expect((await limited.request('GET', '/api/v1/account')).status).toBe(429);
});

test('counts the open streams of live levels of the account', async () => {
  const open = async () => (await service.request('GET', '/api/v1/stream/gex/SPY')).body!;
  const streams = [await open(), await open()];
  expect((await account()).body.live_streams).toBe(2);
  for (const stream of streams) await stream.cancel();
  expect((await account()).body.live_streams).toBe(0);
});
