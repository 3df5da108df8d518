import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolView } from '../../src/operations/engine/perform.ts';
import { findOperation, TOOLS } from '../../src/operations/registry.ts';
import { writeChain } from '../support/chain-file.ts';
import { computeLevels, type Served, startServed } from '../support/service.ts';
import { folderForTests } from '../support/test-folder.ts';
import { CLIENT_NAMES, CLIENTS, connectNew, keyOf, type McpClient } from './connect.ts';

/**
 * Hosts that do not pass on the arguments of a model as they are. The model cannot correct what its host does, so every call that is valid
 * must have the same answer in each host.
 */
type Arguments = Readonly<Record<string, unknown>>;

const inputOf = (tool: string) => toolView(findOperation(tool)!).input;
const fieldsOf = (tool: string) => Object.keys(inputOf(tool).properties);

const HOSTS: Readonly<Record<string, (tool: string, args: Arguments) => Arguments>> = {
  'CrewAI, which sends null for every optional argument that is not set': (tool, args) => ({
    ...args,
    ...Object.fromEntries(fieldsOf(tool).flatMap((field) => (field in args ? [] : [[field, null]]))),
  }),
  'Claude Code, which sends numbers, booleans and lists as texts of JSON': (_tool, args) =>
    Object.fromEntries(
      Object.entries(args).map(([field, value]) => [field, typeof value === 'string' ? value : JSON.stringify(value)]),
    ),
  'OpenAI in strict mode, which sends every key in the order of the schema': (tool, args) =>
    Object.fromEntries(fieldsOf(tool).map((field) => [field, args[field] ?? null])),
  'a form, which sends every value as a text, and an empty text for each that is not set': (tool, args) =>
    Object.fromEntries(fieldsOf(tool).map((field) => [field, field in args ? String(args[field]) : ''])),
};

const EXPIRY = '2026-09-18';
/** Stands for the cursor of the second page. */
const NEXT = 'next_cursor';
const AT = '2026-08-19';
const SPX = { ticker: 'SPX' };
const GREEKS = { put_call: 'C', spot: 100, strike: 105, tte: 0.25, iv: 0.22, rate: 0.04 };
const MERTON = { ...SPX, spot_price: 100, ambush_strike: 105 };
const ENERGY = { ...SPX, whale_fiat_kinetic: 1e8, gex_potential_friction: 9e8, iv_crush_factor: 1 };
const CONTAGION = { single_name_ticker: 'JPM', whale_fiat: 1e9, current_iv: 1, iv_ceiling: 0.5 };

/** Valid calls of each tool. Together, the calls of a tool have every argument of the tool, and each optional one is missing in a call. */
const CALLS: Readonly<Record<string, readonly Arguments[]>> = {
  compute_options_greeks: [GREEKS, { ...GREEKS, dividend: 0.01 }],
  get_live_gex_nodes: [SPX, { ...SPX, expiry: EXPIRY }, { ...SPX, at: AT }],
  get_whale_prints: [
    { ...SPX, target_expiry: EXPIRY },
    { ...SPX, target_expiry: EXPIRY, at: AT },
  ],
  calculate_merton_probability: [MERTON, { ...MERTON, stag_prob: 1, days_to_expiry: 7, at: AT }],
  calculate_kelly_sizing: [{ win_prob: 0.55 }, { win_prob: 0.55, payout_ratio: 2, fractional_kelly: 1 }],
  run_strategic_omni_radar: [SPX, { ...SPX, target_dte: 7, limit: 3 }, { ...SPX, expiry: EXPIRY, at: AT }],
  evaluate_market_hamiltonian: [ENERGY, { ...ENERGY, at: AT }],
  detect_lethal_nodes: [SPX, { ...SPX, expiry: EXPIRY, limit: 3 }, { ...SPX, at: AT, limit: 2, cursor: NEXT }],
  evaluate_etf_contagion: [CONTAGION, { ...CONTAGION, at: AT }],
  get_levels_history: [
    SPX,
    { ...SPX, from: '2026-08-18', to: '2026-08-20', per: 'snapshot', horizon: '35d' },
    { ...SPX, compare_with: 'previous_close' },
    { ...SPX, compare_with: '2026-08-18', at: AT },
  ],
  get_hedging_profile: [
    SPX,
    { ...SPX, moves: [-2, 2], expiry: EXPIRY, format: 'image' },
    { ...SPX, moves: [5], smile_dynamics: 'ssr=1.5', at: AT },
  ],
  screen_tickers: [
    {},
    { tickers: ['SPX', 'JPM'], where: ['net_gex_mil<1000', 'spot_vs_flip=above'], sort_by: 'ticker', order: 'desc' },
    { tickers: ['SPX'], limit: 5, horizon: 'session', at: AT },
  ],
  get_option_quotes: [
    SPX,
    { ...SPX, expiry: EXPIRY, put_call: 'C', near_delta: 0.25, limit: 3 },
    { ...SPX, expiry: EXPIRY, near_pct_from_spot: -5, at: AT },
    { ...SPX, expiry: EXPIRY, strike_min: 95, strike_max: 105 },
    { strike_min: 80, put_call: 'P', expiry: EXPIRY, ...SPX, limit: 1, cursor: NEXT },
  ],
};

