import { describe, expect, test } from 'bun:test';
import { createByteBudget } from '../../src/access/byte-budget.ts';
import { ClientError } from '../../src/core/errors.ts';
import { contentType } from '../../src/http/answer-format.ts';
import { type CachedResponse, cacheResponse, isSendable, sendResponse } from '../../src/http/cached-response.ts';
import { createAnswerCache } from '../../src/operations/engine/answer-cache.ts';
import type { Operation } from '../../src/operations/engine/operation.ts';
import { extendedView, plainToolView, restView } from '../../src/operations/engine/perform.ts';
import { getLiveGexNodes } from '../../src/operations/gex/gex-nodes.ts';
import { smallMarket } from '../operations/small-market.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { errorOf } from '../support/thrown.ts';

/** What a cached answer costs, and for whom. */
const GEX = getLiveGexNodes as unknown as Operation;
const AS_OF = '2026-01-05T20:00:00.000Z';
const PROVENANCE = { source: 'test', simulated: false, as_of: AS_OF, age_s: 0, stale: false, notes: [] };
const NOW = Date.parse(AS_OF) + 7_000;

const cachedOf = (body: string | Uint8Array, view = restView(GEX), isCacheable = true) => {
  const { context, store } = smallMarket({}, NOW);
  const cache = createAnswerCache(context, store);
  const type = contentType(typeof body === 'string' ? 'json' : 'image');
  const written = { view, body, type, provenance: PROVENANCE, isReplay: false };
  const answer = cacheResponse(cache.record('a'), written, isCacheable, context);
  return { cache, answer };
};
const recipientOf = (account: string, headers: Record<string, string> = {}) => ({
  request: new Request('http://localhost/', { headers }),
  account,
  set: { headers: {} },
});

describe('a large cached answer', () => {
  const send = ({ answer }: { answer: CachedResponse }, budget: ReturnType<typeof createByteBudget>, account: string) =>
    sendResponse(answer, budget, recipientOf(account), true) as Response;

  test.each([
    [16 * 1024, false],
    [16 * 1024 + 1, true],
  ])('of %i bytes is refused to an account without room: %p', (bytes, isRefused) => {
    const large = cachedOf('x'.repeat(bytes));
    const budget = createByteBudget({ accountBytesMax: 1_000 });
    budget.reserve('a', 1_000);
    const attempt = () => send(large, budget, 'a');
    if (isRefused) expect(errorOf(ClientError, attempt).code).toBe('too_many_bytes');
    else expect(attempt().status).toBe(200);
    expect(send(large, budget, 'b').status).toBe(200);
  });

  test('is not refused to a client that has the answer', () => {
    const large = cachedOf('x'.repeat(100_000));
    const budget = createByteBudget({ accountBytesMax: 1_000 });
    budget.reserve('a', 1_000);
    const recipient = recipientOf('a', { 'If-None-Match': large.answer.present().prepared!.etag });
    expect((sendResponse(large.answer, budget, recipient, true) as Response).status).toBe(304);
  });

  test('counts for the account that reads it, until it has been read', async () => {
    const large = cachedOf('x'.repeat(100_000));
    const budget = createByteBudget();
    const response = send(large, budget, 'b');
    expect(budget.bytes).toBe(100_000);
    expect((await response.text()).length).toBe(100_000);
    expect(budget.bytes).toBe(0);
  });
});

test('of an answer that is too large, the cache has all but the body', async () => {
  const { answer, cache } = cachedOf('é'.repeat(1024 * 1024));
  const kept = cache.get<CachedResponse>('a')!;
  expect([kept.body, kept.bytes, cache.bytes]).toEqual(['', 2 * 1024 * 1024, expect.any(Number)]);
  expect(cache.bytes).toBeLessThan(5_000);
  const requestOf = (headers: Record<string, string>) => recipientOf('a', headers).request;
  const { etag } = answer.present().prepared!;
  expect([requestOf({}), requestOf({ 'If-None-Match': etag })].map((each) => isSendable(kept, each))).toEqual([
    false,
    true,
  ]);
  // The compressed forms of the answer that is sent are not counted, because they are not kept.
  const { bytes } = cache;
  await sendResponse(answer, createByteBudget(), recipientOf('a', { 'Accept-Encoding': 'gzip' }), false);
  expect(cache.bytes).toBe(bytes);
  // An answer that clients may not cache has no entity tag, so nothing of it is kept.
  expect(cachedOf('x'.repeat(2 * 1024 * 1024), restView(GEX), false).cache.bytes).toBe(0);
});

test.each([
  ['a GET', '{"a":1}', restView(GEX), true, '{"a":1}'],
  ['a tool', '{"a":1}', plainToolView(GEX), false, '{"a":1}'],
  [
    'an extended answer',
    '{"a":1}',
    extendedView(GEX),
    false,
    `{"a":1,"provenance":${JSON.stringify({ ...PROVENANCE, age_s: 7 })}}`,
  ],
  ['a picture', new Uint8Array([97]), extendedView(GEX), false, 'a'],
])('sends %s again with its present age', async (_, body, view, isCacheable, expected) => {
  const { answer, cache } = cachedOf(body, view, isCacheable);
  expect(cache.get<CachedResponse>('a')).toBe(answer);
  const response = await sendResponse(answer, createByteBudget(), recipientOf('a'), true);
  expect(await response.text()).toBe(expected);
  const { headers } = response;
  expect([headers.get('x-data-age'), headers.get('x-data-stale'), headers.has('etag')]).toEqual([
    '7',
    'false',
    isCacheable,
  ]);
});

test('counts the compressed forms of an answer', async () => {
  const { answer, cache } = cachedOf(JSON.stringify(Array.from({ length: 1_000 }, (_, i) => i)));
  const { bytes } = cache;
  const get = () => sendResponse(answer, createByteBudget(), recipientOf('a', { 'Accept-Encoding': 'br' }), true);
  const { byteLength } = await (await get()).bytes();
  expect(cache.bytes).toBe(bytes + byteLength);
  await (await get()).bytes();
  expect(cache.bytes).toBe(bytes + byteLength);
});

describe('members', () => {
  const service = serviceForTests({ rateLimit: '100/h' });
  const left = (response: Response) => Number(/;r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);

  test('share cached answers, and each pays the base price of the own request', async () => {
    const { apiKey } = await service.app.access.addMember({ uuid: '77777777-7777-4777-8777-777777777777' });
    const ask = (key: string | null, path = '/api/v1/nodes/gex/SPY/view') =>
      service.request('GET', path, { headers: { 'X-API-Key': key } });
    const first = await ask(service.key);
    const [other, again] = [await ask(apiKey), await ask(service.key)];
    expect([left(other), left(again)]).toEqual([99, left(first) - 1]);
    expect(await other.text()).toBe(await first.text());
    expect(new Set([first, other, again].map((each) => each.headers.get('x-request-id'))).size).toBe(3);
    expect((await ask(null)).status).toBe(401);
    expect((await ask('ZOMMA_0000000000000000')).status).toBe(403);
    await service.app.access.revoke('77777777-7777-4777-8777-777777777777');
    expect((await ask(apiKey)).status).toBe(403);
  });
});
