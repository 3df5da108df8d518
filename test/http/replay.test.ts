import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS } from '../../src/operations/registry.ts';
import { writeChain } from '../support/chain-file.ts';
import { computeLevels, type Service, startService } from '../support/service.ts';
import { folderForTests } from '../support/test-folder.ts';
import { exampleArguments } from '../support/tool-arguments.ts';

/** `at=`: every market route and tool answers as of that moment. The answer is equal byte for byte whenever it is requested. */
const DAYS = ['2026-08-18', '2026-08-19', '2026-08-20', '2026-08-21'];
const LATER = '2026-08-24';
const instant = (day: string) => `${day}T16:00:00-04:00`;
const TICKERS = ['SPX', 'SPY', 'JPM'];

const ARGUMENTS: Record<string, Record<string, unknown>> = {
  get_whale_prints: { ticker: 'SPX', target_expiry: '2026-09-18' },
  calculate_merton_probability: { ticker: 'SPX', spot_price: 100, ambush_strike: 105 },
  evaluate_etf_contagion: { single_name_ticker: 'JPM', whale_fiat: 1e9, current_iv: 1, iv_ceiling: 0.5 },
  get_gex_combined: { ticker: 'SPX' },
  screen_tickers: { tickers: TICKERS, sort_by: 'whipsaw_risk_index' },
  evaluate_market_hamiltonian: {
    ...{ ticker: 'SPX', whale_fiat_kinetic: 1, gex_potential_friction: 1, iv_crush_factor: 1 },
  },
};
const argumentsOf = (name: string) => ARGUMENTS[name] ?? exampleArguments(name, 'SPX');

const market = OPERATIONS.filter(({ ofMarket }) => ofMarket);
const routes = market.filter(({ rest }) => rest?.method === 'GET');
const tools = market.filter(({ tool }) => tool);

const folder = folderForTests();
let service: Service;

function writeDay(day: string): void {
  for (const ticker of TICKERS) writeChain(join(folder, `${ticker}-${day}.csv`), ticker, instant(day));
  const row = (contract: string, price: number) => `${day} 19:30:00+00,${contract},${price},500,ask`;
  writeFileSync(
    join(folder, `tape-${day}.csv`),
    `executed_at,option_chain_id,price,size,side\n${row('SPX260918C00105000', 3)}\n${row('SPX260918P00095000', 2 + DAYS.indexOf(day))}\n`,
  );
  writeFileSync(join(folder, `closes-${day}.csv`), `date,ticker,close\n${day},SPX,${100 + DAYS.indexOf(day)}\n`);
}

async function load(): Promise<void> {
  await service.load();
  await computeLevels(service);
}

/** Returns the answers of every route and tool at a moment, by name. */
async function answersAt(at: string): Promise<Record<string, string>> {
  const answers: Record<string, string> = {};
  for (const { name, rest } of routes) {
    const path = rest!.path.replace('{ticker}', 'SPX');
    const response = await service.request('GET', `${path}?at=${encodeURIComponent(at)}`);
    // The first day has no earlier snapshot with which its open interest could be compared.
    const isFirst = name === 'get_open_interest_changes' && at === instant(DAYS[0]!);
    expect([name, response.status]).toEqual([name, isFirst ? 400 : 200]);
    if (isFirst) continue;
    answers[`GET ${name}`] = `${response.headers.get('x-data-age')} ${await response.text()}`;
  }
  for (const { name } of tools) {
    for (const extended of [true, false]) {
      const body = { ...argumentsOf(name), at };
      const response = await service.request('POST', `/api/v1/tools/${name}?extended=${extended}`, { body });
      expect([name, response.status]).toEqual([name, 200]);
      answers[`POST ${name} ${extended}`] = await response.text();
    }
  }
  return answers;
}

beforeAll(async () => {
  for (const day of DAYS) writeDay(day);
  service = await startService({ feed: `files:${folder}` });
  await load();
});
afterAll(() => service.close());

test('there are routes and tools of the market', () => {
  expect(routes.length).toBeGreaterThanOrEqual(8);
  expect(tools.length).toBeGreaterThanOrEqual(6);
});

