import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerEvent } from '@modelcontextprotocol/server';
import { runToCompletion } from '../../src/core/steps.ts';
import { createChangePublisher, createEventBus } from '../../src/mcp/change-publisher.ts';
import { complete } from '../../src/mcp/completion.ts';
import { PAGE_CHARS_MAX } from '../../src/mcp/resource-pages.ts';
import { RESOURCES } from '../../src/mcp/resources.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { smallMarket } from '../operations/small-market.ts';
import { keepLevels, MONDAY_MS } from '../store/samples.ts';
import { type Served, type Service, startServed, startService } from '../support/service.ts';
import { folderForTests } from '../support/test-folder.ts';
import { CLIENT_NAMES, CLIENTS, keyOf } from './connect.ts';

/** Resources of a chain with 700 strikes, and of an index whose name has a caret. */
const folder = folderForTests();
let service: Service;
beforeAll(async () => {
  const rows = ['underlying,as_of,spot,symbol,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma'];
  for (let strike = 1_000; strike < 8_000; strike += 10) {
    rows.push(`WIDE,2026-08-21T16:00:00-04:00,6000.4,,2026-09-18,C,${strike + 0.5},,,,10,100,0.25,,`);
  }
  rows.push('WIDE,2026-08-21T16:00:00-04:00,6000.4,,2026-08-21,C,6000,,,,10,100,0.25,,');
  writeFileSync(join(folder, 'wide.csv'), `${rows.join('\n')}\n`);
  service = await startService({ feed: `files:${folder}` });
});
afterAll(() => service.close());

const read = (uri: string) =>
  JSON.parse((runToCompletion(RESOURCES.read(uri, service.app.context)).contents[0] as { text: string }).text);

test('a wide chain gives the rows nearest to spot, with six digits', () => {
  const { count, strike, net_gex, page } = read('zomma://gex/WIDE/strikes/all?columns=net_gex&limit=200');
  expect([count, strike.length, net_gex.length, page.of]).toEqual([200, 200, 200, 700]);
  expect([strike[0], strike.at(-1)]).toEqual([5_000.5, 6_990.5]);
  const long = net_gex.filter(
    (each: number) =>
      String(each)
        .replace(/[-.]|e.*/g, '')
        .replace(/^0+|0+$/g, '').length > 6 && !Number.isInteger(each),
  );
  expect(long).toEqual([]);
});

test('a universe of a thousand tickers has pages, which add up', () => {
  const tickers = Array.from({ length: 1_000 }, (_, i) => `T${i}`);
  const themes = { first: tickers.slice(0, 600), second: tickers.slice(600) };
  const { context } = service.app;
  const universe = { ...context.universe, themes, tickers: new Set(tickers) };
  const seen: string[] = [];
  for (let uri = 'zomma://universe'; uri !== undefined; ) {
    const [content] = runToCompletion(RESOURCES.read(uri, { ...context, universe })).contents;
    const { text } = content as { text: string };
    expect(text.length).toBeLessThanOrEqual(PAGE_CHARS_MAX);
    const { macro_themes, without_data, page } = JSON.parse(text);
    seen.push(...(Object.values(macro_themes) as string[][]).flat());
    expect(without_data).toEqual(seen.slice(-without_data.length));
    uri = page?.next;
  }
  expect(seen).toEqual(tickers);
  expect(() => read('zomma://universe?cursor=NONE')).toThrow('/cursor must be a ticker of the universe');
});

test('the universe counts its own tickers, and names those with data that are outside', () => {
  const { context } = service.app;
  const [inside, ...outside] = context.market.tickersWithChain() as [string, ...string[]];
  const tickers = [inside, 'ZZZZ'];
  const universe = { ...context.universe, themes: { mine: tickers }, tickers: new Set(tickers) };
  const [content] = runToCompletion(RESOURCES.read('zomma://universe', { ...context, universe })).contents;
  const { age_of_data, ...lists } = JSON.parse((content as { text: string }).text);
  expect(lists).toMatchObject({ total_tracked: 2, without_data: ['ZZZZ'], outside_universe: outside });
  expect(Object.keys(age_of_data).length + lists.without_data.length - outside.length).toBe(2);
});

test.each([true, false])('the universe says whether its market is simulated: %p', (simulated) => {
  const { context } = smallMarket({ simulated });
  const [content] = runToCompletion(RESOURCES.read('zomma://universe', context)).contents;
  const { notes } = JSON.parse((content as { text: string }).text);
  expect(notes).toEqual(simulated ? ['Simulated market: no real quotes.'] : undefined);
});

test.each([
  ['zomma://gex/wide', 'zomma://gex/WIDE'],
  ['zomma://gex/wide/profile', 'zomma://gex/WIDE/profile'],
  ['zomma://gex/wide/matrix', 'zomma://gex/WIDE/matrix'],
  ['zomma://gex/wide/record', 'zomma://gex/WIDE/record'],
  ['zomma://gex/%5Espx', 'zomma://gex/SPX'],
  ['zomma://gex/SPXW/strikes/all', 'zomma://gex/SPX/strikes/all'],
  ['zomma://gex/wide/flow?days=5', 'zomma://gex/WIDE/flow'],
  ['zomma://methods', 'zomma://methods'],
])('changes of %s are reported as changes of %s', (uri, canonical) => {
  expect(RESOURCES.canonical(uri, service.app.context)).toBe(canonical);
});

