import { describe, expect, test } from 'bun:test';
import { decodePng } from '../picture/decode-png.ts';
import { serviceForTests } from '../support/for-tests.ts';

/** What dealers trade over moves of spot over REST, as a table and as a picture. */
const service = serviceForTests();

const ROUTE = '/api/v1/nodes/gex/SPY/hedging';
const TOOL = '/api/v1/tools/get_hedging_profile';

interface Answer {
  readonly expiry: string;
  readonly rows: readonly { readonly move_pct: number; readonly shares: number }[];
}

test.each([
  ['separated by commas', '?moves=1,-2.5,0.5'],
  ['as a repeated parameter', '?moves=1&moves=-2.5&moves=0.5'],
])('moves %s', async (_what, query) => {
  const response = await service.request('GET', `${ROUTE}${query}`);
  expect(response.status).toBe(200);
  const { rows } = (await response.json()) as Answer;
  expect(rows.map(({ move_pct }) => move_pct)).toEqual([-2.5, 0.5, 1]);
});

test('the route and the tool give the same rows', async () => {
  const moves = [-3, 3];
  const route = (await (await service.request('GET', `${ROUTE}?moves=${moves}&expiry=all&digits=17`)).json()) as Answer;
  const tool = (await (await service.request('POST', TOOL, { body: { ticker: 'SPY', moves } })).json()) as Answer;
  expect(route.rows).toEqual(tool.rows);
  expect(route.rows[0]!.shares).not.toBe(0);
});

test.each([
  ['?moves=', 400, '/moves/0 must be a finite number'],
  ['?moves=1,far', 400, '/moves/1 must be a finite number'],
  ['?moves=99', 400, '/moves/0 must be a finite number, at least -50 and at most 50'],
  ['?format=png', 400, '/format must be one of "table", "image"'],
  ['?expiry=2031-01-01', 400, '2031-01-01 is not a listed expiry'],
])('%s is refused, also for a picture', async (query, status, message) => {
  for (const path of [`${ROUTE}${query}`, `${ROUTE}${query}&${query.includes('format') ? '' : 'format=image'}`]) {
    const response = await service.request('GET', path);
    expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    expect(((await response.json()) as { detail: string }).detail).toContain(message);
  }
});

describe('a picture', () => {
  test.each([
    ['the route', () => service.request('GET', `${ROUTE}?format=image`)],
    ['the tool', () => service.request('POST', TOOL, { body: { ticker: 'SPY', format: 'image' } })],
    [
      'the extended tool',
      () => service.request('POST', `${TOOL}?extended=true`, { body: { ticker: 'SPY', format: 'image' } }),
    ],
  ])('%s answers a PNG with the provenance in its header fields, uncached', async (_what, ask) => {
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.toJSON()).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'no-store',
      'x-data-source': 'simulated',
      'x-data-simulated': 'true',
      'x-data-age': expect.stringMatching(/^\d+$/),
      'x-data-stale': expect.any(String),
      'x-data-as-of': expect.any(String),
      'x-data-notes': expect.stringContaining('Simulated market'),
    });
    expect(response.headers.has('etag')).toBe(false);
    expect(decodePng(await response.bytes()).width).toBe(960);
  });

  test('does not take the place of the table in the cache', async () => {
    const [table, picture] = [`${ROUTE}?moves=2&format=table`, `${ROUTE}?moves=2&format=image`];
    const types: (string | null)[] = [];
    for (const path of [picture, table, picture, table]) {
      const response = await service.request('GET', path);
      types.push(response.headers.get('content-type'));
      expect(response.headers.has('etag')).toBe(path === table);
    }
    expect(types).toEqual([
      'image/png',
      'application/json;charset=utf-8',
      'image/png',
      'application/json;charset=utf-8',
    ]);
  });

  test('the OpenAPI document has the picture at a path of its own', async () => {
    const { paths } = (await (await service.request('GET', '/openapi.json')).json()) as {
      paths: Record<string, Record<string, { responses: Record<string, { content?: object }> }>>;
    };
    const drawing = Object.entries(paths).filter(([, methods]) =>
      Object.values(methods).some(({ responses }) => 'image/png' in (responses[200]?.content ?? {})),
    );
    expect(drawing.map(([path]) => path).sort()).toEqual(['/api/v1/nodes/gex/{ticker}/hedging.png']);
  });
});
