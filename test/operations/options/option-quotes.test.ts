import { describe, expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import type { Chain } from '../../../src/market/chain.ts';
import { greeksOf, MARKET_UNITS } from '../../../src/math/black-scholes.ts';
import { sixDigits } from '../../../src/mcp/six-digits.ts';
import type { Context } from '../../../src/operations/engine/operation.ts';
import { getGexByExpiry } from '../../../src/operations/gex/gex-expiries.ts';
import { getOptionQuotes } from '../../../src/operations/options/option-quotes.ts';
import { blackScholesPrice } from '../../analytics/plain.ts';
import { recordedChain, someRecorded } from '../../analytics/recorded.ts';
import { simulated } from '../../analytics/simulated.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { DEFAULT_ANSWER_TOKENS_MAX, tokensOf } from '../../support/tokens.ts';
import { call, callExtended, callRoute, contextOf, performTool, refusalOf, smallMarket } from '../small-market.ts';

type Full = Static<typeof getOptionQuotes.full>;
type Selection = Partial<Static<typeof getOptionQuotes.input>>;
type QuoteRow = NonNullable<Full['quotes']>[number];

const ask = (args: object, context: Context) => callExtended(getOptionQuotes, args, context) as unknown as Full;
/** The answer of the REST route, with the rows of all pages. */
function askRest(args: object, context: Context): Full {
  const page = (more: object) =>
    callRoute(getOptionQuotes, { limit: 1_000, ...args, ...more }, context) as unknown as Full;
  const whole = page({});
  for (let cursor = whole.next_cursor; cursor !== undefined; ) {
    const next = page({ cursor });
    whole.quotes?.push(...next.quotes!);
    whole.greeks_iv?.push(...next.greeks_iv!);
    cursor = next.next_cursor;
  }
  return whole;
}

const notesOf = (args: object) =>
  performTool(getOptionQuotes, { ...OF_ACME, ...args }, CONTEXT).provenance!.notes.filter(
    (each) => !each.includes('null iv'),
  );

const smile = (strike: number) => 0.3 + (100 - strike) / 400;
const CHAIN = chainOf([
  ...quoted({ strikes: range(80, 120), iv: smile, halfSpread: 0.01, rest: { openInterest: 7, volume: 3 } }),
  ...quoted({ strikes: range(80, 120, 5), expiry: LATER, halfSpread: 0.02, rest: { openInterest: 11 } }),
]);
const CONTEXT = contextOf(CHAIN);
const OF_ACME = { ticker: 'ACME', expiry: EXPIRY };

describe('a selection without contracts, or in another unit, has a note', () => {
  test.each<[string, object, string[]]>([
    [
      'a window between two strikes',
      { strike_min: 99.2, strike_max: 99.8 },
      ['No contract of the expiry is in this range of strikes. Nearest listed: 99 and 100.'],
    ],
    [
      'a window above all strikes',
      { strike_min: 2_000 },
      ['No contract of the expiry is in this range of strikes. Nearest listed: 120.'],
    ],
    [
      'a window below all strikes',
      { strike_max: 5, put_call: 'P' },
      ['No contract of the expiry is in this range of strikes. Nearest listed: 80.'],
    ],
    ['a window with strikes', { strike_min: 99, strike_max: 101 }, []],
    [
      'a distance as a fraction',
      { near_pct_from_spot: 0.05 },
      ['near_pct_from_spot is in percent: 0.05 means 0.05 %, and 5 is 5 %.'],
    ],
    ['a distance in percent', { near_pct_from_spot: -5 }, []],
    ['no distance', { near_pct_from_spot: 0 }, []],
    [
      'a distance beyond all strikes',
      { near_pct_from_spot: 50 },
      ['The strikes of the expiry go from 80 to 120: none is at 150.'],
    ],
    ['nothing', {}, []],
  ])('%s', (_what, args, notes) => {
    expect(notesOf(args)).toEqual(notes);
  });
});

test.each<[string, object, string[]]>([
  ['many fewer strikes', { strike_min: 94, strike_max: 106 }, [`the expiry lists 3 strikes. ${EXPIRY} lists 13.`]],
  ['no strike', { strike_min: 96, strike_max: 99 }, [`the expiry lists 0 strikes. ${EXPIRY} lists 4.`]],
  ['half of the strikes', { strike_min: 99, strike_max: 100 }, []],
  ['no strike, as all expiries', { strike_min: 121 }, []],
  ['no range', {}, []],
])('a range in which the expiry has %s', (_what, args, expected) => {
  const notes = notesOf({ expiry: LATER, ...args }).filter((each) => each.startsWith('In this range'));
  expect(notes).toEqual(expected.map((each) => `In this range, ${each}`));
});

describe('a row', () => {
  test('has the quote of its contract', () => {
    expectOwnQuotes(CHAIN, askRest(OF_ACME, CONTEXT));
  });

  test('has the volatilities of its own quote and Greeks at the volatility of the strike', () => {
    expectConsistent(askRest(OF_ACME, CONTEXT), CHAIN.spot);
  });

  test('has the volatility at which it was quoted, and a band around it', () => {
    for (const { strike, iv, iv_bid, iv_ask } of ask({ ...OF_ACME, limit: 18 }, CONTEXT).quotes!) {
      expect(iv!).toBeCloseTo(smile(strike), 4);
      expect(iv!).toBeWithin(iv_bid!, iv_ask!);
    }
  });

  test('has null for each figure that the data does not determine', () => {
    const rows = [
      ...quoted({ strikes: [95, 100, 105] }),
      contract({ strike: 60, callPut: 1, bid: 39.5, ask: 40.9 }),
      contract({ strike: 61, callPut: 1, ask: 40 }),
      contract({ strike: 62, callPut: 1, bid: 39, ask: 38 }),
      contract({ strike: 63, callPut: 1, bid: 0, ask: 0.05, openInterest: 0 }),
      contract({ strike: 300, callPut: -1, bid: 190, ask: 190.2, volume: 0, openInterest: 1 }),
    ];
    const { quotes } = askRest(OF_ACME, contextOf(chainOf(rows)));
    const at = (strike: number) => quotes!.find((each) => each.strike === strike)!;
    const none = { iv: null, iv_bid: null, iv_ask: null };
    expect(at(60)).toMatchObject({ iv_bid: null, iv: expect.any(Number), iv_ask: expect.any(Number), volume: null });
    expect(at(61)).toMatchObject({ ...none, bid: null, ask: 40, open_interest: null, delta: expect.any(Number) });
    expect(at(62)).toMatchObject({ ...none, bid: 39, ask: 38 });
    expect(at(63)).toMatchObject({ ...none, bid: 0, ask: 0.05, open_interest: 0 });
    const { provenance } = ask({ ...OF_ACME, strike_min: 60, strike_max: 63 }, contextOf(chainOf(rows))) as unknown as {
      provenance: { notes: string[] };
    };
    expect(provenance.notes).toEqual([expect.stringMatching(/^3 of 4 contracts have a null iv/)]);
    expect(at(300)).toMatchObject({ ...none, volume: 0 });
  });

  test('without any volatility has no Greeks', () => {
    const { quotes, greeks_iv } = ask(OF_ACME, contextOf(chainOf([contract({ bid: 1 })])));
    expect(quotes).toEqual([
      expect.objectContaining({ strike: 100, bid: 1, delta: null, gamma: null, theta: null, vega: null }),
    ]);
    expect(greeks_iv).toEqual([null]);
  });

  test('has the root if the expiry has several', () => {
    const of = { strikes: [95, 100], expiry: EXPIRY };
    const chain = chainOf(
      [
        ...quoted({ ...of, root: 'SPX' }),
        ...quoted({ ...of, root: 'SPXW' }),
        ...quoted({ ...of, root: 'SPXW', expiry: LATER }),
      ],
      { underlying: 'SPX' },
    );
    const found = askRest({ ticker: 'SPX', expiry: EXPIRY }, contextOf(chain));
    expect(found.quotes!.map(({ strike, root, put_call }) => `${strike} ${root} ${put_call}`)).toEqual(
      [95, 100].flatMap((strike) =>
        ['SPX', 'SPXW'].flatMap((root) => ['C', 'P'].map((each) => `${strike} ${root} ${each}`)),
      ),
    );
    expectConsistent(found, chain.spot);
    expect(askRest({ ticker: 'SPX', expiry: LATER }, contextOf(chain)).quotes!.some((row) => 'root' in row)).toBe(
      false,
    );
  });
});

describe('the question', () => {
  const strikes = (args: object) =>
    ask({ ...OF_ACME, ...args }, CONTEXT).quotes!.map(({ strike, put_call }) => `${strike}${put_call}`);
  const all = askRest(OF_ACME, CONTEXT).quotes!;

  test('straddle at the money', () => {
    expect(strikes({ limit: 2 })).toEqual(['100C', '100P']);
  });

  test('25-delta put', () => {
    const puts = all.filter(({ put_call }) => put_call === 'P');
    const nearest = puts.toSorted((a, b) => Math.abs(a.delta! + 0.25) - Math.abs(b.delta! + 0.25))[0]!;
    for (const near_delta of [0.25, -0.25]) {
      expect(strikes({ put_call: 'P', near_delta, limit: 1 })).toEqual([`${nearest.strike}P`]);
    }
  });

  test('strikes between 98 and 100', () => {
    expect(strikes({ strike_min: 98, strike_max: 100 })).toEqual(['98C', '98P', '99C', '99P', '100C', '100P']);
  });

  test('puts 5 % out of the money', () => {
    expect(strikes({ put_call: 'P', near_pct_from_spot: -5, limit: 3 })).toEqual(['94P', '95P', '96P']);
  });

  test('the strike in a range that is nearest a distance', () => {
    expect(strikes({ put_call: 'C', strike_min: 103, near_pct_from_spot: 0, limit: 2 })).toEqual(['103C', '104C']);
  });

  test.each<[object, string[]]>([
    [{ put_call: 'P', near_pct_from_spot: -5, limit: 3 }, ['95P']],
    [{ near_pct_from_spot: 4, limit: 4 }, ['104C', '104P']],
    [{ near_pct_from_spot: 4, limit: 1 }, ['104C']],
    [{ near_pct_from_spot: 0, strike_min: 102, put_call: 'C' }, ['102C']],
    [{}, []],
    [{ strike_min: 98 }, []],
  ])('of %j, the nearest rows are marked', (args, expected) => {
    const marked = ask({ ...OF_ACME, ...args }, CONTEXT).quotes!.filter(({ nearest }) => nearest);
    expect(marked.map(({ strike, put_call }) => `${strike}${put_call}`)).toEqual(expected);
  });

  test('the rows nearest a delta are marked, one of each side', () => {
    const { quotes } = ask({ ...OF_ACME, near_delta: 0.25 }, CONTEXT);
    for (const side of ['C', 'P']) {
      const rows = quotes!.filter(({ put_call }) => put_call === side);
      const distance = ({ delta }: (typeof rows)[number]) => Math.abs(Math.abs(delta!) - 0.25);
      const nearest = rows.toSorted((a, b) => distance(a) - distance(b))[0]!;
      expect(rows.filter((row) => row.nearest)).toEqual([nearest]);
    }
  });

  test('without a selection: the ten contracts nearest spot', () => {
    expect(strikes({})).toEqual([98, 99, 100, 101, 102].flatMap((strike) => [`${strike}C`, `${strike}P`]));
  });
});

describe('pages', () => {
  test.each([
    {},
    { put_call: 'P' },
    { near_delta: 0.25 },
    { near_pct_from_spot: 7, put_call: 'C' },
    { strike_min: 90 },
    { strike_min: 90, strike_max: 111.5, near_delta: 0.4 },
  ])('%j: every contract of the brute-force filter exactly once', (args) => {
    for (const limit of [1, 7, 18]) expectAllPages(CHAIN, EXPIRY, { ...args, limit });
  });

  test('of series: every series once', () => {
    const [first] = [ask({ ticker: 'ACME', limit: 1 }, CONTEXT)];
    const second = ask({ ticker: 'ACME', limit: 1, cursor: first.next_cursor }, CONTEXT);
    expect([first, second].map(({ expiries }) => expiries!.map(({ expiry }) => expiry))).toEqual([[EXPIRY], [LATER]]);
    expect(second.next_cursor).toBeUndefined();
  });

  test('stay on the snapshot of the first page', () => {
    const { context, store } = smallMarket({ chains: [CHAIN] });
    const first = ask(OF_ACME, context);
    store.saveChain({ ...CHAIN, asOf: AS_OF + 60_000, spot: 110 });
    expect(ask(OF_ACME, context).spot_price).toBe(110);
    expect(ask({ ...OF_ACME, cursor: first.next_cursor }, context).spot_price).toBe(100);
  });
});

test('without expiry: the same figures as get_gex_by_expiry', () => {
  expectTermStructure(CHAIN);
  const { expiries } = ask({ ticker: 'ACME' }, CONTEXT);
  expect(expiries!.map(({ expiry, days, open_interest, volume }) => [expiry, days, open_interest, volume])).toEqual([
    [EXPIRY, 11, 41 * 2 * 7, 41 * 2 * 3],
    [LATER, 46, 9 * 2 * 11, 0],
  ]);
});

test('without expiry: a series that does not determine a smile has null figures', () => {
  const chain = chainOf([...quoted({ strikes: range(90, 110) }), ...quoted({ strikes: [100], expiry: LATER })]);
  expect(ask({ ticker: 'ACME' }, contextOf(chain)).expiries![1]).toMatchObject({
    ...{ expiry: LATER, atm_iv: null, atm_iv_bid: null, atm_iv_ask: null, expected_move: null, skew_25d: null },
    forward: expect.any(Number),
  });
});

describe('rejects', () => {
  test.each([
    ['an expiry that is not listed', { expiry: '2026-01-23' }, 'not a listed expiry', `${EXPIRY}, ${LATER}`],
    ['a day without expiry', { expiry: '0dte' }, `${TODAY} is not a listed expiry`, EXPIRY],
    ['a text that is no date', { expiry: 'Friday' }, 'date of the calendar', 'lists the expiries'],
    ['several expiries', { expiry: 'next:30' }, 'YYYY-MM-DD, or 0dte', 'lists the expiries'],
    ['a selection of contracts without expiry', { near_delta: 0.25 }, '/near_delta needs expiry', 'Add expiry'],
    ['all as the expiry of a selection', { expiry: 'all', put_call: 'C' }, '/put_call needs expiry', 'Add expiry'],
    ['two targets', { expiry: EXPIRY, near_delta: 0.2, near_pct_from_spot: 0 }, 'combined', 'Choose'],
    ['an empty range', { expiry: EXPIRY, strike_min: 101, strike_max: 100 }, 'above strike_max', 'Exchange'],
    ['a delta in percent', { expiry: EXPIRY, near_delta: 25 }, '/near_delta must be', ''],
    ['too many rows', { limit: 19 }, '/limit must be', ''],
  ])('%s', (_what, args, message, hint) => {
    const refusal = refusalOf(() => ask({ ticker: 'ACME', ...args }, CONTEXT));
    expect(refusal.message).toContain(message);
    expect(refusal.hint).toContain(hint);
  });

  test('an expiry that has settled', () => {
    const rows = [...quoted({ strikes: [99, 100, 101] }), ...quoted({ strikes: [100], expiry: TODAY })];
    const chain = chainOf(rows, { asOf: AS_OF + 2 * 3_600_000 });
    const refusal = refusalOf(() => ask({ ticker: 'ACME', expiry: '0dte' }, contextOf(chain)));
    expect(refusal.message).toContain(`The expiry ${TODAY} had settled`);
    expect(refusal.hint).toContain(EXPIRY);
  });
});

test('0dte is the expiry of the day of the snapshot', () => {
  const chain = chainOf([...quoted({ strikes: [99, 100, 101] }), ...quoted({ strikes: [100], expiry: TODAY })]);
  expect(ask({ ticker: 'ACME', expiry: '0dte' }, contextOf(chain))).toMatchObject({ expiry: TODAY });
});

test('with `at`, the quotes of the snapshot of that moment', () => {
  const { context } = smallMarket({ chains: [CHAIN, { ...CHAIN, asOf: AS_OF + 60_000, spot: 105 }] });
  expect(ask({ ...OF_ACME, at: new Date(AS_OF + 1_000).toISOString() }, context).spot_price).toBe(100);
});

describe.each(['SPY', 'UUP', 'BRK.B'])('on the simulated chain of %s', (ticker) => {
  const chain = simulated(ticker);
  test('every row is consistent', () => expectEveryExpiry(chain));
  test('every page is short', () => expectShortPages(chain));
});

describeRecorded('on recorded chains', (dir) => {
  describe.each(someRecorded(dir))('%s', (name) => {
    const chain = recordedChain(dir, name);
    test('every row is consistent', () => expectEveryExpiry(chain));
    test('every page is short', () => expectShortPages(chain));
  });
});

function expectEveryExpiry(chain: Chain): void {
  const context = contextOf(chain);
  const found = expectTermStructure(chain);
  for (const expiry of found) {
    const answer = askRest({ ticker: chain.underlying, expiry }, context);
    expectOwnQuotes(chain, answer);
    expectConsistent(answer, chain.spot);
  }
  expectAllPages(chain, found.at(-1)!, { near_delta: 0.3, limit: 18 });
}

/** Bid, ask, volume and open interest equal those of the chain's row. Every live contract of the expiry has one row. */
function expectOwnQuotes(chain: Chain, { expiry, quotes, series }: Full): void {
  const own: unknown[][] = [];
  for (const each of chain.series) {
    if (each.expiry !== expiry || each.adjusted || each.settlesAt <= chain.asOf) continue;
    for (let row = each.start; row < each.end; row++) {
      const columns = [chain.bid, chain.ask, chain.volume, chain.openInterest];
      const side = chain.callPut[row] === 1 ? 'C' : 'P';
      const values = columns.map((column) => (Number.isNaN(column[row]) ? null : column[row]!));
      own.push([`${each.root} ${chain.strike[row]} ${side}`, ...values]);
    }
  }
  const found = quotes!.map(({ root = series![0]!.root, strike, put_call, bid, ask, volume, open_interest }) => [
    ...[`${root} ${strike} ${put_call}`, bid, ask, volume, open_interest],
  ]);
  expect(own.length).toBeGreaterThan(0);
  expect(found.map(String).sort()).toEqual(own.map(String).sort());
}

/** The volatilities solve the prices, and the Greeks are those of the scalar pricer. */
function expectConsistent({ quotes, greeks_iv, series }: Full, spot: number): void {
  const ofRoot = new Map(series!.map((each) => [each.root, each]));
  for (const { tte, rate, dividend, forward } of series!) {
    expect(forward).toBeCloseTo(spot * Math.exp((rate - dividend) * tte), 6);
  }
  const wrong: string[] = [];
  const greeks = quotes!.map((row, i) => {
    const { tte, rate, dividend } = row.root === undefined ? series![0]! : ofRoot.get(row.root)!;
    const option = { callPut: row.put_call === 'C' ? 1 : -1, spot, strike: row.strike, tte, rate, dividend };
    const mid = row.bid! > 0 && row.ask! >= row.bid! ? (row.bid! + row.ask!) / 2 : Number.NaN;
    // The prices of the option at volatilities next to 0 and far above any real one.
    const [least, most] = [1e-9, 100].map((iv) => greeksOf({ ...option, iv }).price) as [number, number];
    const solves = (iv: number | null, price: number) => {
      if (Number.isNaN(mid)) return iv === null;
      if (iv === null || iv <= 0) return price <= least + 1e-9 || price >= most - 1e-9;
      const prices = [greeksOf({ ...option, iv }).price, blackScholesPrice({ ...option, iv })];
      return prices.every((each) => Math.abs(each - price) < 5e-7);
    };
    const { iv: middle, iv_bid, iv_ask, strike } = row;
    if (!solves(middle, mid) || !solves(iv_bid, row.bid!) || !solves(iv_ask, row.ask!)) wrong.push(JSON.stringify(row));
    const iv = greeks_iv![i]!;
    if (iv === null) return [strike, null, null, null, null];
    const { delta, gamma, theta, vega } = greeksOf({ ...option, iv });
    return [strike, delta, gamma, theta * MARKET_UNITS.theta, vega * MARKET_UNITS.vega];
  });
  expect(wrong).toEqual([]);
  expect(quotes!.map(({ strike, delta, gamma, theta, vega }) => [strike, delta, gamma, theta, vega])).toEqual(greeks);
}

/** The series have the figures of get_gex_by_expiry. Returns their expiries, each once. */
function expectTermStructure(chain: Chain): string[] {
  const context = contextOf(chain);
  const { expiries } = askRest({ ticker: chain.underlying }, context);
  const columns = callExtended(getGexByExpiry, { ticker: chain.underlying }, context) as unknown as Record<
    string,
    unknown[]
  >;
  const shared = Object.keys(expiries![0]!).filter((name) => name !== 'days');
  expect(shared).toHaveLength(11);
  for (const name of shared) {
    expect(expiries!.map((row) => (row as Record<string, unknown>)[name])).toEqual(columns[name]!);
  }
  return [...new Set(expiries!.map(({ expiry }) => expiry))];
}

/** All pages together have every contract that a brute-force filter finds, each once, and each page is in order of strike. */
function expectAllPages(chain: Chain, expiry: string, args: Selection & { readonly limit: number }): void {
  const context = contextOf(chain);
  const { put_call, strike_min = 0, strike_max = 1e12 } = args;
  const whole = askRest({ ticker: chain.underlying, expiry }, context).quotes!;
  const expected = whole.filter(
    (row) =>
      (put_call === undefined || row.put_call === put_call) && row.strike >= strike_min && row.strike <= strike_max,
  );
  const found: QuoteRow[] = [];
  const distances: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = ask({ ticker: chain.underlying, expiry, ...args, ...(cursor !== undefined && { cursor }) }, context);
    const rows = page.quotes!;
    const roots = page.series!.map(({ root }) => root);
    const place = ({ strike, root, put_call }: QuoteRow) => [
      strike,
      roots.indexOf(root ?? ''),
      put_call === 'P' ? 1 : 0,
    ];
    expect(rows.map(place)).toEqual(
      rows.map(place).toSorted((a, b) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!),
    );
    found.push(...rows);
    distances.push(...rows.filter(({ put_call }) => put_call === 'P').map((row) => distanceOf(row, args, chain.spot)));
    cursor = page.next_cursor;
    if (cursor === undefined) break;
    expect(rows).toHaveLength(args.limit);
  }
  expect(found.map(keyOf).toSorted()).toEqual(expected.map(keyOf).toSorted());
  // A target orders the pages: with one row per page, the distances of a side are ascending.
  if (args.limit === 1) expect(distances).toEqual(distances.toSorted((a, b) => a - b));
}

