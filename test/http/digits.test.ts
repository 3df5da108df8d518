import { beforeAll, expect, test } from 'bun:test';
import { closeOf, newYorkDate, previousTradingDay } from '../../src/market/calendar.ts';
import { restView } from '../../src/operations/engine/perform.ts';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { recordLevels } from '../support/record-levels.ts';

/** The digits of the figures in wide answers. */
const service = serviceForTests();

beforeAll(async () => {
  const { store } = service.app;
  const chain = store.chain(store.latestChainId('SPY', true)!)!;
  store.saveChain({ ...chain, underlying: 'SPX' });
  // Open interest is compared with that of an earlier day.
  store.saveChain({ ...chain, asOf: closeOf(previousTradingDay(newYorkDate(chain.asOf))) });
  await recordLevels(store);
});

const get = (path: string) => service.request('GET', path);

const takesDigits = (operation: (typeof OPERATIONS)[number]) => 'digits' in restView(operation).input.properties;
/** The addresses of all GET routes, with the arguments of their examples. */
const routes = OPERATIONS.filter(({ rest }) => rest?.method === 'GET').map((operation) => {
  const { ticker, ...others } = operation.example as Record<string, unknown>;
  const query = new URLSearchParams(
    Object.entries(others).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return [operation.name, `${operation.rest!.path.replace('{ticker}', String(ticker))}?${query}`, operation] as const;
});

/** Returns the answer with rounded numbers, as `digits` is documented. */
function rounded(value: unknown, digits: number): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(value.toPrecision(digits));
  if (Array.isArray(value)) return value.map((each) => rounded(each, digits));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rounded(each, digits)]));
}

test.each(routes.filter(([, , operation]) => takesDigits(operation)))(
  '%s has 10 digits, or as many as the request asks for',
  async (_, path) => {
    const [exact, usual, twelve] = await Promise.all(
      [`${path}&digits=17`, path, `${path}&digits=12`].map(async (each) => {
        const response = await get(each);
        expect(response.status).toBe(200);
        return response.text();
      }),
    );
    const answer: unknown = JSON.parse(exact!);
    expect(exact).toBe(JSON.stringify(answer));
    expect(usual).toBe(JSON.stringify(rounded(answer, 10)));
    expect(twelve).toBe(JSON.stringify(rounded(answer, 12)));
  },
);

test('the routes of market data that are not part of the API contract take digits', () => {
  const taking = routes.filter(([, , operation]) => takesDigits(operation)).map(([, , { rest }]) => rest!.path);
  expect(taking).toContain('/api/v1/nodes/gex/{ticker}/view');
  expect(taking).not.toContain('/api/v1/nodes/gex/{ticker}');
  expect(taking).not.toContain('/api/v1/universe');
  expect(taking.length).toBeGreaterThan(10);
});

test('a wide answer is at least a quarter shorter than with all digits, and its prices are exact', async () => {
  const path = '/api/v1/surface/SPY?detail=grid';
  const [usual, exact] = [await (await get(path)).text(), await (await get(`${path}&digits=17`)).text()];
  expect(usual.length / exact.length).toBeLessThan(0.75);
  const quotes = '/api/v1/quotes/SPY';
  const { expiries } = (await (await get(quotes)).json()) as { expiries: { expiry: string }[] };
  const pricesOf = async (query: string) => {
    const answer = await (await get(`${quotes}?expiry=${expiries[0]!.expiry}${query}`)).json();
    return (answer as { quotes: Record<string, number>[] }).quotes.map(({ strike, bid, ask }) => [strike, bid, ask]);
  };
  const prices = await pricesOf('&digits=17');
  expect(prices.length).toBeGreaterThan(10);
  expect(await pricesOf('')).toEqual(prices);
});

test.each(['9', '18', '10.5', 'all', '', '1e1x'])('digits=%s is refused', async (given) => {
  const response = await get(`/api/v1/nodes/gex/SPY/view?digits=${given}`);
  const { code, detail } = (await response.json()) as { code: string; detail: string };
  expect([response.status, code]).toEqual([400, 'invalid_parameter']);
  expect(detail).toBe('/digits must be an integer, at least 10 and at most 17');
});

test('GEX levels keep all digits and do not take the parameter, as the API contract has it', async () => {
  const { gex_flip } = (await (await get('/api/v1/nodes/gex/SPY')).json()) as { gex_flip: number };
  expect(gex_flip).not.toBe(Number(gex_flip.toPrecision(10)));
  expect((await get('/api/v1/nodes/gex/SPY?digits=10')).status).toBe(400);
});
