import { beforeAll, expect, test } from 'bun:test';
import { serviceForTests } from '../support/for-tests.ts';
import { computeLevels } from '../support/service.ts';

/** The history of a ticker's levels, as columns. */
const service = serviceForTests();
beforeAll(() => computeLevels(service));

type Body = Readonly<Record<string, unknown>>;

async function get(path: string): Promise<{ status: number; body: Body; headers: Headers }> {
  const response = await service.request('GET', `/api/v1/nodes/gex/${path}${path.includes('?') ? '&' : '?'}digits=17`);
  return { status: response.status, body: (await response.json()) as Body, headers: response.headers };
}

test.each(['SPY', 'tsla', 'BRK.B'])('%s: the newest row equals the current levels', async (ticker) => {
  const { status, body, headers } = await get(`${ticker}/history`);
  const now = (await (await service.request('GET', `/api/v1/nodes/gex/${ticker}`)).json()) as Body;
  expect(status).toBe(200);
  expect(body).toMatchObject({ ticker: ticker.toUpperCase(), per: 'day', count: 1, iv_days: 1 });
  expect(body).not.toHaveProperty('downsampled_from');
  const last = (name: string) => (body[name] as unknown[]).at(-1);
  for (const name of ['max_pain', 'call_wall', 'put_wall', 'gex_flip', 'expiry']) expect(last(name)).toEqual(now[name]);
  expect(last('spot')).toBe(now.spot_price);
  expect((last('net_gex') as number) / 1e6).toBeCloseTo(now.net_gex_mil as number, 6);
  expect(last('as_of')).toBe(headers.get('x-data-as-of')!);
  expect(headers.get('x-data-simulated')).toBe('true');
  const columns = Object.entries(body).filter(([name, value]) => Array.isArray(value) && name !== 'notes');
  expect(columns.map(([name, value]) => [name, (value as unknown[]).length])).toEqual(
    columns.map(([name]) => [name, 1]),
  );
});

test('parses the query, with numbers as numbers', async () => {
  const { status, body } = await get('SPY/history?per=snapshot&points=1&from=2020-01-01&to=2099-01-01T00:00:00Z');
  expect([status, body.per, body.count]).toEqual([200, 'snapshot', 1]);
});

test('answers a range without levels with zero rows and a note in body and header', async () => {
  const { status, body, headers } = await get('SPY/history?to=2020-01-01');
  expect([status, body.count, body.notes]).toEqual([200, 0, [expect.any(String)]]);
  expect(headers.get('x-data-notes')).toContain('No levels of this ticker are stored');
});

test('the record of levels needs a day after the first levels', async () => {
  const { status, body, headers } = await get('spy/record?days=30');
  expect([status, body.ticker, body.count]).toEqual([200, 'SPY', 0]);
  expect(body.flip).toMatchObject({ n: 0, too_few_days: true, verdict: 'too few days' });
  expect(headers.get('x-data-notes')).toContain('No day of the period');
});

test.each([
  ['SPY/record?days=0', 'invalid_parameter', '/days must be an integer, at least 1 and at most 3650'],
  ['SPY/record?days=', 'invalid_parameter', '/days must be an integer'],
  ['SPY/record?weight=volume', 'invalid_parameter', '/weight is not a field of this request'],
  ['ZZZZ/record', 'unknown_ticker', 'not in the universe'],
  ['SPY/history?from=soon', 'invalid_parameter', '/from must be a date'],
  ['SPY/history?from=2026-02-30', 'invalid_parameter', '/from must be a date YYYY-MM-DD of New York, or an instant'],
  ['SPY/history?from=2026-02-02&to=2026-02-01', 'invalid_parameter', '/from must not lie after /to'],
  ['SPY/history?points=many', 'invalid_parameter', '/points must be an integer, at least 1 and at most 5000'],
  ['SPY/history?points=', 'invalid_parameter', '/points must be an integer'],
  ['SPY/history?per=week', 'invalid_parameter', '/per must be one of "snapshot", "day"'],
  ['SPY/history?per=day&per=day', 'invalid_parameter', '/per must be given once'],
  ['SPY/history?form=2026-02-02', 'invalid_parameter', '/form is not a field of this request'],
  ['ZZZZ/history', 'unknown_ticker', 'not in the universe'],
])('%s is refused', async (path, code, message) => {
  const { status, body } = await get(path);
  expect([status, body.code]).toEqual([400, code]);
  expect(body.detail).toContain(message);
});
