import { afterEach, describe, expect, setSystemTime, spyOn, test } from 'bun:test';
import { provenanceHeaders } from '../../src/http/cached-response.ts';
import { MOMENT_MS } from '../../src/http/operation-routes.ts';
import { buildApp } from '../../src/server/app.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { parseSettings } from '../support/parse-settings.ts';
import { until } from '../support/until.ts';

/** What a client may cache, how a client learns that it has the newest answer, and what the response cache stores. */
const service = serviceForTests();

const GEX = '/api/v1/nodes/gex/SPY';
const get = (path: string, headers: Record<string, string | null> = {}, method = 'GET') =>
  service.request(method, path, { headers });
const tagOf = async (path: string) => (await get(path)).headers.get('etag')!;

test.each([GEX, '/api/v1/universe', `${GEX}/strikes`, `${GEX}?weight=volume`, '/api/v1/flow/SPY'])(
  '%s has a strong ETag, and answers 304 without a body to a client that has it',
  async (path) => {
    const full = await get(path);
    expect(full.headers.get('etag')).toMatch(/^"[\w-]{43}"$/);
    expect(full.headers.get('cache-control')).toBe('private, no-cache');
    expect(full.headers.get('content-type')).toBe('application/json;charset=utf-8');
    for (const method of ['GET', 'HEAD']) {
      const none = await get(path, { 'If-None-Match': full.headers.get('etag') }, method);
      expect([none.status, await none.text(), none.headers.get('content-type')]).toEqual([304, '', null]);
      for (const name of ['etag', 'cache-control', 'x-content-type-options', 'x-data-source', 'x-data-as-of']) {
        expect([name, none.headers.get(name)]).toEqual([name, full.headers.get(name)]);
      }
    }
    const head = await get(path, {}, 'HEAD');
    expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', full.headers.get('etag')]);
  },
);

test.each([
  ['the tag itself', (tag: string) => tag, 304],
  ['the weak form of the tag', (tag: string) => `W/${tag}`, 304],
  ['a list that has the tag', (tag: string) => `"a,b", W/"c" ,${tag}`, 304],
  ['a star', () => ' * ', 304],
  ['another tag', () => '"other"', 200],
  ['a list of other tags', (tag: string) => `"x", "${tag.slice(1, -2)}"`, 200],
  ['a star in quotes', () => '"*"', 200],
  ['the tag without quotes', (tag: string) => tag.slice(1, -1), 200],
  ['an empty value', () => '', 200],
])('If-None-Match with %s', async (_, asked, status) => {
  const tag = await tagOf(GEX);
  expect((await get(GEX, { 'If-None-Match': asked(tag) })).status).toBe(status);
});

test('an ETag depends on the ticker, the options and the snapshot', async () => {
  const { store } = service.app;
  const [tag, other, option] = [
    await tagOf(GEX),
    await tagOf('/api/v1/nodes/gex/QQQ'),
    await tagOf(`${GEX}?weight=volume`),
  ];
  expect(new Set([tag, other, option]).size).toBe(3);
  expect(await tagOf(GEX)).toBe(tag);
  const chain = store.chain(store.latestChainId('SPY', true)!)!;
  // Equal figures of another moment or another source are another answer.
  store.saveChain({ ...chain, asOf: chain.asOf + 1 });
  const later = await tagOf(GEX);
  store.saveChain({ ...chain, asOf: chain.asOf + 1, source: 'files:other.csv' });
  const elsewhere = await tagOf(GEX);
  store.saveChain({ ...chain, asOf: chain.asOf + 2, spot: chain.spot * 1.001 });
  const moved = await get(GEX, { 'If-None-Match': tag });
  expect([moved.status, new Set([tag, later, elsewhere, moved.headers.get('etag')]).size]).toEqual([200, 4]);
  expect(((await moved.json()) as { spot_price: number }).spot_price).toBe(chain.spot * 1.001);
});

test('an ETag stays the same after a restart', async () => {
  const tag = await tagOf(GEX);
  const again = await buildApp(parseSettings({ dataDir: service.dataDir, rateLimit: 'off' }), () => {});
  const headers = { 'X-API-Key': service.key };
  expect((await again.handle(new Request(`http://localhost${GEX}`, { headers }))).headers.get('etag')).toBe(tag);
  await again.mcp.close();
  again.store.close();
});