const folder = folderForTests();
let server: Served;
let client: McpClient;
beforeAll(async () => {
  for (const [day, spot] of [
    ['2026-08-18', 98],
    ['2026-08-19', 101],
    ['2026-08-20', 104],
  ]) {
    for (const ticker of ['SPX', 'JPM']) {
      const path = join(folder, `${ticker}-${day}.csv`);
      writeChain(path, ticker, `${day}T16:00:00-04:00`);
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('-04:00,100,', `-04:00,${spot},`));
    }
  }
  server = await startServed({ feed: `files:${folder}` });
  await computeLevels(server.service);
  client = await connectNew('legacy', server.url, keyOf(server.service));
});
afterAll(async () => {
  await client.close();
  await server.close();
});

interface Answer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent: { readonly provenance: { readonly notes: readonly string[] } };
}

async function ask(name: string, args: unknown, of = client) {
  const answer = (await of.callTool({ name, arguments: args as Record<string, unknown> })) as unknown as Answer;
  expect(answer.isError, `${name} ${JSON.stringify(args)}: ${answer.content[0]?.text}`).toBeFalsy();
  // The ages depend on the time of each answer.
  const body = JSON.parse(
    JSON.stringify(answer.structuredContent).replaceAll(/"(age_s|age)":("[^"]*"|\d+)/g, '"$1":0'),
  );
  const { notes, ...provenance } = body.provenance;
  return { notes: notes as string[], figures: { ...body, provenance }, pictures: answer.content.length - 1 };
}

/** Returns the arguments with the cursor of the second page in place of `NEXT`. */
async function withCursor(tool: string, { cursor, ...args }: Arguments): Promise<Arguments> {
  if (cursor === undefined) return args;
  const { figures } = await ask(tool, args);
  return { ...args, cursor: (figures as { next_cursor: string }).next_cursor };
}

const REPAIRED = /^Arguments were repaired: /;

describe.each(Object.entries(HOSTS))('%s', (_name, sent) => {
  test.each(Object.keys(CALLS))('gets the same answers of %s', async (tool) => {
    for (const call of CALLS[tool]!) {
      const args = await withCursor(tool, call);
      const plain = await ask(tool, args);
      const answer = await ask(tool, sent(tool, args));
      expect(answer.figures).toEqual(plain.figures);
      expect(answer.pictures).toBe(plain.pictures);
      expect(answer.notes.filter((each) => !REPAIRED.test(each))).toEqual(plain.notes);
      // The order of the arguments has no meaning.
      const wasRepaired = !Bun.deepEquals(sent(tool, args), args);
      expect(answer.notes.filter((each) => REPAIRED.test(each))).toHaveLength(wasRepaired ? 1 : 0);
    }
  });
});

test.each(TOOLS.map(({ name }) => name))(
  'the calls of %s have every argument, and leave out each optional one',
  (tool) => {
    const { required = [] } = inputOf(tool);
    const calls = CALLS[tool]!.map((args) => Object.keys(args));
    const optional = fieldsOf(tool).filter((field) => !required.includes(field));
    expect([...new Set(calls.flat())].sort()).toEqual(fieldsOf(tool).toSorted());
    expect(optional.filter((field) => calls.every((fields) => fields.includes(field)))).toEqual([]);
  },
);

/** Arguments that only MCP reads, each with arguments that have the same meaning. */
const READ: readonly (readonly [tool: string, given: Arguments, meant: Arguments])[] = [
  ['get_live_gex_nodes', { ...SPX, expiry: null, at: null }, SPX],
  ['get_live_gex_nodes', { ...SPX, at: '' }, SPX],
  ['get_live_gex_nodes', { ...SPX, at: 'now' }, SPX],
  ['get_live_gex_nodes', { ...SPX, at: '2026-08-19T16:00' }, { ...SPX, at: '2026-08-19T16:00:00-04:00' }],
  ['get_live_gex_nodes', { ...SPX, at: '2026-08-19 16:00' }, { ...SPX, at: '2026-08-19T16:00:00-04:00' }],
  ['run_strategic_omni_radar', { ...SPX, limit: '5' }, { ...SPX, limit: 5 }],
  ['get_hedging_profile', { ...SPX, moves: '[-1,1]' }, { ...SPX, moves: [-1, 1] }],
  ['screen_tickers', { tickers: '["SPX"]' }, { tickers: ['SPX'] }],
  ['screen_tickers', { tickers: 'SPX,JPM' }, { tickers: ['SPX', 'JPM'] }],
  ['compute_options_greeks', { ...GREEKS, put_call: 'call' }, GREEKS],
  ['compute_options_greeks', { ...GREEKS, put_call: 'c', spot: '100' }, GREEKS],
  ['get_levels_history', { ...SPX, compare_with: 'prev_close' }, { ...SPX, compare_with: 'previous_close' }],
  ['get_levels_history', { ...SPX, compare_with: 'yesterday', at: AT }, { ...SPX, compare_with: '2026-08-18', at: AT }],
];

describe('only MCP reads', () => {
  test.each(READ)('in %s %j', async (tool, given, meant) => {
    const answer = await ask(tool, given);
    expect(answer.figures).toEqual((await ask(tool, meant)).figures);
    expect(answer.notes.filter((each) => REPAIRED.test(each))).toHaveLength(1);
    const rest = await server.service.request('POST', `/api/v1/tools/${tool}`, { body: given });
    expect(rest.status).toBe(422);
    expect(await rest.json()).toMatchObject({ code: expect.stringMatching(/^(?:invalid_body|unprocessable)$/) });
  });

  test('full-width letters of tickers', async () => {
    const answer = await ask('get_live_gex_nodes', { ticker: 'ＳＰＸ' });
    expect(answer.figures).toEqual((await ask('get_live_gex_nodes', SPX)).figures);
    const { contents } = await client.readResource({ uri: 'zomma://gex/ＳＰＸ' });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({ ticker: 'SPX' });
    const rest = await server.service.request('GET', `/api/v1/nodes/gex/${encodeURIComponent('ＳＰＸ')}`);
    expect(rest.status).toBe(400);
  });
});

test('a query of REST is as strict as a body', async () => {
  for (const query of ['at=2026-08-19T16:00', 'at=now', 'at=', 'expiries=today']) {
    expect((await server.service.request('GET', `/api/v1/nodes/gex/SPX?${query}`)).status).toBe(400);
  }
});

describe.each(CLIENT_NAMES)('%s', (name) => {
  test.each<[args: unknown]>([[null], [undefined], [{}], [{ tickers: null, where: '', limit: '5' }]])(
    'may send the arguments %j',
    async (args) => {
      const own = await CLIENTS[name](server.url, keyOf(server.service));
      expect((await ask('screen_tickers', args, own)).figures).toEqual((await ask('screen_tickers', {})).figures);
      await own.close();
    },
  );

  test.each<[tool: string, args: unknown, text: RegExp]>([
    [
      'get_live_gex_nodes',
      { ticker: null },
      /^\/ticker is missing, and must be a string of 1 to 40 characters: Symbol or name, e\.g\. BRK\.B\. Fields: ticker, expiry \(optional\)/,
    ],
    ['get_live_gex_nodes', null, /^\/ticker is missing/],
    ['calculate_kelly_sizing', { win_prob: '' }, /^\/win_prob is missing, and must be a finite number/],
    ['calculate_kelly_sizing', { win_prob: 'half' }, /^\/win_prob must be a finite number/],
    ['get_live_gex_nodes', { ticker: 'SPX', other: null }, /^\/other is not a field of this request/],
    [
      'get_levels_history',
      { ticker: 'SPX', compare_with: 'last week' },
      /^\/compare_with must be previous_close, a date/,
    ],
    [
      'get_levels_history',
      { ticker: 'SPX', compare_with: 'yesterday' },
      /must be earlier than .* Use previous_close for/,
    ],
  ])('reads why %s refuses %j', async (tool, args, text) => {
    const own = await CLIENTS[name](server.url, keyOf(server.service));
    const answer = (await own.callTool({ name: tool, arguments: args as never })) as unknown as Answer;
    expect(answer.isError).toBe(true);
    expect(answer.content[0]!.text).toMatch(text);
    await own.close();
  });
});
