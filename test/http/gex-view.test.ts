import { expect, test } from 'bun:test';
import { findOperation } from '../../src/operations/registry.ts';
import { serviceForTests } from '../support/for-tests.ts';

/** The view of a ticker: one answer with the answers of four routes. */
const service = serviceForTests();

const get = (path: string, headers: Record<string, string> = {}) =>
  service.request('GET', `/api/v1/nodes/gex/${path}`, { headers });
const textOf = async (path: string) => (await get(path)).text();
/** What an answer states first: its moment, and the options that differ from the defaults. */
const STATED = /^\{"as_of":"[^"]+",(?:"options":\{[^}]+\},)?/;

test.each(['', '&weight=volume', '&expiries=next:30&forward=flat'])(
  'has the texts of the routes of its parts, with options %j',
  async (options) => {
    const query = `?iv=otm${options}`;
    const view = await textOf(`SPY/view${query}`);
    const parts = await Promise.all(['strikes', 'profile', 'expiries'].map((part) => textOf(`SPY/${part}${query}`)));
    const stated = STATED.exec(view)![0];
    for (const part of parts) expect(part).toStartWith(stated);
    const [strikes, profile, expiries] = parts.map((part) => part.replace(STATED, '{'));
    const given = Object.fromEntries(new URLSearchParams(options));
    expect(JSON.parse(view).options ?? {}).toEqual(given);
    expect(view).toContain(`,"strikes":${strikes},"profile":${profile},"expiries":${expiries},"provenance":{`);
    if (options === '') {
      const exact = await textOf(`SPY/view${query}&digits=17`);
      const body = { ticker: 'SPY' };
      const extended = await service.request('POST', '/api/v1/tools/get_live_gex_nodes?extended=true', { body });
      const [levels] = (await extended.text()).split(',"horizons":{');
      expect(exact).toContain(`,"levels":${levels}},"strikes":`);
    }
  },
);

test('has no age, so that its ETag stays the same while the data ages', async () => {
  const { store } = service.app;
  const chain = store.chain(store.latestChainId('QQQ', true)!)!;
  const asOf = Date.now() - 7_200_000;
  store.saveChain({ ...chain, underlying: 'AGED', asOf });
  const at = (ageMs: number, headers = {}) => get(`AGED/view?at=${new Date(asOf + ageMs).toISOString()}`, headers);
  const first = await at(0);
  expect(JSON.parse(await first.text()).provenance).toEqual({
    source: 'simulated',
    simulated: true,
    as_of: new Date(asOf).toISOString(),
    notes: expect.arrayContaining(['Simulated market: no real quotes.']),
  });
  const tag = first.headers.get('etag')!;
  const later = await at(3_600_000, { 'If-None-Match': tag });
  expect([later.status, later.headers.get('etag')]).toEqual([304, tag]);
  expect([first, later].map(({ headers }) => headers.get('x-data-age'))).toEqual(['0', '3600']);
});

test('is an operation with a route, and not a tool', async () => {
  expect(findOperation('get_gex_view')!.tool).toBeUndefined();
  const response = await service.request('POST', '/api/v1/tools/get_gex_view', { body: { ticker: 'SPY' } });
  expect(response.status).toBe(404);
});
