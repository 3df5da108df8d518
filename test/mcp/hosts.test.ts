import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { instructionsFor } from '../../src/mcp/instructions.ts';
import { sixDigits } from '../../src/mcp/six-digits.ts';
import { CONTRACT_TOOLS, TOOLS } from '../../src/operations/registry.ts';
import { servedForTests } from '../support/for-tests.ts';
import { computeLevels } from '../support/service.ts';
import { tokensOf } from '../support/tokens.ts';
import { connectNew, keyOf, listed, type McpClient, READER, VALID } from './connect.ts';

/**
 * What a model sees in three kinds of hosts. Every host shows the names, the descriptions and the input schemas of the tools. Output schemas
 * and `_meta` are shown by none of them.
 */
const { server, service } = servedForTests();
let client: McpClient;
let reader: McpClient;
beforeAll(async () => {
  await computeLevels(service);
  client = await connectNew('legacy', server.url, keyOf(service));
  reader = await connectNew('legacy', server.url, keyOf(service), READER);
});
afterAll(async () => {
  await client.close();
  await reader.close();
});

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

const textOf = ({ content }: ToolResult) => content.flatMap(({ text }) => text ?? []).join('\n');
const methodsUri = (tool: string) => `zomma://methods/${tool}`;

interface Host {
  readonly of: () => McpClient;
  readonly answer: (result: ToolResult) => string;
  readonly methods?: (tool: string) => Promise<string>;
}

/** The hosts, each with what it shows of an answer, and with the methods of a tool as its model can read them. */
const HOSTS: Readonly<Record<string, Host>> = {
  'text and resources': {
    of: () => reader,
    answer: textOf,
    methods: async (tool) =>
      ((await reader.readResource({ uri: methodsUri(tool) })).contents[0] as { text: string }).text,
  },
  // An error has no structured content: every host shows its text.
  'structured content alone': {
    of: () => client,
    answer: (result) => (result.structuredContent ? JSON.stringify(result.structuredContent) : textOf(result)),
  },
  'tools alone': {
    of: () => client,
    answer: textOf,
    methods: async (tool) =>
      textOf((await client.callTool({ name: 'read_resource', arguments: { uri: methodsUri(tool) } })) as ToolResult),
  },
};

const REST_PATH = /\/api\/v\d|\b(?:GET|POST) \//;

