import { describe, expect, test } from 'bun:test';
import { indexChain } from '../../bench/index-chain.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { DAY_MS, newYorkInstant, nextTradingDay } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import { PAGE_CHARS_MAX, type PagedTable } from '../../src/mcp/resource-pages.ts';
import { RESOURCES } from '../../src/mcp/resources.ts';
import { sixDigits } from '../../src/mcp/six-digits.ts';
import { TICKER_RESOURCES } from '../../src/mcp/ticker-resources.ts';
import type { Context } from '../../src/operations/engine/operation.ts';
import { getGexByExpiry } from '../../src/operations/gex/gex-expiries.ts';
import { getGexMatrix } from '../../src/operations/gex/gex-matrix.ts';
import { REGISTRY } from '../../src/operations/registry.ts';
import { recordedChain, someRecorded } from '../analytics/recorded.ts';
import { simulated } from '../analytics/simulated.ts';
import { AS_OF, chainOf, EXPIRY, LATER, print, quoted, range, rowsIn, TODAY } from '../analytics/small-chains.ts';
import { callRoute, contextOf, dayBefore, smallMarket } from '../operations/small-market.ts';
import { keepLevels } from '../store/samples.ts';
import { recordLevels, savePast } from '../support/record-levels.ts';
import { describeRecorded } from '../support/recorded-chains.ts';

type Body = Record<string, unknown>;
type Which = keyof typeof TICKER_RESOURCES;

const textAt = (uri: string, context: Context) =>
  (runToCompletion(RESOURCES.read(uri, context)).contents[0] as { text: string }).text;
const read = (uri: string, context: Context) => JSON.parse(textAt(uri, context)) as Body;

/** The columns of all pages from a URI on, by the key of their table. The rows are in the order of the pages. */
function allPages(uri: string, which: Which, context: Context): { rows: Record<string, Body[]>; pages: number } {
  const rows: Record<string, Body[]> = {};
  let pages = 0;
  for (let next: string | undefined = uri; next !== undefined; pages++) {
    const text = textAt(next, context);
    expect([next, text.length <= PAGE_CHARS_MAX]).toEqual([next, true]);
    const body = JSON.parse(text);
    for (const { at = '', aside = [] } of TICKER_RESOURCES[which].tables as readonly {
      at?: string;
      aside?: string[];
    }[]) {
      rows[at] = [...(rows[at] ?? []), ...rowsOf(at === '' ? body : (body[at] ?? {}), aside)];
    }
    next = body.page?.next;
  }
  return { rows, pages };
}

/** The rows of columns. */
function rowsOf(columns: Body, aside: readonly string[] = []): Body[] {
  const lists = Object.entries(columns).filter(
    (each): each is [string, unknown[]] => Array.isArray(each[1]) && ![...aside, 'notes'].includes(each[0]),
  );
  const [, first = []] = lists[0] ?? [];
  return Array.from(first, (_, i) => Object.fromEntries(lists.map(([name, column]) => [name, column[i]])));
}

const keyOf = (row: Body) => JSON.stringify(row);
const asSet = (rows: readonly Body[]) => rows.map(keyOf).sort();

/** The rows of the same answer over REST, with six digits. */
function restRows(which: Which, args: object, context: Context): Record<string, Body[]> {
  const { operation, tables } = TICKER_RESOURCES[which];
  const body = sixDigits(callRoute(REGISTRY[operation], args, context));
  return Object.fromEntries(
    (tables as readonly { at?: string; aside?: string[] }[]).map(({ at = '', aside }) => [
      at,
      rowsOf((at === '' ? body : body[at]) as Body, aside),
    ]),
  );
}

/** The resources whose pages add up to the answer over REST, with the arguments of REST that give all rows. */
const PAGED: readonly [Which, object?][] = [
  ['expiries'],
  ['strikes'],
  ['profile'],
  ['surface'],
  ['flow'],
  ['prints', { limit: 5_000, min_premium: 100_000 }],
  ['history', { points: 5_000 }],
  ['record'],
];

