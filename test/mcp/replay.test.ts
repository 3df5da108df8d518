import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sixDigits } from '../../src/mcp/six-digits.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { writeChain } from '../support/chain-file.ts';
import { computeLevels, type Served, startServed } from '../support/service.ts';
import { folderForTests } from '../support/test-folder.ts';
import { exampleArguments } from '../support/tool-arguments.ts';
import { CLIENT_NAMES, CLIENTS, keyOf, type McpClient, READER } from './connect.ts';

/** The argument `at` of the tools, with the official clients over real sockets: answers as of a past moment. */
const DAYS = [
  ['2026-08-18', 98],
  ['2026-08-19', 101],
  ['2026-08-20', 104],
] as const;
const ARGUMENTS: Readonly<Record<string, object>> = {
  get_whale_prints: { target_expiry: '2026-09-18' },
  calculate_merton_probability: { spot_price: 100, ambush_strike: 105 },
  evaluate_market_hamiltonian: { whale_fiat_kinetic: 1, gex_potential_friction: 1, iv_crush_factor: 1 },
};
/** The arguments of tools that have no argument `ticker`. */
const WITHOUT_TICKER: Readonly<Record<string, object>> = {
  evaluate_etf_contagion: { single_name_ticker: 'JPM', whale_fiat: 1e9, current_iv: 1, iv_ceiling: 0.5 },
  screen_tickers: { tickers: ['SPX', 'JPM'] },
};
const MARKET_TOOLS = TOOLS.filter(({ ofMarket }) => ofMarket).map(({ name }) => name);
const argumentsOf = (name: string) => WITHOUT_TICKER[name] ?? { ...exampleArguments(name, 'SPX'), ...ARGUMENTS[name] };

const folder = folderForTests();
let server: Served;
beforeAll(async () => {
  for (const [day, spot] of DAYS) {
    for (const ticker of ['SPX', 'JPM']) {
      const path = join(folder, `${ticker}-${day}.csv`);
      writeChain(path, ticker, `${day}T16:00:00-04:00`);
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('-04:00,100,', `-04:00,${spot},`));
    }
  }
  server = await startServed({ feed: `files:${folder}` });
  await computeLevels(server.service);
});
afterAll(() => server.close());

describe.each(CLIENT_NAMES)('%s', (name) => {
  let client: McpClient;
  beforeAll(async () => {
    client = await CLIENTS[name](server.url, keyOf(server.service), READER);
    await client.listTools();
  });
  afterAll(() => client.close());

  const levels = async (args: object) => {
    const answer = await client.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPX', ...args } });
    const { spot_price } = (answer.structuredContent ?? {}) as { spot_price?: number };
    const { as_of, age_s } = (answer._meta?.['zomma/provenance'] ?? {}) as { as_of?: string; age_s?: number };
    const content = answer.content as { type: string; text: string }[];
    return { answer, spot_price, as_of, age_s, text: content[0]!.text, types: content.map(({ type }) => type) };
  };

  test.each(DAYS)('gives the figures of %s', async (day, spot) => {
    const found = await levels({ at: `${day}T16:00:00-04:00` });
    expect(found).toMatchObject({ spot_price: spot, as_of: `${day}T20:00:00.000Z`, age_s: 0 });
    // The resources have only the newest columns, so they are not linked.
    expect(found.types).toEqual(['text']);
  });

  test.each(MARKET_TOOLS)('the stale quotes of %s have one note, and those of a replay none', async (tool) => {
    const staleIn = async (args: object) => {
      const { content } = await client.callTool({ name: tool, arguments: { ...argumentsOf(tool), ...args } });
      return JSON.stringify(content).match(/Stale: the quotes are \d+ days old\./g) ?? [];
    };
    expect([await staleIn({}), await staleIn({ at: '2026-08-20T16:00:00-04:00' })]).toEqual([[expect.any(String)], []]);
  });

  test('a date means its end, and without a moment the newest snapshot answers', async () => {
    expect(await levels({ at: '2026-08-19' })).toMatchObject({ spot_price: 101, age_s: 8 * 3_600 });
    const newest = await levels({});
    expect(newest).toMatchObject({ spot_price: 104, as_of: '2026-08-20T20:00:00.000Z' });
    expect(newest.types).toEqual(['text', 'resource_link', 'resource_link']);
  });

  test.each([
    ['before the first snapshot', '2026-08-17', /^No option chain of SPX is stored for 2026-08-18T03:59:59\.999Z\. \S/],
    ['in the future', '2099-01-01', /^\/at must not be in the future/],
    ['not a day of the calendar', '2026-02-30', /^\/at must be a date YYYY-MM-DD of New York, or an instant/],
    ['of a year with six digits', '+010000-01-01T00:00:00Z', /^\/at must be a date/],
    ['with the name of a zone', '2026-08-19T20:00:00+00:00[UTC]', /^\/at must be a date/],
    ['a number', 20260819, /^\/at must be a string$/],
  ])('a moment %s is an error of the tool', async (_name, at, message) => {
    const { answer, text } = await levels({ at });
    expect(answer.isError).toBe(true);
    expect(text).toMatch(message);
  });

  test('a tool without market data does not take it', async () => {
    const args = { win_prob: 0.6, at: '2026-08-19' };
    const answer = await client.callTool({ name: 'calculate_kelly_sizing', arguments: args });
    expect(answer.isError).toBe(true);
    expect((answer.content as { text: string }[])[0]!.text).toContain('/at is not a field of this request');
  });

  test.each(MARKET_TOOLS)('%s answers as over REST', async (tool) => {
    const args = { ...argumentsOf(tool), at: '2026-08-18' };
    const answer = await client.callTool({ name: tool, arguments: args });
    const rest = await server.service.request('POST', `/api/v1/tools/${tool}`, { body: args });
    expect([rest.status, answer.isError ?? false]).toEqual([200, false]);
    const { provenance, ...body } = answer.structuredContent as { provenance: { as_of: string } };
    expect(body).toEqual(sixDigits((await rest.json()) as Record<string, unknown>));
    const asOf = '2026-08-18T20:00:00.000Z';
    expect([provenance.as_of, rest.headers.get('x-data-as-of')]).toEqual([asOf, asOf]);
  });
});