describe.each(Object.entries(HOSTS))('a host that shows %s', (_name, host) => {
  const ask = async (name: string, args: object) =>
    (await host.of().callTool({ name, arguments: args as Record<string, unknown> })) as ToolResult;
  const shown = async (tool: string) => {
    const { tools } = await host.of().listTools();
    const { name, description, inputSchema } = tools.find((each) => each.name === tool)!;
    const result = await ask(tool, listed(VALID[tool]!, service));
    expect(result.isError).toBeFalsy();
    return { definition: JSON.stringify({ name, description, inputSchema }), answer: host.answer(result) };
  };

  test.each(TOOLS.map(({ name, tool }) => [name, tool!.units] as const))(
    'shows what the figures of %s mean',
    async (tool, units) => {
      const { definition, answer } = await shown(tool);
      expect(units, `${tool} lacks the units and signs of its figures`).not.toBeEmpty();
      for (const words of units) expect(definition + answer, `units of ${tool}`).toContain(words);
      expect(definition + answer).not.toMatch(REST_PATH);
      const methods = await host.methods?.(tool);
      if (methods !== undefined) {
        expect(methods, `docs/tool-methods.md has a section of ${tool}`).toStartWith(`## ${tool}`);
        expect(tokensOf(methods)).toBeLessThanOrEqual(900);
        expect(methods).not.toMatch(REST_PATH);
      }
    },
  );

  test.each(TOOLS.filter(({ ofMarket }) => ofMarket).map(({ name }) => name))(
    'shows age, source and caveats of %s',
    async (tool) => {
      const { provenance } = JSON.parse((await shown(tool)).answer) as { provenance: Record<string, unknown> };
      expect(provenance).toMatchObject({
        as_of: expect.stringMatching(/^20\d\d-\d\d-\d\dT/),
        age: expect.stringMatching(/^\d+ (?:s|min|h|days)$/),
        market: expect.stringMatching(/^(?:open until|closed since) /),
        stale: false,
        simulated: true,
        source: 'simulated',
        notes: expect.arrayContaining(['Simulated market: no real quotes.']),
      });
    },
  );

  test.each<[string, string, object, RegExp]>([
    [
      'volatility in percent and days as years',
      'compute_options_greeks',
      { put_call: 'C', spot: 100, strike: 100, tte: 28, iv: 65, rate: 0.04 },
      /65 means 6500 % per year.*tte 28 means 28 years.*"price":/,
    ],
    [
      'a spot ten times off',
      'calculate_merton_probability',
      { ticker: 'SPY', spot_price: 6.4, ambush_strike: 7 },
      /90?\.\d* % below the spot of the snapshot|99\.\d* % below/,
    ],
    [
      'a side and a horizon that the caller left out',
      'calculate_merton_probability',
      { ticker: 'SPY', spot_price: 640, ambush_strike: 600 },
      /"side":"at_or_below","horizon_ends_at":"20\d\d-.*"chain_spot_price":/,
    ],
    [
      'touching a strike, and the price of the option by the jump model',
      'calculate_merton_probability',
      { ticker: 'SPY', spot_price: 640, ambush_strike: 600, days_to_expiry: 30 },
      /"merton_probability":.*"touch_probability":0\.\d+,"touch_low":0\.\d+,"touch_high":0\.\d+,"put_call":"P","option_price":[\d.]+,"jump_model_price":[\d.]+/,
    ],
    [
      'realised against implied volatility',
      'run_strategic_omni_radar',
      { ticker: 'NVDA', target_dte: 60 },
      /"realised_volatility":(?:0\.\d+|null),"implied_volatility":0\.\d+/,
    ],
    [
      'a probability that prices imply',
      'calculate_kelly_sizing',
      { win_prob: 0.294, payout_ratio: 3 },
      /prices imply has no edge.*A spread has more than two outcomes/,
    ],
    [
      'a spill that was not found',
      'evaluate_etf_contagion',
      { single_name_ticker: 'NVDA', whale_fiat: 1e9, current_iv: 0.2, iv_ceiling: 0.5 },
      /etf_proxy is null, because current_iv 0\.2 is below iv_ceiling 0\.5/,
    ],
    [
      'a company without a sector ETF',
      'evaluate_etf_contagion',
      { single_name_ticker: 'SPY', whale_fiat: 1e9, current_iv: 1, iv_ceiling: 0.5 },
      /the universe names no sector ETF for SPY/,
    ],
    [
      'a ticker by its old symbol',
      'get_live_gex_nodes',
      { ticker: 'FB' },
      /"ticker":"META".*\\"FB\\" was read as META\./,
    ],
    [
      'a regime that follows from the arguments alone',
      'evaluate_market_hamiltonian',
      { ticker: 'SPY', whale_fiat_kinetic: 1, gex_potential_friction: -5, iv_crush_factor: 1 },
      /The figures follow from the arguments alone/,
    ],
  ])('shows a note on %s', async (_what, tool, args, pattern) => {
    const result = await ask(tool, args);
    expect(host.answer(result)).toMatch(pattern);
  });

  test.each<[string, object, RegExp]>([
    ['get_live_gex_nodes', { ticker: 'NVDAA' }, /Nearest with data: NVDA, /],
    [
      'evaluate_etf_contagion',
      { single_name_ticker: 'NVDDA', whale_fiat: 1, current_iv: 1, iv_ceiling: 1 },
      /Nearest with/,
    ],
    [
      'evaluate_market_hamiltonian',
      { ticker: 'SPYY', whale_fiat_kinetic: 1, gex_potential_friction: 1, iv_crush_factor: 1 },
      /Nearest with data/,
    ],
    [
      'get_live_gex_nodes',
      { ticker: 'SPY', expiry: '2031-01-04' },
      /2031-01-04 is not a listed expiry.*Nearest listed: 20/,
    ],
    ['run_strategic_omni_radar', { ticker: 'SPY', expiry: '2031-01-04' }, /is not a listed expiry.*Nearest listed: 20/],
    ['detect_lethal_nodes', { ticker: 'SPY', expiry: '2020-02-30' }, /\/expiry must be a date of the calendar/],
    ['get_live_gex_nodes', { ticker: 'SPY', at: '2001-01-04' }, /No option chain of SPY is stored.*get_levels_history/],
    ['get_whale_prints', { ticker: 'SPY', target_expiry: '2031-01-04' }, /not a listed expiry.*Nearest listed/],
    ['get_levels_history', { ticker: 'SPY', compare_with: '2001-01-04' }, /No levels of SPY are stored up to/],
    ['get_option_quotes', { ticker: 'SPY', expiry: '2031-01-04' }, /is not a listed expiry.*Nearest listed: 20/],
    ['get_hedging_profile', { ticker: 'SPY', expiry: '2031-01-04' }, /is not a listed expiry.*Nearest listed: 20/],
  ])('shows a way on after an error of %s: %j', async (tool, args, pattern) => {
    const result = await ask(tool, args);
    expect(result.isError).toBe(true);
    expect(host.answer(result)).toMatch(pattern);
    expect(host.answer(result)).not.toMatch(REST_PATH);
  });
});