test.each([
  'zomma://gex/WIDE/Profile',
  'zomma://gex/WIDE/strikes/a/b',
  'zomma://gex/WIDE/matrix/all',
  'zomma://gex/WIDE/constructor',
  `zomma://gex/${'A'.repeat(41)}`,
  'zomma://gex/',
  '',
])('refuses the unknown resource %j', (uri) => {
  const { context } = service.app;
  for (const ask of [() => runToCompletion(RESOURCES.read(uri, context)), () => RESOURCES.canonical(uri, context)]) {
    expect(ask).toThrow(expect.objectContaining({ code: -32602, data: { uri } }));
  }
});

const STRIKES = 'zomma://gex/{ticker}/strikes/{expiry}';
const OTHER = 'zomma://gex/{ticker}';
test.each<[string, uri: string, name: string, value: string, filled: Record<string, string>, string[]]>([
  ['a ticker, tickers with a chain first', STRIKES, 'ticker', '', {}, ['WIDE', 'SPY']],
  ['an expiry, without settled expiries', STRIKES, 'expiry', '2', { ticker: 'wide' }, ['2026-09-18']],
  ['nothing without a ticker', STRIKES, 'expiry', '', {}, []],
  ['nothing for an unknown argument', STRIKES, 'strike', '', {}, []],
  ['nothing for an argument of another template', OTHER, 'expiry', '', { ticker: 'WIDE' }, []],
  ['nothing for an unknown template', 'zomma://gex/{x}', 'ticker', '', {}, []],
])('completes %s', (_name, uri, name, value, filled, expected) => {
  const { values, total, hasMore } = complete(
    { ref: { type: 'ref/resource', uri }, argument: { name, value }, context: { arguments: filled } },
    service.app.context,
  ).completion;
  expect(values.slice(0, 2)).toEqual(expected);
  expect([total, hasMore]).toEqual([values.length, false]);
});

describe('more tickers than fit on a page', () => {
  let served: Served;
  beforeAll(async () => {
    served = await startServed({ hasAllTickers: true });
    const { store } = served.service.app;
    const chain = store.chain(store.latestChainId('SPY', true)!)!;
    store.transaction(() => {
      for (let i = 0; i < 350; i++) store.saveChain({ ...chain, underlying: `T${i}` });
    });
  });
  afterAll(() => served.close());

  test.each(CLIENT_NAMES)('%s lists all tickers, page by page', async (name) => {
    const client = await CLIENTS[name](served.url, keyOf(served.service));
    const uris: string[] = [];
    const pages: number[] = [];
    for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
      // The client of the second generation fetches all pages by itself unless it gets a cursor.
      const page = await client.listResources(cursor === undefined ? undefined : { cursor });
      uris.push(...page.resources.map(({ uri }) => uri));
      pages.push(page.resources.length);
      cursor = page.nextCursor;
    }
    const { market } = served.service.app.context;
    expect(uris).toEqual([
      ...['zomma://universe', 'zomma://methods'],
      ...market.tickersWithChain().map((ticker) => `zomma://gex/${ticker}`),
    ]);
    expect(uris.length).toBeGreaterThan(400);
    if (pages.length > 1) expect(Math.max(...pages)).toBe(100);
    await client.close();
  });

  test('pages are small, and an invalid cursor is refused', () => {
    const { context } = served.service.app;
    const first = RESOURCES.list(context);
    expect([first.resources.length, JSON.stringify(first).length < 64 * 1024]).toEqual([100, true]);
    expect(first.nextCursor).toMatch(/^[A-Z]+/);
    for (const cursor of ['', 'a', 'T1~', `T${'0'.repeat(99)}`]) {
      expect(() => RESOURCES.list(context, cursor)).toThrow(expect.objectContaining({ code: -32602 }));
    }
    expect(RESOURCES.list(context, 'ZZZZ')).toEqual({ resources: [] });
  });

  test('a completion has at most 100 values, and says that there are more', () => {
    const completed = (value: string) =>
      complete(
        { ref: { type: 'ref/resource', uri: STRIKES }, argument: { name: 'ticker', value } },
        served.service.app.context,
      ).completion;
    expect(completed('T')).toMatchObject({ hasMore: true });
    expect([completed('T').values.length, completed('T').total]).toEqual([100, undefined]);
    expect(completed('t34')).toEqual({
      values: ['T34', ...Array.from({ length: 10 }, (_, i) => `T34${i}`)],
      total: 11,
      hasMore: false,
    });
  });
});

test('reports every changed ticker once, however long the log, and retries after a store error', () => {
  const { store } = service.app;
  const events: ServerEvent[] = [];
  const bus = createEventBus();
  bus.subscribe((event) => events.push(event));
  let isBusy = false;
  const underlyings: typeof store.underlyings = (...args) => {
    if (isBusy) throw new Error('busy');
    return store.underlyings(...args);
  };
  const log = { lastLevelSeq: () => store.lastLevelSeq(), levelEvents: store.levelEvents, underlyings };
  let tools = TOOLS;
  const { wake } = createChangePublisher({ log, simulated: false, tools: () => tools }, bus);
  store.transaction(() => {
    for (let i = 0; i < 300; i++) keepLevels(store, { underlying: 'AAA', asOf: MONDAY_MS + i });
    keepLevels(store, { underlying: 'BBB', asOf: MONDAY_MS });
  });
  isBusy = true;
  expect(wake).toThrow('busy');
  expect(events).toEqual([]);
  isBusy = false;
  wake();
  wake();
  expect(events).toEqual([
    { kind: 'resources_list_changed' },
    { kind: 'resource_updated', uri: 'zomma://gex/AAA' },
    { kind: 'resource_updated', uri: 'zomma://gex/BBB' },
  ]);
  tools = TOOLS.slice(1);
  wake();
  wake();
  expect(events.slice(3)).toEqual([{ kind: 'tools_list_changed' }]);
});