function expectWhole(chain: Chain, context: Context, only: readonly Which[] = PAGED.map(([which]) => which)): void {
  const ticker = chain.underlying;
  for (const [which, args] of PAGED.filter(([each]) => only.includes(each))) {
    const uri = TICKER_RESOURCES[which].uriTemplate.replace('{ticker}', ticker).replace('{expiry}', 'all');
    const { rows } = allPages(uri, which, context);
    const expected = restRows(which, { ticker, ...args }, context);
    for (const [at, of] of Object.entries(expected))
      expect([which, at, asSet(rows[at]!)]).toEqual([which, at, asSet(of)]);
  }
  const expiry = chain.series.find(({ settlesAt }) => settlesAt > chain.asOf)!.expiry;
  const quotes = allPages(`zomma://gex/${ticker}/quotes/${expiry}`, 'quotes', context).rows[''] as Body[];
  const route = callRoute(REGISTRY.get_option_quotes, { ticker, expiry, strike_min: 0, limit: 1_000 }, context);
  const known = sixDigits(route.quotes) as Body[];
  expect(quotes.length).toBeGreaterThanOrEqual(known.length);
  const withoutOwn = ({ greeks_iv: _, ...row }: Body) => row;
  if (known.length < 1_000) expect(asSet(quotes.map(withoutOwn))).toEqual(asSet(known));
  // Each series of the matrix, at the 25 strikes nearest spot.
  const matrix = allPages(`zomma://gex/${ticker}/matrix`, 'matrix', context).rows[''] as {
    expiry: string;
    by_expiry: number;
  }[];
  const all = callRoute(getGexByExpiry, { ticker }, context) as {
    expiry: string[];
    net_gex: number[];
    gross_gex: number[];
  };
  expect(matrix.map(({ expiry: each }) => each)).toEqual(all.expiry);
  for (const [row, { by_expiry }] of matrix.entries()) {
    expect(Math.abs(by_expiry - all.net_gex[row]!)).toBeLessThanOrEqual(1e-5 * all.gross_gex[row]!);
  }
}

const OF_CHAIN: readonly Which[] = ['expiries', 'strikes', 'profile', 'surface'];
describe('the pages of a resource are short, and add up to the answer over REST', () => {
  test.each(['SPY', 'UUP'])('%s of the simulated market', (ticker) =>
    expectWhole(simulated(ticker), contextOf(simulated(ticker)), OF_CHAIN),
  );

  test('a wide index, with prints and stored levels', async () => {
    const chain = indexChain(30, 300);
    const { context, store } = smallMarket(
      { chains: [chain], simulated: true, prints: manyPrints(400, chain) },
      chain.asOf,
    );
    for (let day = '2025-06-02', spot = 5_000; day < '2026-01-02'; day = nextTradingDay(day), spot *= 1.001) {
      const at = { underlying: 'SPX', simulated: true, asOf: newYorkInstant(day, '16:00') };
      keepLevels(store, { ...at, spot, callWall: 12_345.67, gexFlip: spot / 1.01 });
    }
    await recordLevels(store);
    expectWhole(chain, context);
    const { pages } = allPages('zomma://gex/SPX/prints', 'prints', context);
    expect(pages).toBeGreaterThan(5);
  });
});

describeRecorded('the pages of recorded chains are short, and add up', (dir) => {
  test.each(someRecorded(dir))('%s', (name) =>
    expectWhole(recordedChain(dir, name), contextOf(recordedChain(dir, name)), OF_CHAIN),
  );
});

function manyPrints(count: number, { underlying, asOf, series, strike, simulated: isSimulated }: Chain) {
  const { root, expiry } = series[0]!;
  return Array.from({ length: count }, (_, i) =>
    print({
      ...{ id: `p${i}`, underlying, root, expiry, strike: strike[i % 100]!, price: 5 + i / 10, simulated: isSimulated },
      ...{ at: asOf - 60_000 * (count - i), side: i % 3 === 0 ? 'ask' : 'bid', sweep: i % 5 === 0 },
    }),
  );
}

