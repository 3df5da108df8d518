import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS, type ExpirySelection } from '../../../src/analytics/chain/options.ts';
import { prepareChain, requireWeights } from '../../../src/analytics/chain/prepare.ts';
import { gexLevels } from '../../../src/analytics/exposure/gex-levels.ts';
import { hedgingNodes } from '../../../src/analytics/exposure/hedging-nodes.ts';
import { ClientError } from '../../../src/core/errors.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { greeks } from '../../../src/math/black-scholes.ts';
import { AS_OF, chainOf, contract, EXPIRY, LATER, prepared, quoted, range, TODAY } from '../small-chains.ts';

const MINUTE_MS = 60_000;
const TOMORROW = '2026-01-06';
/** 16:00 in New York on the day of the snapshot. */
const CLOSE = AS_OF + 60 * MINUTE_MS;
const MINUTES_A_YEAR = 365.25 * 24 * 60;

describe('drops settled contracts', () => {
  const rows = [contract({ expiry: TODAY }), contract({ expiry: TODAY, callPut: -1 }), contract()];
  test.each([
    ['an hour before the close', CLOSE - 60 * MINUTE_MS, 0, 60],
    ['16 minutes before', CLOSE - 16 * MINUTE_MS, 0, 16],
    ['ten minutes before: counts as 15', CLOSE - 10 * MINUTE_MS, 0, 15],
    ['a millisecond before: counts as 15', CLOSE - 1, 0, 15],
    ['at the close', CLOSE, 2, undefined],
    ['after the close', CLOSE + 1, 2, undefined],
  ])('%s', (_what, asOf, settled, minutes) => {
    const { counts, series } = prepared(rows, {}, { asOf });
    expect(counts.left_out.settled).toBe(settled);
    expect(counts.used).toBe(3 - settled);
    if (minutes !== undefined) expect(series[0]!.tte * MINUTES_A_YEAR).toBeCloseTo(minutes, 9);
    else expect(series.map(({ series: { expiry } }) => expiry)).toEqual([EXPIRY]);
  });
});

describe('two series of a third Friday', () => {
  const strikes = range(5900, 6100, 20);
  const common = { strikes, spot: 6000, expiry: EXPIRY };
  const rows = [
    ...quoted({ ...common, root: 'SPX', iv: 0.1, dividend: 0.01 }),
    ...quoted({ ...common, root: 'SPXW', iv: 0.2, dividend: 0.02 }),
  ];
  const head = { underlying: 'SPX', spot: 6000 };

  test('each has its own time to expiry, forward and smile', () => {
    const { series } = prepared(rows, {}, head);
    expect(series.map(({ series: { root, settlement } }) => [root, settlement])).toEqual([
      ['SPX', 'AM'],
      ['SPXW', 'PM'],
    ]);
    // The trading day from 09:30 to 16:00.
    expect((series[1]!.tte - series[0]!.tte) * MINUTES_A_YEAR).toBeCloseTo(390, 6);
    series.forEach((each, i) => {
      expect(each.dividend).toBeCloseTo([0.01, 0.02][i]!, 6);
      expect(each.forward).toBeCloseTo(6000 * Math.exp((0.04 - [0.01, 0.02][i]!) * each.tte), 6);
      expect(Math.sqrt(each.smile.totalVariance[3]! / each.tte)).toBeCloseTo([0.1, 0.2][i]!, 6);
      expect(each.end - each.start).toBe(2 * strikes.length);
    });
  });

  test('at the open only the AM-settled series settles', () => {
    const noon = Date.parse('2026-01-16T17:00:00Z');
    const { series, counts } = prepared(rows, { expiries: { kind: '0dte' } }, { ...head, asOf: noon });
    expect(series.map(({ series: { root } }) => root)).toEqual(['SPXW']);
    expect(counts.left_out).toEqual({ settled: 22, adjusted: 0, other_expiry: 0, no_volatility: 0 });
  });
});