const keyOf = ({ root, strike, put_call }: QuoteRow) => `${root} ${strike} ${put_call}`;

function distanceOf({ strike, delta }: QuoteRow, args: Selection, spot: number): number {
  if (args.near_delta !== undefined) return Math.abs(Math.abs(delta!) - args.near_delta);
  if (args.strike_min !== undefined) return strike;
  return Math.abs(strike - spot * (1 + (args.near_pct_from_spot ?? 0) / 100));
}

/** Tokens that a provenance with several notes takes. */
const PROVENANCE_TOKENS = 150;

/** Every page of the tool fits into a model's context, with figures of six significant digits as MCP sends them. */
function expectShortPages(chain: Chain): void {
  const context = contextOf(chain);
  const page = (args: object) => {
    const body = call(getOptionQuotes, { ticker: chain.underlying, ...args, limit: 18 }, context);
    return { tokens: tokensOf(sixDigits(body)), answer: body as unknown as Full };
  };
  const expiries = new Set<string>();
  const tokens: number[] = [];
  for (let cursor: string | undefined; ; ) {
    const { tokens: length, answer } = page({ ...(cursor !== undefined && { cursor }) });
    tokens.push(length);
    for (const { expiry } of answer.expiries!) expiries.add(expiry);
    cursor = answer.next_cursor;
    if (cursor === undefined) break;
  }
  for (const expiry of expiries) {
    for (const args of [{}, { near_delta: 0.25 }, { near_pct_from_spot: -20 }])
      tokens.push(page({ expiry, ...args }).tokens);
  }
  expect(Math.max(...tokens)).toBeLessThanOrEqual(DEFAULT_ANSWER_TOKENS_MAX - PROVENANCE_TOKENS);
}