test('answers for a moment stay the same: on repetition, after later data, and after a restart', async () => {
  const moments = DAYS.map((day) => instant(day));
  const before = await Promise.all(moments.map(answersAt));
  expect(new Set(before.map((each) => each['GET get_live_gex_nodes'])).size).toBe(DAYS.length);
  expect(new Set(before.map((each) => each['POST get_live_gex_nodes true'])).size).toBe(DAYS.length);
  expect(new Set(before.map((each) => each['POST get_whale_prints true'])).size).toBe(DAYS.length);
  expect(await Promise.all(moments.map(answersAt))).toEqual(before);
  writeDay(LATER);
  await load();
  expect(await Promise.all(moments.map(answersAt))).toEqual(before);
  await service.reopen();
  expect(await Promise.all(moments.map(answersAt))).toEqual(before);
});

describe('the moment', () => {
  const get = async (at: string) => {
    const response = await service.request('GET', `/api/v1/nodes/gex/SPX?at=${encodeURIComponent(at)}`);
    return [response.status, response.headers.get('x-data-as-of'), response.headers.get('x-data-age')];
  };
  test.each([
    ['of a snapshot', instant('2026-08-19'), '2026-08-19T20:00:00.000Z', 0],
    ['between two snapshots', '2026-08-20T15:59:59-04:00', '2026-08-19T20:00:00.000Z', 86_399],
    ['that is a date means the end of that day', '2026-08-20', '2026-08-20T20:00:00.000Z', 8 * 3_600],
    ['in UTC', '2026-08-20T20:00:00Z', '2026-08-20T20:00:00.000Z', 0],
  ])('%s', async (_name, at, asOf, age) => {
    expect(await get(at)).toEqual([200, asOf, String(age)]);
  });
  test.each([
    ['before the first snapshot', '2026-08-17', 'no_chain'],
    ['in the future', '2099-01-01', 'invalid_parameter'],
    ['not a day of the calendar', '2026-02-30', 'invalid_parameter'],
    ['not a moment', 'yesterday', 'invalid_parameter'],
    ['empty', '', 'invalid_parameter'],
  ])('that is %s is refused', async (_name, at, code) => {
    const response = await service.request('GET', `/api/v1/nodes/gex/SPX?at=${at}`);
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, code]);
  });
  test('is the same in the query of a tool as in its arguments; an invalid one in a body is 422', async () => {
    const post = (query: string, body: Record<string, unknown>) =>
      service.request('POST', `/api/v1/tools/get_live_gex_nodes?extended=true${query}`, { body });
    const asked = await (await post('', { ticker: 'SPX', at: '2026-08-19' })).text();
    expect(await (await post('&at=2026-08-19', { ticker: 'SPX' })).text()).toBe(asked);
    expect(JSON.parse(asked).provenance).toMatchObject({
      as_of: '2026-08-19T20:00:00.000Z',
      age_s: 28_800,
      stale: false,
    });
    expect((await post('', { ticker: 'SPX', at: '2099-01-01' })).status).toBe(422);
  });
  test('of a first page applies to all its pages', async () => {
    const page = async (args: Record<string, unknown>) => {
      const body = { ticker: 'SPX', ...args };
      const response = await service.request('POST', '/api/v1/tools/detect_lethal_nodes', { body });
      expect(response.status).toBe(200);
      return (await response.json()) as { top_nodes: unknown[]; next_cursor: string };
    };
    const { next_cursor, top_nodes } = await page({ at: '2026-08-19', limit: 1 });
    const second = await page({ cursor: next_cursor, limit: 1 });
    expect([...top_nodes, ...second.top_nodes]).toEqual((await page({ at: '2026-08-19', limit: 2 })).top_nodes);
    expect(second.top_nodes).not.toEqual((await page({ limit: 2 })).top_nodes.slice(1));
  });
  test('is refused by operations that read no market', async () => {
    const body = { win_prob: 0.6, at: '2026-08-19' };
    expect((await service.request('POST', '/api/v1/tools/calculate_kelly_sizing', { body })).status).toBe(422);
  });
});

test('the simulated market answers only for moments that it stores', async () => {
  await using simulated = await startService();
  const asOf = (await simulated.request('GET', '/api/v1/nodes/gex/SPY')).headers.get('x-data-as-of')!;
  const at = async (ms: number) => {
    const path = `/api/v1/nodes/gex/SPY?at=${new Date(ms).toISOString()}`;
    return (await simulated.request('GET', path)).status;
  };
  const ms = Date.parse(asOf);
  expect([await at(ms), await at(ms - 1)]).toEqual([200, 400]);
});