const CHAIN = chainOf([
  ...quoted({ strikes: range(80, 120), rest: { openInterest: 100 } }),
  ...quoted({ strikes: range(90, 110), expiry: LATER, rest: { openInterest: 50 } }),
]);
const PRINTS = [
  print({ id: 'a', side: 'ask', at: AS_OF - 3_000 }),
  print({ id: 'b', side: 'bid', at: AS_OF - 2_000, callPut: -1, strike: 95 }),
  print({ id: 'c', side: 'ask', at: AS_OF - 1_000, size: 10 }),
];
const ACME = 'zomma://gex/ACME';

describe('a query', () => {
  const { context } = smallMarket({ chains: [dayBefore(CHAIN), CHAIN], prints: PRINTS }, AS_OF);

  test.each<[string, string, object]>([
    [
      'a moment since which open interest has built',
      '/interest/all?since=2026-01-02&limit=2',
      { change: [0, 0], page: { of: 41 } },
    ],
    ['near', '/strikes/all?near=3', { strike: [99, 100, 101], page: { rows: 3, of: 41 } }],
    ['columns', '/strikes/all?near=1&columns=net_gex', { strike: [100], net_gex: [expect.any(Number)] }],
    ['an expiry', `/strikes/${LATER}`, { page: { of: 21 } }],
    [
      'put_call and strikes',
      `/quotes/${EXPIRY}?put_call=P&strike_min=99&strike_max=101`,
      { strike: [99, 100, 101], put_call: ['P', 'P', 'P'] },
    ],
    [
      'near of a matrix',
      '/matrix?near=3&measure=open_interest',
      { strike: [99, 100, 101], by_strike: [300, 300, 300] },
    ],
    ['a least premium', '/prints?min_premium=0', { of: 3, page: { of: 3 }, min_premium: 0 }],
    ['the least premium of a large print', '/prints', { of: 2, page: { of: 2 }, min_premium: 100_000 }],
    ['a window of days', '/flow?days=5', { days: 5 }],
    [
      'a limit',
      '/prints?limit=1',
      { page: { rows: 1, of: 2, next: expect.stringContaining('/prints?limit=1&cursor=ACME~') } },
    ],
    ['an expiry of the levels', `?expiry=${LATER}`, { expiry: LATER, net_vex_mil: expect.any(Number) }],
  ])('takes %s', (_what, rest, expected) => {
    expect(read(ACME + rest, context)).toMatchObject(expected);
  });

  test.each<Which>(['strikes', 'profile', 'matrix', 'expiries'])(
    'sign=flow gives the positions by prints in %s',
    (which) => {
      const uri = TICKER_RESOURCES[which].uriTemplate.replace('{ticker}', 'ACME').replace('{expiry}', 'all');
      const body = read(`${uri}?sign=flow`, context);
      expect(body.sign_convention).toStartWith('Dealers hold the opposite of customers');
      const { operation } = TICKER_RESOURCES[which];
      const rest = sixDigits(callRoute(REGISTRY[operation], { ticker: 'ACME', sign: 'flow' }, context));
      const column = which === 'matrix' ? 'by_expiry' : 'net_gex';
      expect(body[column]).toEqual(rest[column]);
      expect(body[column]).not.toEqual(read(uri, context)[column]);
    },
  );

  test('the levels have the same by prints, and the sums of the other exposures', () => {
    expect(read(ACME, context)).toMatchObject({
      ...{ net_dex_mil: expect.any(Number), net_vex_mil: expect.any(Number), net_cex_mil: expect.any(Number) },
      by_flow: { contracts_signed: 2, net_gex_mil: expect.any(Number) },
    });
  });

  test('every answer has its provenance in words', () => {
    for (const which of Object.keys(TICKER_RESOURCES)) {
      const { uriTemplate } = TICKER_RESOURCES[which as Which];
      const uri = uriTemplate.replace('{ticker}', 'ACME').replace('{expiry}', EXPIRY);
      expect(read(uri, context)).toMatchObject({
        provenance: { as_of: '2026-01-05T20:00:00.000Z', age: '0 s', stale: false },
      });
    }
  });

  test.each(['/prints', '/surface', ''])('stale quotes of the resource %p have the note of the tools', (rest) => {
    const later = { ...context, nowMs: () => AS_OF + 10 * DAY_MS };
    const notesOf = (uri: string) => (read(uri, later).provenance as { notes: string[] }).notes;
    expect(notesOf(ACME + rest)[0]).toBe('Stale: the quotes are 10 days old.');
    // A past moment is asked for, so its quotes are not stale.
    expect(notesOf(`${ACME}${rest}?at=2026-01-05T16:00:00-05:00`).join()).not.toContain('Stale');
  });

  test('the levels say what the sign and the unit of the other exposures are', () => {
    const { provenance } = read(ACME, context) as { provenance: { notes: string[] } };
    expect(provenance.notes.at(-1)).toMatch(/^net_vex_mil and net_cex_mil: .* million dollars, per vol point .* sell/);
  });

  /** An error of a parameter names the parameters of the resource, and no other arguments of its operation. */
  const PARAMETERS = /Fields: [a-z_]+ \(optional\)(?:, [a-z_]+ \(optional\))*\.$/;
  test.each<[string, RegExp]>([
    [
      '/strikes/friday',
      /^\/expiry must be a date YYYY-MM-DD or all or 0dte, as the last part of the URI\. zomma:\/\/gex\/\{ticker\}\/expiries lists/,
    ],
    ['/quotes/all', /^\/expiry must be a date YYYY-MM-DD or 0dte/],
    ['/quotes', /^\/expiry must be a date YYYY-MM-DD or 0dte/],
    ['/strikes/2031-01-17', /is not a listed expiry.*Nearest listed: 20/],
    ['/strikes/all?near=0', /^\/near must be an integer, at least 1 and at most 1000/],
    ['/matrix?near=151', /^\/near must be an integer, at least 1 and at most 150/],
    ['/strikes/all?near=x', /^\/near must be an integer/],
    ['/strikes/all?near=1&near=2', /^\/near must be an integer/],
    ['/strikes/all?weight=volume', /^\/weight is not a field of this request/],
    ['/strikes/all?sign=both', /^\/sign must be one of "calls_long_puts_short", "short_both", "flow"/],
    ['/strikes/all?columns=vega', /^\/columns must be names of columns.*Columns: strike, call_gex, put_gex/],
    ['/profile?cursor=1', /^\/cursor must be next_cursor of an answer, unchanged/],
    ['/interest/all?since=friday', /^\/since must be previous_close, a date YYYY-MM-DD of New York, or an instant/],
    [
      '/interest/all?since=2025-01-02',
      /^No option chain of ACME is stored for 2025-01-03.*nearest stored snapshot is of 2026-01-02T21:00/,
    ],
    ['/interest/friday', /^\/expiry must be a date YYYY-MM-DD or all or 0dte/],
    ['/record?days=0', /^\/days must be an integer, at least 1/],
    ['/history?from=yesterday', /^\/from must be a date YYYY-MM-DD of New York, or an instant/],
    ['/prints?min_premium=-1', /^\/min_premium must be a finite number, at least 0/],
    ['?near=1', /^\/near is not a field of this request/],
    ['/universe', /^There is no such resource/],
  ])('%s is an error with a way on, without the words of REST', (rest, message) => {
    const found = (() => {
      try {
        return textAt(ACME + rest, context);
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(found).toMatch(message);
    if (found.includes('Fields:')) expect(found).toMatch(PARAMETERS);
    expect(found).not.toMatch(/next:N|\/api\/|\?with=|forward \(optional\)|\brate\b/);
  });
});

describe('the change of open interest', () => {
  const interest = (strike: number) => Math.round(40 * Math.sin(strike));
  const settled = quoted({ strikes: range(80, 120), expiry: TODAY, rest: { openInterest: 9_999 } });
  const changed = chainOf(
    rowsIn(CHAIN).map((row) => ({ ...row, openInterest: row.openInterest + interest(row.strike) + row.callPut })),
    { asOf: newYorkInstant(nextTradingDay(TODAY), '10:00') },
  );
  const before = chainOf([...settled, ...rowsIn(CHAIN)]);
  const { context } = smallMarket({ chains: [before, changed] }, changed.asOf);
  const since = `since=${TODAY}`;

  test('has the largest build first over all pages, and is that of REST', () => {
    const { rows, pages } = allPages(`${ACME}/interest/all?${since}&limit=15`, 'interest', context);
    expect(pages).toBe(3);
    const body = callRoute(REGISTRY.get_open_interest_changes, { ticker: 'ACME', since: TODAY }, context);
    expect(rows['']).toEqual(rowsOf(body));
    const changes = rows['']!.map(({ change }) => change as number);
    expect(changes).toEqual(changes.toSorted((a, b) => b - a));
    expect(rows['']![0]).toMatchObject({ strike: 102, change: 4 * interest(102) });
    expect(read(`${ACME}/interest/${LATER}?${since}`, context)).toMatchObject({ page: { of: 21 } });
  });

  test('states both moments and the contracts that settled in between', () => {
    expect(read(`${ACME}/interest/all?${since}`, context)).toMatchObject({
      ...{ before: '2026-01-05T20:00:00.000Z', after: '2026-01-06T15:00:00.000Z', total_change: expect.any(Number) },
      settled: { contracts: 82, open_interest: 82 * 9_999 },
      provenance: { notes: ['Not compared: 82 contracts (open interest 819918) have settled since.'] },
    });
  });

  const SETTLED = `Settled since the quotes, so not live: ${TODAY}.`;
  test.each<[string, boolean]>([
    [`/strikes/all?at=${TODAY}`, true],
    [`/strikes/0dte?at=${TODAY}T15:30:00-05:00`, true],
    [`/matrix?at=${TODAY}T15:30:00-05:00&measure=open_interest`, true],
    [`/strikes/${LATER}?at=${TODAY}`, false],
    ['/strikes/all', false],
  ])('%s says whether its sums include series that have settled since', (rest, isSaid) => {
    const pages = [read(ACME + rest, context), read(`${ACME}${rest}${rest.includes('?') ? '&' : '?'}limit=1`, context)];
    const next = (pages[1]!.page as { next: string }).next;
    for (const { provenance } of [...pages, read(next, context)]) {
      const { notes } = provenance as { notes: string[] };
      expect(notes.includes(SETTLED)).toBe(isSaid);
      expect(notes.some((each) => each.startsWith('The sums by strike include series that have settled.'))).toBe(
        isSaid,
      );
    }
  });
});

describe('page.order is true', async () => {
  const { context, store } = smallMarket({}, AS_OF);
  await savePast(store, CHAIN);

  const ordered = Object.entries(TICKER_RESOURCES).filter(
    ([, { tables }]) => tables.length === 1 && tables[0].order !== 'first',
  );
  test.each(ordered)('of %s, over all pages and within each', (_which, { uriTemplate, tables: [table] }) => {
    const { at, keys, order } = table as PagedTable;
    let last = Number.NEGATIVE_INFINITY;
    const uri = uriTemplate.replace('{ticker}', 'ACME').replace('{expiry}', EXPIRY);
    let count = 0;
    for (let next: string | undefined = `${uri}?limit=7`; next !== undefined; count++) {
      const body = read(next, context) as Body & { page: { order: string; next?: string }; spot_price: number };
      const key = ((at ? body[at] : body) as Record<string, (number | string)[]>)[keys[0]]!;
      expect(body.page.order).toMatch(
        order === 'near'
          ? /^the first page has the rows nearest spot; ascending within a page$/
          : /^the first page has the newest rows; oldest first within a page$/,
      );
      expect(key).toEqual(key.toSorted((a, b) => (a < b ? -1 : +(a > b))));
      const far = key.map((each) =>
        order === 'near' ? Math.abs(Number(each) - body.spot_price) : -Date.parse(`${each}`),
      );
      expect(Math.min(...far)).toBeGreaterThanOrEqual(last);
      last = Math.max(...far);
      next = body.page.next;
    }
    expect(count).toBeGreaterThan(1);
  });
});

describe('the next page', () => {
  const next = (body: Body) => (body.page as { next: string }).next;

  test('is of the same snapshot, also if a newer one arrived', () => {
    const { context, store } = smallMarket({ chains: [CHAIN] }, AS_OF);
    const first = read(`${ACME}/strikes/all?limit=10`, context);
    const whole = read(`${ACME}/strikes/all`, context);
    const newer = chainOf(quoted({ strikes: range(80, 120), rest: { openInterest: 7 } }), { asOf: AS_OF + 60_000 });
    store.saveChain(newer);
    const second = read(next(first), context);
    expect(second.provenance).toEqual(first.provenance);
    const both = (name: string) => [...(first[name] as number[]), ...(second[name] as number[])].length;
    expect(both('strike')).toBe(20);
    const place = (whole.strike as number[]).indexOf((second.strike as number[])[0]!);
    expect((second.net_gex as number[])[0]).toBe((whole.net_gex as number[])[place]!);
    expect(read(`${ACME}/strikes/all`, context).provenance).not.toEqual(first.provenance);
  });

  test('has no print twice, also if further prints arrived', () => {
    const { context, store } = smallMarket({ chains: [CHAIN], prints: manyPrints(100, CHAIN) }, AS_OF);
    const first = read(`${ACME}/prints?limit=40&min_premium=0`, context);
    store.savePrints([print({ id: 'late', at: AS_OF + 1_000 })]);
    const second = read(next(first), context);
    expect((first.at as string[]).at(-1)! > (second.at as string[])[0]!).toBe(true);
    expect(new Set([...(first.at as string[]), ...(second.at as string[])]).size).toBe(80);
    expect(read(`${ACME}/prints?limit=1&min_premium=0`, context).at).toEqual(['2026-01-05T20:00:01.000Z']);
  });

  test('belongs to its resource and arguments, with any columns', () => {
    const { context } = smallMarket({ chains: [CHAIN] }, AS_OF);
    const uri = next(read(`${ACME}/strikes/all?limit=10`, context));
    expect(read(`${uri}&columns=net_gex`, context)).toMatchObject({ page: { rows: 10 } });
    for (const other of [uri.replace('strikes/all', `strikes/${EXPIRY}`), uri.replace('strikes/all', 'profile')]) {
      expect(() => textAt(other, context)).toThrow('/cursor must be used with the arguments of the page before it');
    }
  });

  test('of a past moment is of that moment', () => {
    const { context, store } = smallMarket({ chains: [CHAIN] }, AS_OF + 3_600_000);
    store.saveChain(chainOf(quoted({ strikes: range(80, 120) }), { asOf: AS_OF + 1_800_000 }));
    const first = read(`${ACME}/strikes/all?limit=5&at=2026-01-05T21:01:00+01:00`, context);
    expect(first.provenance).toMatchObject({ as_of: '2026-01-05T20:00:00.000Z', age: '60 s' });
    expect(read(next(first), context).provenance).toEqual(first.provenance);
  });
});

test('a matrix has the strikes nearest spot, and sums of all strikes', () => {
  const { context } = smallMarket({ chains: [CHAIN] }, AS_OF);
  const matrix = read(`${ACME}/matrix?near=5`, context);
  const whole = sixDigits(callRoute(getGexMatrix, { ticker: 'ACME' }, context)) as Body & {
    strike: number[];
    values: number[][];
  };
  const from = whole.strike.indexOf(98);
  expect(matrix).toMatchObject({
    ...{ strike: [98, 99, 100, 101, 102], by_expiry: whole.by_expiry, farther_strikes_left_out: 36 },
    values: whole.values.map((row) => row.slice(from, from + 5)),
  });
});