describe('expiries', () => {
  const rows = [TODAY, TOMORROW, EXPIRY, LATER].map((expiry) => contract({ expiry }));
  test.each([
    [{ kind: 'all' }, [TODAY, TOMORROW, EXPIRY, LATER]],
    [{ kind: '0dte' }, [TODAY]],
    [{ kind: 'date', date: LATER }, [LATER]],
    [{ kind: 'next', days: 1 }, [TODAY]],
    [{ kind: 'next', days: 11 }, [TODAY, TOMORROW]],
    [{ kind: 'next', days: 12 }, [TODAY, TOMORROW, EXPIRY]],
    [{ kind: 'next', days: 100 }, [TODAY, TOMORROW, EXPIRY, LATER]],
  ] satisfies [ExpirySelection, string[]][])('%j', (expiries, expected) => {
    const { series, counts } = prepared(rows, { expiries });
    expect(series.map(({ series: { expiry } }) => expiry)).toEqual(expected);
    expect(counts.left_out.other_expiry).toBe(4 - expected.length);
    expect(counts.contracts).toBe(4);
  });
});

test('leaves out adjusted deliverables, settled or not', () => {
  const rows = [contract({ root: 'ACME1' }), contract({ root: 'ACME1', expiry: TODAY }), contract()];
  const { counts } = prepared(rows, {}, { asOf: CLOSE });
  expect(counts.left_out).toEqual({ settled: 0, adjusted: 2, other_expiry: 0, no_volatility: 1 });
  expect(counts.used).toBe(1);
});

describe('throws a ClientError if no contract is left', () => {
  test.each<readonly [string, ContractRow[], ExpirySelection, string | RegExp, string, number?]>([
    ['all contracts settled', [contract({ expiry: TODAY })], { kind: 'all' }, 'Every contract of', 'newer snapshot'],
    ['all contracts adjusted', [contract({ root: 'ACME1' })], { kind: 'all' }, 'is adjusted', 'newer snapshot'],
    [
      'no contract of the day, after the close',
      [contract()],
      { kind: '0dte' },
      `${TODAY} is not a listed expiry in the snapshot of ACME as of 2026-01-05T21:00:00.000Z: options of that day had settled by ${TODAY} 16:00 New York`,
      EXPIRY,
    ],
    [
      'only settled contracts of the day',
      [contract(), contract({ expiry: TODAY })],
      { kind: '0dte' },
      `The expiry ${TODAY} had settled before the snapshot of ACME as of 2026-01-05T21:00:00.000Z, at ${TODAY} 16:00 New York`,
      EXPIRY,
    ],
    [
      'a half day of the past',
      [contract()],
      { kind: 'date', date: '2025-11-28' },
      'by 2025-11-28 13:00 New York',
      EXPIRY,
    ],
    ['a holiday', [contract()], { kind: 'date', date: '2026-01-19' }, 'the exchange is closed on that day', EXPIRY],
    ['a date without an expiry', [contract()], { kind: 'date', date: '2026-01-17' }, 'is not a listed', EXPIRY],
    ['too few days', [contract()], { kind: 'next', days: 1 }, 'settles within 1 days', EXPIRY],
    [
      'no contract of the day, before the close',
      [contract()],
      { kind: '0dte' },
      /is not a listed expiry in .*00Z$/,
      EXPIRY,
      AS_OF,
    ],
  ])('%s', (_what, rows, expiries, message, hint, asOf = CLOSE) => {
    const read = () => prepared(rows, { expiries }, { asOf });
    expect(read).toThrow(ClientError);
    try {
      read();
    } catch (error) {
      expect((error as ClientError).code).toBe(expiries.kind === 'all' ? 'no_chain' : 'unknown_expiry');
      expect((error as ClientError).message).toMatch(message);
      expect((error as ClientError).hint).toContain(hint);
    }
  });
});

test('the weight is open interest, or volume; a missing value counts as 0', () => {
  const rows = [contract({ openInterest: 7, volume: 3 }), contract({ strike: 105, volume: 2, multiplier: 10 })];
  expect([...prepared(rows).weight]).toEqual([7, 0]);
  expect([...prepared(rows, { weight: 'volume' }).weight]).toEqual([3, 2]);
  expect([...prepared(rows).multiplier]).toEqual([100, 10]);
});