test.each(TOOLS.map(({ name }) => name))('%s answers as over REST, with six digits', async (tool) => {
  const args = listed(VALID[tool]!, service);
  const result = (await client.callTool({ name: tool, arguments: args })) as ToolResult;
  const rest = await service.request('POST', `/api/v1/tools/${tool}`, { body: args });
  const { provenance: _, ...body } = result.structuredContent!;
  expect(body).toEqual(sixDigits((await rest.json()) as Record<string, unknown>));
});

test('the instructions map questions to every tool, in at most 2 kB', () => {
  const instructions = instructionsFor(TOOLS);
  expect(Buffer.byteLength(instructions)).toBeLessThanOrEqual(2_048);
  for (const { name, tool } of TOOLS) {
    expect(tool!.question, `${name} lacks its question`).not.toBeEmpty();
    expect(instructions).toContain(`- ${tool!.question}: ${name}\n`);
  }
  expect(instructions).not.toMatch(REST_PATH);
  expect(instructions).toContain('dates of earnings');
  const contract = instructionsFor(CONTRACT_TOOLS);
  for (const tool of TOOLS) if (!CONTRACT_TOOLS.includes(tool)) expect(contract).not.toContain(tool.name);
});

/** Addresses that clients get wrong, each with what the error must say: the truth, and a way on. */
test.each<[string, RegExp]>([
  [
    'zomma://gex/SPY/strikes/2031-01-04',
    /2031-01-04 is not a listed expiry in the snapshot of SPY.*Nearest listed: 20/,
  ],
  ['zomma://gex/SPY/strikes/2001-01-04', /2001-01-04 is not a listed expiry.*Nearest listed: 20/],
  ['zomma://gex/SPY/strikes/next:0', /No contract of SPY settles within 0 days.*Nearest listed: 20/],
  ['zomma://gex/SPY/strikes/soon', /\/expiry must be a date.*0dte.*zomma:\/\/gex\/\{ticker\}\/expiries lists/],
  ['zomma://gex/SPY/quotes', /\/expiry must be a date/],
  ['zomma://gex/SPY/flow?near=5', /\/near is not a field.*Fields: days \(optional\), min_premium \(optional\), at/],
  ['zomma://gex/NVDAA', /Nearest with data: NVDA, /],
  ['zomma://gex/NVDAA/profile', /Nearest with data: NVDA, /],
  ['zomma://gex/NVDAA/record', /Nearest with data: NVDA, /],
  ['zomma://gex/%E0%A4%A', /There is no such resource\. Resources: zomma:\/\/universe/],
  ['zomma://gex/SPY/Profile', /There is no such resource\. Resources: zomma:\/\/universe/],
  ['zomma://gex', /There is no such resource\. Resources: zomma:\/\/universe/],
  [
    'zomma://methods/get_gex_nodes',
    /No tool or resource has this name\. Nearest: zomma:\/\/methods\/get_live_gex_nodes/,
  ],
  ['zomma://quotes/SPY', /There is no such resource/],
  ['https://example.com/', /There is no such resource/],
])('the error for %s is true and has a way on', async (uri, pattern) => {
  const error = await client.readResource({ uri }).catch((each: Error) => each);
  expect((error as Error).message).toMatch(pattern);
  expect((error as Error).message).not.toMatch(REST_PATH);
});

test.each(['zomma://gex/FB', 'zomma://gex/brk%2Fb', 'zomma://gex/%24META/profile'])('%s is understood', async (uri) => {
  const [content] = (await client.readResource({ uri })).contents;
  expect((JSON.parse((content as { text: string }).text) as { ticker: string }).ticker).toMatch(/^(?:META|BRK\.B)$/);
});

test('the universe says which tickers have data, and how old it is', async () => {
  const [content] = (await client.readResource({ uri: 'zomma://universe' })).contents;
  const universe = JSON.parse((content as { text: string }).text) as Record<string, object>;
  expect(Object.keys(universe.age_of_data!)).toHaveLength(10);
  expect(universe).toMatchObject({
    age_of_data: { SPY: expect.stringMatching(/^\d+ (?:s|min|h|days)$/) },
    without_data: [],
  });
});

test('no text of the listing names a REST path', async () => {
  const texts = [
    await client.listTools(),
    await client.listResources(),
    await client.listResourceTemplates(),
    await client.listPrompts(),
  ];
  expect(JSON.stringify(texts)).not.toMatch(REST_PATH);
});
