import { describe, expect, test } from 'bun:test';
import { createThetadataFeed } from '../../../src/feeds/thetadata/thetadata-feed.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { rowsOf } from '../../support/provider-answers.ts';
import type { Behaviour, Json } from '../../support/provider-faults.ts';
import { startProviderServer } from '../../support/provider-server.ts';
import { CHAINS, chainsOf, polled, providerForTests, reasonsOf } from '../provider-market.ts';
import { describeProvider } from '../provider-suite.ts';

describeProvider({
  name: 'thetadata',
  create: (options) => createThetadataFeed(options),
  isChainPath: (path) => /^\/v3\/option\/snapshot\/(?:quote|open_interest)/.test(path),
  answersOfChain: 2,
  absent: ['iv', 'delta', 'gamma'],
  optionsOf: (answer) => answer,
  rename: (answer) => answer.map(({ strike, ...row }: { strike: string }) => ({ ...row, price: strike })),
  unname: (option) => {
    option.right = '';
  },
  fields: { openInterest: ['open_interest'], bid: ['bid'], ask: ['ask'] },
});

describe('thetadata', () => {
  const { server, clock } = providerForTests();
  const create = (tickers = ['CHPT']) => createThetadataFeed({ baseUrl: server.url, tickers, clock });
  const chpt = CHAINS.get('CHPT')!;
  const paths = () => server.asked.map((path) => path.replace('/v3/', ''));
  /** Edits the rows of every answer whose path contains a text. */
  const change = (part: string, edit: (rows: Json[]) => Json) => {
    server.behaviour = (path) => (path.includes(part) ? { kind: 'changed', change: edit } : undefined);
  };
  const status = (part: string, code: number) => {
    server.behaviour = (path) => (path.includes(part) ? { kind: 'status', status: code } : undefined);
  };
  const onlyChain = async () => chainsOf(await polled(create()))[0]!;

  test.each<[string, string[], string]>([
    ['CHPT', ['CHPT'], 'stock/snapshot/ohlc?symbol=CHPT'],
    ['BRK.B', ['BRKB'], 'stock/snapshot/ohlc?symbol=BRK.B'],
    ['SPX', ['SPX', 'SPXW'], 'index/snapshot/price?symbol=SPX'],
  ])('requests the tables of each root of %s, then the price', async (ticker, roots, price) => {
    await polled(create([ticker]));
    const tables = roots.flatMap((root) =>
      ['quote', 'open_interest', 'ohlc'].map((table) => `option/snapshot/${table}?symbol=${root}&expiration=*`),
    );
    expect(paths()).toEqual([...tables, price]);
  });

  test('joins both roots of an index', async () => {
    const spx = CHAINS.get('SPX')!;
    const series = spx.series.map((each, i) => (i % 2 === 0 ? each : { ...each, root: 'SPXW' }));
    const terminal = await startProviderServer({ chainOf: () => ({ ...spx, series }) });
    const feed = createThetadataFeed({ baseUrl: terminal.url, tickers: ['SPX'], clock });
    const [delivery] = chainsOf(await polled(feed));
    await terminal.close();
    expect(delivery).toMatchObject({ offered: spx.count, chain: { refused: {}, spot: spx.spot } });
    const openInterestOf = (chain: Chain, root: string) =>
      rowsOf(chain).reduce((sum, row) => sum + (row.root === root ? row.openInterest! : 0), 0);
    for (const root of ['SPX', 'SPXW'])
      expect(openInterestOf(delivery!.chain, root)).toBe(openInterestOf({ ...spx, series }, root));
  });

  test('accepts cells in quotation marks, other columns, another order, and small letters in one table', async () => {
    change('/option/', (rows) =>
      rows.map((row) => {
        const right = 'bid' in row ? row.right.toLowerCase() : row.right;
        const entries = Object.entries({ ...row, right, more: 'a,b' }).reverse();
        return Object.fromEntries(entries.map(([name, cell]) => [name, `"${cell}"`]));
      }),
    );
    const { chain } = await onlyChain();
    expect(rowsOf(chain).map(({ symbol, bid }) => [symbol, bid])).toEqual(
      rowsOf(chpt).map(({ symbol, bid }) => [symbol, bid]),
    );
  });

  describe('a table that is too large', () => {
    test('is requested as calls and puts', async () => {
      server.behaviour = (path) =>
        path.includes('/option/') && !path.includes('&right=') ? { kind: 'status', status: 570 } : undefined;
      expect(rowsOf((await onlyChain()).chain).length).toBe(chpt.count);
      expect(paths().slice(0, 3)).toEqual(
        ['', '&right=call', '&right=put'].map((right) => `option/snapshot/quote?symbol=CHPT&expiration=*${right}`),
      );
    });

    test('of which the puts have no data, is that of the calls', async () => {
      server.behaviour = (path) =>
        path.includes('/option/') && !path.includes('&right=call')
          ? { kind: 'status', status: path.includes('&right=put') ? 472 : 570 }
          : undefined;
      const { chain } = await onlyChain();
      expect([chain.count, new Set(chain.callPut)]).toEqual([chpt.count / 2, new Set([1])]);
    });

    test.each(['call', 'put'])('of which the %ss are too large too, is a rejection', async (right) => {
      server.behaviour = (path) =>
        path.includes('&right=') && !path.includes(right) ? undefined : { kind: 'status', status: 570 };
      expect(reasonsOf(await polled(create()))).toEqual([['CHPT', expect.stringMatching(/570: even the calls/)]]);
    });
  });

  test.each<[string, object]>([
    ['an expiration that is no date', { expiration: '2026-13-01' }],
    ['an expiration in another form', { expiration: '20261218' }],
    ['a strike of 0', { strike: 0 }],
    ['a strike that is no number', { strike: 'ten' }],
    ['no strike', { strike: '' }],
    ['an unknown side', { right: 'both' }],
  ])('a quote with %s is counted, and the contract has no quote', async (_what, changes) => {
    change('/quote', ([first, ...rows]) => [{ ...first, ...changes }, ...rows]);
    const { chain, offered } = await onlyChain();
    expect([chain.refused, chain.count, offered]).toEqual([{ bad_symbol: 1 }, chpt.count, chpt.count + 1]);
    expect([chain.bid[0], chain.openInterest[0]]).toEqual([Number.NaN, chpt.openInterest[0]!]);
  });

  test('too many contracts refuse the snapshot', async () => {
    change('/quote', ([first]) => Array.from({ length: 200_001 }, (_, i) => ({ ...first, strike: (i + 1) / 1_000 })));
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', 'there are more than 200000 contracts']]);
  });

  test.each<[number, RegExp, number]>([
    [403, /answered 403: the subscription/, 1],
    [470, /answered 470, a general error in the last of 3 tries/, 3],
    [471, /answered 471: the subscription/, 1],
    [472, /has no quotes/, 1],
    [473, /answered 473: it does not accept/, 1],
    [474, /answered 474: it has lost the connection to ThetaData in the last of 3 tries/, 3],
    [475, /answered 475/, 1],
    [476, /answered 476: use one form of the address/, 1],
    [478, /answered 478: another terminal/, 1],
    [571, /answered 571: the servers of ThetaData are starting in the last of 3 tries/, 3],
    [572, /answered 572/, 1],
  ])('status %d of the quotes is a rejection with its reason', async (code, reason, requests) => {
    status('/quote', code);
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', expect.stringMatching(reason)]]);
    expect(server.asked).toHaveLength(requests);
  });

  test.each<[string, (rows: Json[]) => Json, RegExp]>([
    ['of fewer than 9 in 10 with a quote', (rows) => rows.slice(0, rows.length * 0.8), /^only \d+ of \d+ contracts/],
    ['with strikes in thousandths', (rows) => rows.map((r) => ({ ...r, strike: 1e3 * r.strike })), /^only 0 of \d+/],
    ['without a time', (rows) => rows.map((row) => ({ ...row, timestamp: '' })), /no quote has a time/],
    [
      'of an impossible time',
      (rows) => rows.map((row) => ({ ...row, timestamp: '2026-11-31T12:00:00' })),
      /no quote has/,
    ],
    ['of the future', (rows) => rows.map((row) => ({ ...row, timestamp: '2026-11-20T12:02:00' })), /no quote has/],
    ['that are empty', () => [], /unexpected, because/],
    ['with an endless row', (rows) => [{ ...rows[0], symbol: 'X'.repeat(5_000) }, ...rows], /a row has no end/],
    ['with a row of 2 MB', (rows) => [{ ...rows[0], symbol: 'X'.repeat(2e6) }, ...rows], /a row has no end/],
    ['with an endless cell', (rows) => [{ ...rows[0], symbol: '"X' }, ...rows], /a row has no end/],
  ])('quotes %s refuse the snapshot', async (_what, edit, reason) => {
    change('/quote', edit);
    expect(reasonsOf(await polled(create()))).toEqual([['CHPT', expect.stringMatching(reason)]]);
  });

  test('no open interest refuses the snapshot', async () => {
    status('/open_interest', 472);
    expect(reasonsOf(await polled(create()))).toEqual([
      ['CHPT', 'the terminal has quotes of CHPT, but no open interest'],
    ]);
  });

  test('a contract with open interest alone counts, without a quote', async () => {
    change('/quote', (rows) => rows.slice(1));
    const { chain, offered } = await onlyChain();
    expect([chain.count, offered]).toEqual([chpt.count, chpt.count]);
    expect(rowsOf(chain).filter(({ bid }) => bid === null)).toMatchObject([{ openInterest: expect.any(Number) }]);
  });

  test('a repeated contract is counted, and its first row stays', async () => {
    change('/quote', (rows) => [...rows, { ...rows[0], bid: 900 }]);
    const { chain } = await onlyChain();
    expect(chain).toMatchObject({ count: chpt.count, refused: { duplicate: 1 } });
    expect(chain.bid[0]).toBe(chpt.bid[0]!);
  });

  test('without last prices, the chain has none', async () => {
    status('/option/snapshot/ohlc', 471);
    const { chain } = await onlyChain();
    expect([chain.count, chain.last.some(Number.isFinite), chain.volume.some(Number.isFinite)]).toEqual([
      chpt.count,
      false,
      false,
    ]);
  });

  test.each<[string, Behaviour]>([
    ['no subscription', { kind: 'status', status: 403 }],
    ['no data', { kind: 'status', status: 472 }],
    ['delayed', priceOf({ timestamp: '2026-11-20T11:45:00.000' })],
    ['after the close', priceOf({ timestamp: '2026-11-20T18:00:00' })],
    ['0', priceOf({ close: 0 })],
    ['without a time', priceOf({ timestamp: 'noon' })],
  ])('a price that is %s: the quotes imply the spot', async (_what, behaviour) => {
    server.behaviour = (path) => (path.includes('/stock/') ? behaviour : undefined);
    expect(Math.abs((await onlyChain()).chain.spot / chpt.spot - 1)).toBeLessThan(0.01);
  });

  test('the time is that of the newest quote, and at the latest the close', async () => {
    change('/quote', (rows) => rows.map((row, i) => ({ ...row, timestamp: `2026-11-20T12:00:0${i % 8}.5` })));
    expect((await onlyChain()).chain.asOf).toBe(Date.parse('2026-11-20T17:00:07.500Z'));
    change('/quote', (rows) => rows.map((row) => ({ ...row, timestamp: '2026-11-20T16:14:59.999' })));
    clock.advance(5 * 3_600_000);
    const { chain } = await onlyChain();
    expect(chain.asOf).toBe(Date.parse('2026-11-20T21:00:00Z'));
    // Expirations that have settled at the close are left out.
    expect(chain.series[0]!.expiry > '2026-11-20').toBe(true);
  });

  test('has enough time for the whole universe', () => {
    expect(create(Array(59).fill('SPY')).pace).toEqual({ everyMs: 60_000, hours: 'session', delayMs: 0 });
  });
});

/** The price of a stock, a tenth higher and with other changes, which shows whether a snapshot has this price. */
function priceOf(changes: Json): Behaviour {
  return { kind: 'changed', change: ([row]) => [{ ...row, close: 1.1 * row.close, ...changes }] };
}
