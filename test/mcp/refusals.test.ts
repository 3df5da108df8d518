import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { TSchema } from '@sinclair/typebox';
import { toolView } from '../../src/operations/engine/perform.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { servedForTests } from '../support/for-tests.ts';
import { computeLevels, startServed } from '../support/service.ts';
import { CLIENT_NAMES, CLIENTS, connectNew, keyOf, listed, type McpClient, VALID } from './connect.ts';

/**
 * A model sees the texts of refusals, and neither header fields nor the pages of the documentation. It can call tools and no REST route, and
 * it would take the tokens of the rate limit for those of its context.
 */
const OUT_OF_REACH =
  /\/api\/|\b(?:GET|POST|DELETE) \/|docs\/|\/docs|\.md\b|Retry-After|openapi|next:N|next:\[|\btokens?\b/i;

const { server, service } = servedForTests();
let client: McpClient;
beforeAll(async () => {
  await computeLevels(service);
  client = await connectNew('legacy', server.url, keyOf(service));
});
afterAll(() => client.close());

interface Answer {
  readonly isError?: boolean;
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

async function textOf(name: string, args: unknown): Promise<{ isError: boolean; text: string }> {
  const { isError = false, content } = (await client.callTool({ name, arguments: args as never })) as Answer;
  return { isError, text: content.flatMap(({ text }) => text ?? []).join('\n') };
}

/** Values that a field may not have, or that name something that does not exist. */
function badValues({ type, items }: TSchema): unknown[] {
  const any = [{}, true, 'soon', 'x'.repeat(50), '9999-12-31', '2001-01-04', '2026-02-30', 'next:5', '0dte', '\u202e'];
  if (type === 'array') return [...any, [], [null], Array(200).fill(1), ...badValues(items).map((each) => [each])];
  return [...any, [], -1, 0.5, 1e300, 'NVDAA', 'SPY~1~1', 'AAPL~1700000000000~5'];
}

/** Calls that contradict themselves, ask for too much or for data that is not there. */
const CONTRADICTIONS: readonly (readonly [tool: string, args: object])[] = [
  ['get_option_quotes', { ticker: 'SPY', put_call: 'C' }],
  ['get_option_quotes', { ticker: 'SPY', expiry: '0dte', near_delta: 0.2, near_pct_from_spot: 5 }],
  ['get_option_quotes', { ticker: 'SPY', expiry: '2031-01-04', strike_min: 5, strike_max: 1 }],
  ['get_levels_history', { ticker: 'SPY', from: '2026-11-02', compare_with: 'previous_close' }],
  ['get_levels_history', { ticker: 'SPY', from: '2026-11-02', to: '2026-11-01' }],
  ['get_levels_history', { ticker: 'SPY', from: '2001-11-02', to: '2001-11-03' }],
  ['get_levels_history', { ticker: 'SPY', compare_with: 'last week' }],
  ['get_levels_history', { ticker: 'SPY', compare_with: 'now' }],
  ['screen_tickers', { where: ['iv_rank=5', 'price>3'] }],
  ['screen_tickers', { where: ['regime<3'] }],
  ['read_resource', {}],
  ['read_resource', { uri: 'zomma://gex/SPY/strikes/friday' }],
  ['read_resource', { uri: 'https://example.com' }],
];

describe.each(TOOLS.map((tool) => [tool.name, toolView(tool).input] as const))('the refusals of %s', (name, input) => {
  const valid = () => listed(VALID[name]!, service);

  test('name only what a model can reach, for each value of each field', async () => {
    const calls = Object.entries(input.properties).flatMap(([field, schema]) =>
      badValues(schema).map((value) => ({ ...valid(), [field]: value })),
    );
    const missing = Object.keys(input.properties).map((field) => ({ ...valid(), [field]: undefined }));
    const refused: string[] = [];
    for (const args of [...calls, ...missing, {}, { ...valid(), 'a/b': 1 }, { extended: true, expiries: 'all' }]) {
      const { isError, text } = await textOf(name, args);
      expect(text).not.toMatch(OUT_OF_REACH);
      if (isError) refused.push(text);
    }
    expect(refused.length).toBeGreaterThan(calls.length / 2);
    const fields = new Set(refused.flatMap((text) => fieldsNamedIn(text)));
    expect([...fields].sort()).toEqual(Object.keys(input.properties).sort());
  });
});

/** Returns the names in the list of fields at the end of a refusal. */
function fieldsNamedIn(text: string): string[] {
  const [, list] = / Fields: ([^.]*)\.$/.exec(text) ?? [];
  return list?.split(', ').map((each) => each.replace(' (optional)', '')) ?? [];
}

test.each(CONTRADICTIONS)('the refusal of %s %j names only what a model can reach', async (tool, args) => {
  const { isError, text } = await textOf(tool, args);
  expect(isError).toBe(true);
  expect(text).not.toMatch(OUT_OF_REACH);
});

const NAMES = [
  'SPY',
  'NVDAA',
  'Z',
  '%20',
  '%E0%A4%A',
  'ﷺ'.repeat(40),
  encodeURIComponent('ﷺ'),
  '\u202e',
  'x'.repeat(41),
];
const ENDS = [
  '',
  '/profile',
  '/matrix',
  '/record',
  '/strikes',
  '/quotes',
  '/strikes/2001-01-04',
  '/strikes/2026-02-30',
];
const EXPIRIES = ['friday', 'next5', 'next:', 'next:0', 'next:99999', '0DTE', 'ALL', '2026-13-01', '-'];
const URIS = [
  ...NAMES.flatMap((name) =>
    [...ENDS, ...EXPIRIES.map((each) => `/strikes/${each}`)].map((end) => `zomma://gex/${name}${end}`),
  ),
  ...['zomma://', 'zomma://gex', 'zomma://methods/x', 'zomma://universe/x', '/api/v1/universe', 'x'.repeat(3_000), ''],
];

test('the refusals of resources name only what a model can reach', async () => {
  const refused: string[] = [];
  for (const uri of URIS) {
    const text = await client.readResource({ uri }).then(
      () => '',
      (error: Error) => error.message,
    );
    if (text === '') continue;
    refused.push(text);
    // The text repeats the address.
    const own = text.replace(uri, '');
    expect(own.replace('/api/v1/universe', '')).not.toMatch(OUT_OF_REACH);
    expect(own).not.toMatch(/Fields:|\(optional\)/);
  }
  expect(refused.length).toBeGreaterThan(URIS.length / 2);
});

test('errors of the protocol name only what a model can reach', async () => {
  const asked: (() => Promise<unknown>)[] = [
    () => client.callTool({ name: 'no_such_tool', arguments: {} }),
    () => client.callTool({ name: 'get_live_gex_nodes', arguments: 'SPY' as never }),
    () => client.callTool({ name: 5 as never }),
    () => client.getPrompt({ name: 'no_such_prompt' }),
    () => client.getPrompt({ name: 'ticker_brief', arguments: {} }),
    () => client.listResources({ cursor: 'x' }),
    () => client.subscribeResource({ uri: 'zomma://gex/SPY/strikes/friday/' }),
    () => client.complete({ ref: { type: 'ref/prompt', name: 5 as never }, argument: { name: 'ticker', value: '' } }),
  ];
  for (const ask of asked) {
    const error = await ask().then(
      () => undefined,
      (each: Error) => each,
    );
    expect(error).toBeInstanceOf(Error);
    expect(`${error!.message} ${JSON.stringify((error as { data?: unknown }).data ?? '')}`).not.toMatch(OUT_OF_REACH);
  }
});

test.each(['zomma://methods', 'zomma://universe', ...TOOLS.map(({ name }) => `zomma://methods/${name}`)])(
  '%s names no page of the documentation and no route',
  async (uri) => {
    const { contents } = await client.readResource({ uri });
    expect((contents[0] as { text: string }).text).not.toMatch(/\/api\/|docs\/|Retry-After/);
  },
);

describe.each(CLIENT_NAMES)('above the rate limit, %s', (name) => {
  /** Requests whose work costs tokens. */
  const ASKED: readonly (readonly [what: string, ask: (of: McpClient) => Promise<unknown>])[] = [
    ['a tool', (of) => of.callTool({ name: 'get_live_gex_nodes', arguments: { ticker: 'SPY' } })],
    ['a resource', (of) => of.readResource({ uri: 'zomma://gex/SPY' })],
  ];
  test.each(ASKED)('reads from %s how many seconds to wait', async (_what, ask) => {
    await using limited = await startServed({ rateLimit: '20/h' });
    const own = await CLIENTS[name](limited.url, keyOf(limited.service));
    await own.listTools();
    // One token is left for the request, and none for its work.
    const drain = () => limited.service.request('GET', '/api/v1/universe');
    while (!(await drain()).headers.get('ratelimit')!.includes(';r=1;'));
    const refused = async () => {
      const answer = await ask(own).catch((error: Error) => error);
      return answer instanceof Error ? answer.message : (answer as Answer).content[0]!.text!;
    };
    const [ofWork, ofRequest] = [await refused(), await refused()];
    expect(ofWork).toMatch(
      /needs more of the rate limit than is left\. Wait \d+ seconds and ask again, or ask for less/,
    );
    expect(ofRequest).toMatch(/too many requests.*Wait \d+ seconds and ask again, or send fewer requests\./);
    expect(ofWork + ofRequest).not.toMatch(OUT_OF_REACH);
    await own.close();
  });
});