describe('gamma equals the formulas bit for bit', () => {
  const rows = [...quoted({ strikes: range(90, 110), iv: (strike) => 0.5 - strike / 400 }), contract({ strike: 111 })];
  const given = rows.map((row, i) => ({ ...row, iv: 0.2 + 0.01 * (i >> 2) }));
  test.each([
    ['a call and its put have the same gamma', rows, {}],
    ['each by its own volatility', given, { iv: 'own' }],
  ] as const)('%s', (_what, rows, options) => {
    const ready = prepared(rows, options);
    const { count, callPut, strike, tte, iv, rate, dividend } = ready;
    const { gamma } = greeks({ count, callPut, spot: 100, strike, tte, iv, rate, dividend });
    expect([...ready.gamma]).toEqual([...gamma]);
  });
});

test('a call and a put with one volatility form a pair, other contracts stand alone', () => {
  const rows = [
    contract({ strike: 95, iv: 0.2 }),
    contract({ strike: 95, callPut: -1, iv: 0.4 }),
    contract({ strike: 100, iv: 0.3 }),
    contract({ strike: 100, callPut: -1, iv: 0.3 }),
    contract({ strike: 105, callPut: -1 }),
    contract({ expiry: LATER, strike: 105, iv: 0.3 }),
  ];
  const own = prepared(rows, { iv: 'own' }).pairs;
  expect([...own.contracts]).toEqual([0, 1, 2, 4, 5, 6]);
  expect([...own.strike]).toEqual([95, 95, 100, 105, 105]);
  expect([...own.iv]).toEqual([0.2, 0.4, 0.3, Number.NaN, 0.3]);
  expect(own.tte[4]).toBeGreaterThan(own.tte[3]!);
  const shared = prepared(rows).pairs;
  expect([...shared.contracts]).toEqual([0, 2, 4, 5, 6]);
  expect([...shared.iv].slice(0, 2)).toEqual([0.4, 0.3]);
});

test('columns hold the live contracts, whatever contracts precede, separate or follow them', () => {
  const rows = [TODAY, EXPIRY, LATER].flatMap((expiry, far) =>
    [95, 100].map((strike) =>
      contract({ expiry, strike: strike + far, callPut: far === 1 ? -1 : 1, multiplier: 10 + far }),
    ),
  );
  const adjusted = contract({ root: 'ACME1', strike: 50, multiplier: 7 });
  const ready = (more: ContractRow[], expiries: ExpirySelection = { kind: 'all' }) => {
    const { row, strike, callPut, multiplier, chain } = prepared([...rows, ...more], { expiries }, { asOf: CLOSE });
    expect([...strike]).toEqual(Array.from(row, (i) => chain.strike[i]!));
    return { strike: [...strike], callPut: [...callPut], multiplier: [...multiplier] };
  };
  const all = { strike: [96, 101, 97, 102], callPut: [-1, -1, 1, 1], multiplier: [11, 11, 12, 12] };
  expect(ready([])).toEqual(all);
  expect(ready([adjusted, { ...adjusted, expiry: LATER }])).toEqual(all);
  expect(ready([], { kind: 'next', days: 20 })).toEqual({ strike: [96, 101], callPut: [-1, -1], multiplier: [11, 11] });
});

test('the same chain and options return the same object, other options another object', () => {
  const chain = chainOf(quoted({ strikes: [95, 100, 105] }));
  const first = runToCompletion(prepareChain(chain, DEFAULT_OPTIONS));
  expect(runToCompletion(prepareChain(chain, { ...DEFAULT_OPTIONS }))).toBe(first);
  for (const rate of [0.01, 0.02, 0.03, 0.05, 0.06]) {
    expect(runToCompletion(prepareChain(chain, { ...DEFAULT_OPTIONS, rate }))).not.toBe(first);
    expect(runToCompletion(prepareChain(chain, { ...DEFAULT_OPTIONS, rate })).options.rate).toBe(rate);
  }
});