describe('an answer is computed once for a snapshot', () => {
  const SURFACE = '/api/v1/surface/SPY';
  afterEach(() => setSystemTime());

  test.each([
    `${GEX}/view?rate=0.011`,
    SURFACE,
    `${SURFACE}?detail=grid`,
    `${GEX}/matrix?rate=0.011`,
    `${GEX}/profile?rate=0.011`,
    `${GEX}/hedging?format=image`,
  ])('%s', async (path) => {
    const computed = spyOn(service.app.scheduler, 'run');
    const nowMs = Date.now();
    const first = await get(path);
    expect(first.status).toBe(200);
    const [body, calls] = [await first.bytes(), computed.mock.calls.length];
    expect(calls).toBeGreaterThan(0);
    // A poll without data and the passing of seconds change no answer.
    service.app.store.pollBegan('sim', nowMs);
    setSystemTime(nowMs + 5_000);
    const again = await get(path);
    expect(await again.bytes()).toEqual(body);
    const tag = first.headers.get('etag');
    expect(again.headers.get('etag')).toBe(tag);
    const ages = [first, again].map((each) => Number(each.headers.get('x-data-age')));
    expect(ages[1]! - ages[0]!).toBeWithin(4, 7);
    if (tag !== null) expect((await get(path, { 'If-None-Match': tag })).status).toBe(304);
    expect(computed.mock.calls.length).toBe(calls);
    computed.mockRestore();
  });

  test.each([
    ['a tool', '/api/v1/tools/run_strategic_omni_radar'],
    ['an extended answer', '/api/v1/tools/run_strategic_omni_radar?extended=true'],
  ])('%s', async (_, path) => {
    const computed = spyOn(service.app.scheduler, 'run');
    const ask = (body: object) => service.request('POST', path, { body });
    await ask({ ticker: 'SPY', target_dte: 20 });
    const calls = computed.mock.calls.length;
    expect((await ask({ ticker: 'SPY', target_dte: 20 })).status).toBe(200);
    expect([calls > 0, computed.mock.calls.length]).toEqual([true, calls]);
    await ask({ ticker: 'SPY', target_dte: 21 });
    expect(computed.mock.calls.length).toBeGreaterThan(calls);
    computed.mockRestore();
  });
});

test.each([
  ['an answer with a key', () => get(`/api/v1/auth/my-key?uuid=${service.uuid}`, { 'X-API-Key': null })],
  ['an answer with a link', () => get(`/api/v1/auth/telegram-status?uuid=${service.uuid}`, { 'X-API-Key': null })],
  ['a refusal', () => get('/api/v1/nodes/gex/NOSUCH', { 'If-None-Match': '*' })],
  ['an answer to a refused key', () => get(GEX, { 'X-API-Key': 'ZOMMA_0000000000000000', 'If-None-Match': '*' })],
  ['an answer to an unknown path', () => get('/api/v1/nothing')],
  [
    'an answer to a POST',
    () => service.request('POST', '/api/v1/tools/get_live_gex_nodes', { body: { ticker: 'SPY' } }),
  ],
])('%s is no-store and has no ETag', async (_, ask) => {
  const response = await ask();
  expect(response.status).not.toBe(304);
  expect([response.headers.get('cache-control'), response.headers.get('etag')]).toEqual(['no-store', null]);
});

test('an answer about the present moment is no-store, has no ETag, and is computed again after a moment or a change', async () => {
  const look = async () => {
    const response = await service.request('GET', '/api/v1/feeds');
    expect([response.status, response.headers.get('cache-control'), response.headers.get('etag')]).toEqual([
      200,
      'no-store',
      null,
    ]);
    return ((await response.json()) as { checked_at: string }).checked_at;
  };
  const first = await look();
  await until(() => Date.now() >= Date.parse(first) + MOMENT_MS);
  const second = await look();
  expect(second).not.toBe(first);
  await until(() => Date.now() > Date.parse(second));
  service.app.store.dataReceived('simulated', Date.now());
  expect(await look()).not.toBe(second);
});

test.each([
  ['a plain name', 'massive:SPY', 'massive:SPY'],
  ['characters of several bytes', '€'.repeat(1_200), /^(?:%E2%82%AC|%E2%80%A6)+\.\.\.$/],
  ['a lone surrogate', 'a\ud800b', 'a%EF%BF%BDb'],
  ['line ends, which would end the field', 'a\r\nX-Evil: 1', 'a X-Evil: 1'],
])('a header field with the name of a source: %s', (_name, text, expected) => {
  const provenance = { source: text, simulated: false, as_of: '2026-08-21T20:00:00Z', age_s: 1, stale: false };
  const fields = provenanceHeaders({ ...provenance, notes: [text] });
  for (const name of ['X-Data-Source', 'X-Data-Notes']) {
    expect(fields[name]!).toMatch(expected instanceof RegExp ? expected : new RegExp(`^${expected}$`));
    expect(fields[name]!.length).toBeLessThanOrEqual(512);
  }
  expect(() => new Headers(fields)).not.toThrow();
});
