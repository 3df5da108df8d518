import { beforeAll, expect, test } from 'bun:test';
import { serviceForTests } from '../support/for-tests.ts';
import { computeLevels } from '../support/service.ts';

/** The screen of tickers over REST: lists in the query, and the header fields of the provenance. */
const service = serviceForTests();
beforeAll(() => computeLevels(service));

interface Body {
  readonly rows: {
    readonly ticker: string;
    readonly net_gex_mil: number;
    readonly as_of?: string;
    readonly age_s?: number;
  }[];
  readonly as_of?: string;
  readonly matched: number;
  readonly without_data: string[];
}

async function screen(query: string): Promise<{ status: number; body: Body; headers: Headers }> {
  const response = await service.request('GET', `/api/v1/screen?${query}`);
  return { status: response.status, body: (await response.json()) as Body, headers: response.headers };
}

test.each(['tickers=spy,TSLA,ZZZZ', 'tickers=spy&tickers=TSLA&tickers=ZZZZ'])('%s', async (query) => {
  const { status, body, headers } = await screen(`${query}&sort_by=ticker`);
  expect(status).toBe(200);
  expect(body.rows.map(({ ticker }) => ticker)).toEqual(['SPY', 'TSLA']);
  expect(body).toMatchObject({ matched: 2, without_data: ['ZZZZ'] });
  expect(headers.get('x-data-source')).toBe('simulated');
  const moments = body.rows.map(({ as_of }) => as_of).toSorted();
  expect([body.as_of, headers.get('x-data-as-of')]).toEqual([moments[0]!, moments[0]!]);
  expect(body.rows.some((row) => 'age_s' in row)).toBe(false);
});

test('ages are in the rows of the route only on request, and always in those of the tool', async () => {
  const fieldsOf = ({ rows }: Body) => [rows[0]!.as_of !== undefined, rows[0]!.age_s !== undefined];
  const tool = async (query: string) =>
    (await (await service.request('POST', `/api/v1/tools/screen_tickers${query}`, { body: {} })).json()) as Body;
  expect(fieldsOf((await screen('limit=3')).body)).toEqual([true, false]);
  expect(fieldsOf((await screen('sort_by=age_s')).body)).toEqual([true, true]);
  expect(fieldsOf((await screen('where=age_s%3E0')).body)).toEqual([true, true]);
  expect(fieldsOf(await tool(''))).toEqual([false, true]);
  expect(fieldsOf(await tool('?extended=true'))).toEqual([true, true]);
});

test('conditions in the query are those of the tool', async () => {
  const { body } = await screen(
    'where=net_gex_mil%3E%3D-1000000,age_s%3E%3D0&sort_by=net_gex_mil&order=desc&limit=100',
  );
  const tool = await service.request('POST', '/api/v1/tools/screen_tickers', {
    body: { where: ['net_gex_mil>=-1000000', 'age_s>=0'], sort_by: 'net_gex_mil', order: 'desc', limit: 100 },
  });
  const names = ({ rows }: Body) => rows.map(({ ticker }) => ticker);
  expect(body.rows.length).toBeGreaterThan(1);
  expect(names(body)).toEqual(names((await tool.json()) as Body));
  const figures = body.rows.map(({ net_gex_mil }) => net_gex_mil);
  expect(figures).toEqual(figures.toSorted((a, b) => b - a));
});

test('an invalid condition is a 400 that lists the columns', async () => {
  const response = await service.request('GET', '/api/v1/screen?where=rank%3E80');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'invalid_parameter',
    errors: [{ pointer: '/where/0' }],
    hint: expect.stringContaining('iv_rank'),
  });
});
