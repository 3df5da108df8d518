import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prices from '../../src/operations/engine/request-cost.ts';
import { ANALYSIS_CONTRACTS, TOUCH_GRID_TOKENS } from '../../src/operations/engine/request-cost.ts';
import { headersOf, modern } from '../mcp/http/messages.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { ROOT } from '../support/process.ts';
import { startService } from '../support/service.ts';

/** How many rate-limit tokens work costs an account, and that the screens of a terminal fit into the default rate limit. */
const service = serviceForTests({ rateLimit: '600/min' });

/** Returns the tokens left after a request, and the cost that the answer states. */
async function paid(method: string, path: string, body?: unknown, on = service) {
  const response = await on.request(method, path, body === undefined ? {} : { body });
  await response.arrayBuffer();
  const [, left, cost] = /^"account";r=(\d+);t=\d+(?:;cost=(\d+))?$/.exec(response.headers.get('ratelimit')!)!;
  return { status: response.status, left: Number(left), cost: Number(cost ?? 1) };
}

const batchOf = (rows: number) => ({
  put_call: 'C',
  spot: 100,
  strike: Array.from({ length: rows }, (_, i) => 50 + i / rows),
  tte: 0.5,
  iv: 0.3,
});

test.each([
  [1, 1],
  [1_000, 1],
  [1_001, 2],
  [20_000, 20],
])('a table of %i rows costs %i tokens', async (rows, cost) => {
  // One token is added every 36 s, so none between the two requests.
  await using slow = await startService({ rateLimit: '100/h' });
  const before = (await paid('GET', '/api/v1/universe', undefined, slow)).left;
  const after = await paid('POST', '/api/v1/physics/greeks/batch', batchOf(rows), slow);
  expect(after).toEqual({ status: 200, left: before - cost, cost });
});

test('an analysis costs tokens by its contracts, only the first time', async () => {
  const { count } = service.app.context.market.chain('SPY');
  const ask = () => paid('GET', '/api/v1/nodes/gex/SPY?rate=0.0123');
  const price = 1 + Math.ceil(count / ANALYSIS_CONTRACTS);
  expect(price).toBeGreaterThan(1);
  expect((await ask()).cost).toBe(price);
  expect((await ask()).cost).toBe(1);
  // Another request for the same analysis.
  expect((await paid('GET', '/api/v1/nodes/gex/SPY/strikes?rate=0.0123')).cost).toBe(1);
});

test('the probability of touching a strike costs tokens in each answer that has it, and no other answer of the tool', async () => {
  const path = '/api/v1/tools/calculate_merton_probability';
  const { spot } = service.app.context.market.chain('SPY');
  const ask = async (query: string, stag_prob: number) => {
    const question = { ticker: 'SPY', spot_price: spot, ambush_strike: 1.01 * spot, days_to_expiry: 30, stag_prob };
    return (await paid('POST', path + query, question)).cost;
  };
  // The first question pays for the analysis and for the surface of the chain.
  await ask('', 0.5);
  const rare = await ask('?extended=true', 0.5);
  const often = await ask('?extended=true', 0.05);
  expect([await ask('', 0.5), await ask('', 0.05)]).toEqual([1, 1]);
  // Without jumps, only the scenarios cost tokens, and the paths are known already.
  expect(await ask('?extended=true', 1)).toBeWithin(1, rare - TOUCH_GRID_TOKENS + 1);
  // A repeat costs nothing more, because its answer is cached.
  expect([await ask('?extended=true', 0.5), await ask('?extended=true', 0.05)]).toEqual([1, 1]);
  expect(rare).toBeWithin(1 + TOUCH_GRID_TOKENS, 5 + TOUCH_GRID_TOKENS);
  expect(often).toBeWithin(rare - TOUCH_GRID_TOKENS + 3, 20);
});

test('refuses work that an account cannot pay before it starts, and says when to retry', async () => {
  await using poor = await startService({ rateLimit: '10/min' });
  // A price above the limit takes the full allowance.
  expect(await paid('POST', '/api/v1/physics/greeks/batch', batchOf(20_000), poor)).toEqual({
    status: 200,
    left: 0,
    cost: 20,
  });
  const refused = await poor.request('POST', '/api/v1/physics/greeks/batch', { body: batchOf(2_000) });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '6']);
});

test('a refusal names the price that the account cannot pay', async () => {
  await using poor = await startService({ rateLimit: '10/min' });
  for (let left = 9; left > 5; left--) await paid('GET', '/api/v1/universe', undefined, poor);
  const refused = await poor.request('POST', '/api/v1/physics/greeks/batch', { body: batchOf(20_000) });
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({
    code: 'rate_limited',
    detail: 'This request costs 19 more tokens, and 5 are left',
  });
  expect(refused.headers.get('retry-after')).toBe('24');
});

describe('within the default limit', () => {
  const READINGS = ['', 'forward=parity', 'gamma=feed', 'forward=flat', 'weight=volume', 'sign=flow'];
  const PANELS = ['', '/profile', '/strikes', '/expiries'];

  test('a page with one ticker under six analyses, and a screen of all tickers', async () => {
    await using fresh = await startService({ rateLimit: '600/min', hasAllTickers: true });
    const paths = [
      '/api/v1/universe',
      '/api/v1/feeds',
      ...READINGS.flatMap((reading) => PANELS.map((panel) => `/api/v1/nodes/gex/SPY${panel}?${reading}`)),
      ...['/api/v1/nodes/gex/SPY/history', '/api/v1/flow/SPY', '/api/v1/flow/SPY/prints'],
      ...[...fresh.app.context.universe.tickers].map((ticker) => `/api/v1/nodes/gex/${ticker}`),
    ];
    let cost = 0;
    for (const path of paths) {
      const answer = await paid('GET', path, undefined, fresh);
      expect([path, answer.status]).toEqual([path, 200]);
      cost += answer.cost;
    }
    expect(paths.length).toBeGreaterThan(85);
    expect(cost).toBeLessThan(400);
  });
});

test('a call over MCP costs the same tokens as over REST', async () => {
  await using poor = await startService({ rateLimit: '3/h' });
  const call = async (ticker: string) => {
    const message = modern(1, 'tools/call', { name: 'get_live_gex_nodes', arguments: { ticker } });
    const headers = { ...headersOf('tools/call'), 'Mcp-Name': 'get_live_gex_nodes' };
    const answer = await poor.request('POST', '/mcp', { body: message, headers });
    return JSON.stringify(await answer.json());
  };
  expect(await call('NVDA')).toContain('call_wall');
  expect(await call('SPY')).toMatch(
    /needs more of the rate limit than is left\. Wait \d+ seconds and ask again, or ask for less at a time\./,
  );
});

test.each(Object.entries(prices).filter(([, price]) => typeof price === 'number') as [string, number][])(
  'the documentation states the price %s, %i',
  (_name, price) => {
    const [, section = ''] = readFileSync(join(ROOT, 'docs/rest.md'), 'utf8').split('## What requests cost');
    expect(section).toContain(price.toLocaleString('en-US'));
  },
);