describe('poor chains have plausible levels and only finite numbers', () => {
  const open = { openInterest: 10 };
  const strikes = [90, 95, 100, 105, 110];
  test.each([
    ['no open interest', quoted({ strikes }), { pain: 90, flip: 100, net: 0 }],
    ['one strike with quotes', quoted({ strikes: [100], rest: open }), { pain: 100, net: 0 }],
    ['one contract without any value', [contract(open)], { pain: 100, flip: 100, net: 0 }],
    ['no volatility by any method', unquoted(strikes, open), { pain: 100, flip: 100, net: 0 }],
    ['puts only', onlySide(-1), { pain: 110, sign: -1, resolved: false }],
    ['calls only', onlySide(1), { pain: 90, sign: 1, resolved: false }],
    ['only strikes above spot', quoted({ strikes: [110, 120], rest: open }), { pain: 110, net: 0 }],
    ['only strikes below spot', quoted({ strikes: [80, 90], rest: open }), { pain: 80, net: 0 }],
  ] as const)('%s', (_what, rows, expected) => {
    const ready = prepared(rows as readonly ContractRow[]);
    const levels = runToCompletion(gexLevels(ready, new Map()));
    const { exposures, walls, flip } = levels;
    const figures = [...Object.values(exposures), walls.call.strike, walls.put.strike, flip.level, levels.maxPain];
    for (const figure of figures) expect(figure).toBeFinite();
    for (const node of hedgingNodes(ready, 10))
      expect([node.dealerShares, node.deltaFlux].every(Number.isFinite)).toBe(true);
    expect(levels.maxPain).toBe(expected.pain);
    // Calls and puts of equal open interest cancel each other out.
    if ('net' in expected) expect(exposures.gex).toBeCloseTo(expected.net, 6);
    if ('flip' in expected) expect(flip).toEqual({ level: expected.flip, resolved: false });
    if ('sign' in expected) expect(Math.sign(exposures.gex)).toBe(expected.sign);
    if ('resolved' in expected) expect(flip.resolved).toBe(expected.resolved);
  });

  function onlySide(callPut: 1 | -1): ContractRow[] {
    return quoted({ strikes, rest: open }).filter((row) => row.callPut === callPut);
  }

  function unquoted(strikes: readonly number[], rest: Partial<ContractRow>): ContractRow[] {
    return strikes.flatMap((strike) => [1, -1].map((callPut) => contract({ strike, callPut, ...rest })));
  }
});

test('a chain weighed by volume has the columns of a chain whose open interest is that volume', () => {
  const rows = quoted({ strikes: range(80, 120, 5) }).map((row, i) => ({
    ...row,
    openInterest: 10 + i,
    volume: [3, 0, 8, Number.NaN][i % 4]! * (i + 1),
  }));
  const exchanged = rows.map((row) => ({ ...row, openInterest: row.volume }));
  const { chain: _, options: __, ...byVolume } = prepared(rows, { weight: 'volume' });
  const { chain: ___, options: ____, ...expected } = prepared(exchanged);
  expect(byVolume).toEqual(expected);
});

describe('a chain has no levels', () => {
  const strikes = range(81, 119, 2);
  const rows = quoted({ strikes, rest: { openInterest: 10, volume: 5 } });
  const ofSide = (side: number, value: Partial<ContractRow>) =>
    rows.map((row) => (row.callPut === side ? { ...row, ...value } : row));
  const none = Number.NaN;
  test.each<[string, ContractRow[], RegExp | undefined]>([
    [
      'without open interest of puts',
      ofSide(-1, { openInterest: none }),
      /^The newest chain of ACME has no open interest of puts, so/,
    ],
    ['without open interest of calls', ofSide(1, { openInterest: 0 }), /no open interest of calls, so/],
    [
      'without quotes',
      rows.map((row) => ({ ...row, bid: none, ask: none })),
      /has no volatility, .* only 0 of 40 contracts have a usable bid and ask/,
    ],
    ['without bids', rows.map((row) => ({ ...row, bid: 0 })), /has no volatility/],
    ['except one of few puts', ofSide(-1, { openInterest: none }).slice(2), undefined],
    [
      'except one with volatilities of the feed',
      rows.map((row) => ({ ...row, bid: none, ask: none, iv: 0.3 })),
      undefined,
    ],
    ['except a usual one', rows, undefined],
  ])('%s', (_what, contracts, message) => {
    const read = () => requireWeights(prepared(contracts));
    if (message === undefined) return read();
    expect(read).toThrow(message);
    expect(read).toThrow(ClientError);
    // By volume, one side without open interest does not matter.
    const byVolume = () => requireWeights(prepared(contracts, { weight: 'volume' }));
    if (message.source.includes('volatility')) expect(byVolume).toThrow(message);
    else byVolume();
  });

  test('with the volatilities of a feed that gives none, by name of the option', () => {
    expect(() => requireWeights(prepared(rows, { iv: 'own' }))).toThrow(
      /no volatility of the feed, which iv=own needs/,
    );
  });
});
