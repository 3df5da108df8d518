import { describe, expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Chain } from '../../../src/market/chain.ts';
import type { LevelEvent, LevelRecord } from '../../../src/market/level-record.ts';
import { createMarket } from '../../../src/market/market.ts';
import { STANDARD_UNIVERSE } from '../../../src/market/universe.ts';
import { toolAnswer } from '../../../src/mcp/tool-answer.ts';
import type { Context, Provenance } from '../../../src/operations/engine/operation.ts';
import { getLiveGexNodes } from '../../../src/operations/gex/gex-nodes.ts';
import { type GexHistory, getGexHistory } from '../../../src/operations/history/gex-history.ts';
import { levelRecordOf } from '../../../src/operations/history/level-recorder.ts';
import { NUMBER_COLUMNS, type ScreenRow, WHIPSAW } from '../../../src/operations/history/screen-columns.ts';
import { screenTickers } from '../../../src/operations/history/screen-tickers.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import type { Store } from '../../../src/store/sqlite.ts';
import { recordedChain, recordedNames } from '../../analytics/recorded.ts';
import { SIMULATED, simulated } from '../../analytics/simulated.ts';
import { AS_OF, chainOf, EXPIRY, LATER, quoted, range } from '../../analytics/small-chains.ts';
import { DAY_MS, keepLevels, MONDAY_MS, recordOf } from '../../store/samples.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { DEFAULT_ANSWER_TOKENS_MAX, tokensOf } from '../../support/tokens.ts';
import { callExtended, performTool, refusalOf, smallMarket } from '../small-market.ts';

type Answer = Static<typeof screenTickers.full> & { readonly provenance: Provenance };

const ask = (args: object, context: Context) => callExtended(screenTickers, args, context) as unknown as Answer;

/** A market with the levels of these chains, and with older levels on some days before. */
function marketOf(chains: readonly Chain[], nowMs: number, pastDays = 30) {
  const { context, store } = smallMarket({ simulated: chains[0]!.simulated }, nowMs);
  for (const [i, chain] of chains.entries()) {
    const { underlying, simulated } = chain;
    // The number of days with levels differs, so that some tickers have no rank.
    for (let day = 1; day <= pastDays - 4 * i; day++) {
      const atmIv30d = 0.1 + 0.01 * ((day * 7 + i) % 40);
      keepLevels(store, {
        underlying,
        simulated,
        asOf: chain.asOf - day * DAY_MS,
        atmIv30d,
        spot: chain.spot + (day % 3),
      });
    }
    const id = store.saveChain(chain);
    store.saveLevels(id, runToCompletion(levelRecordOf(chain, store, context.largePrintMinUsd)));
  }
  return { context, store };
}

/** The rows that the other operations give, one ticker at a time. */
function expectedRow(ticker: string, context: Context): ScreenRow {
  const history = callExtended(getGexHistory, { ticker }, context) as unknown as GexHistory & {
    provenance: Provenance;
  };
  const last = history.count - 1;
  const nodes = callExtended(getLiveGexNodes, { ticker }, context) as unknown as Static<typeof getLiveGexNodes.full>;
  const radar = callExtended(runStrategicOmniRadar, { ticker }, context) as Record<string, number | null>;
  const { gex_flip, spot_price, net_gex_mil, net_over_gross_pct, regime, flip_resolved } = nodes;
  expect(history.net_gex[last]! / 1e6).toBeCloseTo(net_gex_mil, 9);
  const [spot, flip] = [history.spot[last]!, history.flip_resolved[last] ? history.gex_flip[last]! : null];
  expect([spot, flip]).toEqual([spot_price, flip_resolved ? gex_flip : null]);
  const { as_of, age_s, stale } = history.provenance;
  return {
    ...{ ticker, spot_price: spot, gex_flip: flip },
    flip_distance_pct: flip === null ? null : Math.abs(1 - flip / spot) * 100,
    spot_vs_flip: flip === null ? null : spot < flip ? 'below' : 'above',
    ...{ regime, net_gex_mil, net_over_gross_pct, atm_iv_30d: history.atm_iv_30d[last]!, iv_rank: history.iv_rank },
    ...{ whipsaw_risk_index: radar.whipsaw_risk_index!, as_of, age_s },
    ...(stale && { stale: true }),
  };
}

/** Rows, filters and orders equal those that a brute force over the answers of other operations gives. */
function expectBruteForce(chains: readonly Chain[]): void {
  const nowMs = Math.max(...chains.map(({ asOf }) => asOf)) + 30_000;
  const { context } = marketOf(chains, nowMs);
  const tickers = chains.map(({ underlying }) => underlying);
  const screen = (args: object) => ask({ tickers, limit: 100, ...args }, context);
  const expected = tickers.map((ticker) => expectedRow(ticker, context));
  const all = screen({ where: [`${WHIPSAW}>=0`], sort_by: 'ticker' });
  expect(all).toMatchObject({ matched: tickers.length, without_data: [] });
  const ordered = expected.toSorted((a, b) => (a.ticker < b.ticker ? -1 : 1));
  for (const [i, row] of all.rows.entries()) {
    const { flip_distance_pct, whipsaw_risk_index, ...others } = ordered[i]!;
    expect(row).toEqual({
      ...others,
      // The radar fits the whole surface, and the stored index comes from the settlements around 30 days.
      whipsaw_risk_index: expect.closeTo(whipsaw_risk_index!, 1) as never,
      flip_distance_pct: flip_distance_pct === null ? null : (expect.closeTo(flip_distance_pct, 9) as never),
    });
  }
  const names = (rows: readonly ScreenRow[]) => rows.map(({ ticker }) => ticker);
  for (const column of NUMBER_COLUMNS) {
    const value = (row: ScreenRow) => row[column] ?? null;
    const known = all.rows.filter((row) => value(row) !== null);
    for (const [order, sign] of [
      ['asc', 1],
      ['desc', -1],
    ] as const) {
      const sorted = known.toSorted((a, b) => sign * (value(a)! - value(b)!) || (a.ticker < b.ticker ? -1 : 1));
      const nulls = all.rows.filter((row) => value(row) === null);
      expect(names(screen({ sort_by: column, order }).rows)).toEqual(names([...sorted, ...nulls]));
    }
    const bounds = [...new Set(known.map((row) => value(row)!))].toSorted((a, b) => a - b);
    const bound = bounds[bounds.length >> 1]!;
    for (const [operator, holds] of Object.entries({
      '<': (x: number) => x < bound,
      '<=': (x: number) => x <= bound,
      '>': (x: number) => x > bound,
      '>=': (x: number) => x >= bound,
    })) {
      const { rows, matched } = screen({ where: [`${column} ${operator} ${bound}`], sort_by: 'ticker' });
      expect(names(rows)).toEqual(names(known.filter((row) => holds(value(row)!))));
      expect(matched).toBe(rows.length);
    }
  }
  for (const column of ['regime', 'spot_vs_flip'] as const) {
    for (const word of ['positive_gamma', 'negative_gamma', 'undetermined', 'above', 'below']) {
      if ((column === 'regime') !== word.includes('m')) continue;
      const { rows } = screen({ where: [`${column}=${word}`], sort_by: 'ticker' });
      expect(names(rows)).toEqual(names(all.rows.filter((row) => row[column] === word)));
    }
  }
}

const series = (expiry: string, spot: number, iv: number, tilt: number) =>
  quoted({ strikes: range(80, 120).map((each) => (each * spot) / 100), expiry, spot, iv, halfSpread: 0.01 }).map(
    (row) => ({
      ...row,
      // With a tilt of 0, calls and puts have the same open interest at each strike, so net gamma is 0 everywhere.
      openInterest: row.callPut === 1 ? 50 + tilt * (row.strike - spot) : 50 - tilt * (row.strike - spot),
    }),
  );
const chainAt = (underlying: string, spot: number, iv: number, tilt: number, asOf = AS_OF) =>
  chainOf(
    [EXPIRY, LATER].flatMap((expiry) => series(expiry, spot, iv, tilt).map((row) => ({ ...row, root: underlying }))),
    { underlying, spot, asOf },
  );
const SMALL = [
  chainAt('SPY', 100, 0.2, 0.5),
  chainAt('QQQ', 200, 0.3, 0.2, AS_OF - 5 * 60_000),
  chainAt('IWM', 50, 0.25, -0.9, AS_OF - 30_000),
  chainAt('AAPL', 100, 0.4, 0),
];

describe('equals a brute force over the other operations', () => {
  test('on small chains', () => expectBruteForce(SMALL));

  test('on simulated chains', () => expectBruteForce(['SPY', 'UUP', 'BRK.B', 'TSLA', 'GLD'].map(simulated)));
});

describeRecorded('equals a brute force over the other operations, on recorded chains', (dir) => {
  test('all of them together', () => {
    const chains = recordedNames(dir).map((name) => recordedChain(dir, name));
    const newest = Map.groupBy(chains, ({ underlying }) => underlying);
    expectBruteForce([...newest.values()].map((each) => each.toSorted((a, b) => b.asOf - a.asOf)[0]!));
  });
});

/** A market of stored levels without chains, each with the given differences. */
function levelsMarket(levels: readonly Partial<LevelRecord>[], nowMs = MONDAY_MS + 30_000) {
  const { context, store } = smallMarket({}, nowMs);
  for (const each of levels) keepLevels(store, each);
  return { context, store };
}

describe('tickers', () => {
  const { context } = levelsMarket([{ underlying: 'SPY' }, { underlying: 'SPX' }, { underlying: 'QQQ' }]);
  const screened = (args: object) => {
    const { rows, without_data } = ask({ sort_by: 'ticker', ...args }, context);
    return [rows.map(({ ticker }) => ticker), without_data];
  };

  test('by default: all that have data, and a note with the number of the others of the universe', () => {
    expect(screened({})).toEqual([['QQQ', 'SPX', 'SPY'], []]);
    const without = STANDARD_UNIVERSE.tickers.size - 2;
    expect(ask({}, context).provenance.notes).toContain(`Tickers of the universe without data: ${without}.`);
  });

  test('a misspelt ticker comes with the nearest that has data', () => {
    const { without_data, provenance } = ask({ tickers: ['SPYY', 'QQQ'] }, context);
    expect(without_data).toEqual(['SPYY']);
    expect(provenance.notes).toContain('SPYY has no data. Nearest with data: SPY, SPX.');
  });

  test.each<[string, string | undefined]>([
    ['atm_iv_30d>60', 'atm_iv_30d is a decimal: 60 means 6000 %.'],
    ['atm_iv_30d>0.6', undefined],
    ['iv_rank>0.7', 'iv_rank is 0 to 100: 0.7 means 0.7, not 70.'],
    ['iv_rank>=1', undefined],
    ['iv_rank>0', undefined],
    ['net_over_gross_pct<-0.25', 'net_over_gross_pct is -100 to 100: -0.25 means -0.25, not -25.'],
    ['flip_distance_pct<0.5', undefined],
    ['net_gex_mil<0.5', undefined],
    ['iv_rank>100', 'No ticker can meet this condition on iv_rank, which is 0 to 100.'],
    ['iv_rank<0', 'No ticker can meet this condition on iv_rank, which is 0 to 100.'],
    ['flip_distance_pct<0', 'No ticker can meet this condition on flip_distance_pct, which is never negative.'],
    ['net_over_gross_pct<-100', 'No ticker can meet this condition on net_over_gross_pct, which is -100 to 100.'],
    ['net_over_gross_pct<=-100', undefined],
  ])('the condition %s has the note %j', (condition, note) => {
    const { notes } = ask({ where: [condition], sort_by: 'ticker' }, context).provenance;
    expect(notes.filter((each) => / means |can meet/.test(each))).toEqual(note === undefined ? [] : [note]);
  });

  test('the note on the days of the rank is for one day, too', () => {
    expect(ask({}, context).provenance.notes).toContain('iv_rank is from at most 1 stored day, not from a year.');
  });

  test('in any spelling, each once', () => {
    expect(screened({ tickers: ['spy', 'SPXW', '^SPX', 'SPY'] })).toEqual([['SPX', 'SPY'], []]);
  });

  test('by the name of a company, with a note', () => {
    const { without_data, provenance } = ask({ tickers: ['Apple', 'SPY'] }, context);
    expect(without_data).toEqual(['AAPL']);
    expect(provenance.notes).toContain('"Apple" was read as AAPL.');
  });

  test('that are unknown are listed', () => {
    expect(screened({ tickers: ['ZZZZ', 'QQQ', 'AMD'] })).toEqual([['QQQ'], ['ZZZZ', 'AMD']]);
  });

  test('an index is answered with its fund, and a sector ETF with its shares', () => {
    const { notes } = ask({ tickers: ['NDX', 'XLC', 'SPY', 'Microsoft'] }, context).provenance;
    expect(notes.slice(-2)).toEqual([
      'NDX has no data. QQQ, the fund on it, has data.',
      expect.stringMatching(/^XLC has no data\. It is tracked only as the sector ETF of GOOGL, /),
    ]);
  });

  test('without any data, there is no provenance, and the notes stand alone', () => {
    expect(ask({ tickers: ['NDX', 'ZZZZ'] }, context)).toEqual({
      ...{ rows: [], matched: 0, without_data: ['NDX', 'ZZZZ'] },
      notes: ['NDX has no data. QQQ, the fund on it, has data.'],
    } as never);
    const shown = toolAnswer(performTool(screenTickers, { tickers: ['NDX', 'ZZZZ'] }, context));
    expect(shown).toMatchObject({ provenance: { notes: ['NDX has no data. QQQ, the fund on it, has data.'] } });
  });
});

describe('nulls', () => {
  const { context } = levelsMarket([
    { underlying: 'SPY', spot: 101, gexFlip: 100 },
    { underlying: 'QQQ', flipResolved: false },
    { underlying: 'IWM', spot: 100, gexFlip: 102, atmIv30d: null },
    { underlying: 'GLD', spot: 99, gexFlip: 99 },
    { underlying: 'DIA', flipResolved: false },
  ]);

  test.each([
    [{}, ['GLD', 'SPY', 'IWM', 'DIA', 'QQQ']],
    [{ order: 'desc' }, ['IWM', 'SPY', 'GLD', 'DIA', 'QQQ']],
    [{ order: 'size' }, ['IWM', 'SPY', 'GLD', 'DIA', 'QQQ']],
    [{ where: ['flip_distance_pct<1000'] }, ['GLD', 'SPY', 'IWM']],
    [{ where: ['flip_distance_pct>=0', 'spot_vs_flip=above'] }, ['GLD', 'SPY']],
    [{ where: ['spot_vs_flip==below'] }, ['IWM']],
    [{ where: ['atm_iv_30d>0'], limit: 2 }, ['GLD', 'SPY']],
    [{ where: ['iv_rank>=0'] }, []],
  ])('%j gives %j', (args, expected) => {
    expect(ask(args, context).rows.map(({ ticker }) => ticker)).toEqual(expected);
  });

  test('are counted in a note', () => {
    const notes = (args: object) => ask(args, context).provenance.notes;
    expect(notes({})).toContain('flip_distance_pct is null for 2 of 5 tickers.');
    expect(notes({ where: ['iv_rank>50'], sort_by: 'ticker' })).toContain('iv_rank is null for 5 of 5 tickers.');
    expect(notes({ sort_by: 'ticker' }).filter((each) => each.includes('is null'))).toEqual([]);
  });

  test('a ticker without a chain has no whipsaw index', () => {
    const { context } = levelsMarket([]);
    expect(ask({ sort_by: WHIPSAW }, context).rows).toEqual([]);
    // A disk can damage the only chain of a ticker, while its levels stay.
    const { store } = levelsMarket([{ underlying: 'SPY', expiringGex: null }]);
    const damaged = { ...store, latestChainId: () => undefined };
    const without = { ...context, market: createMarket(damaged, STANDARD_UNIVERSE, false, Date.now) };
    expect(ask({ sort_by: WHIPSAW, tickers: ['SPY'] }, without).rows[0]).toMatchObject({ [WHIPSAW]: null });
  });
});

describe('the stored whipsaw index', () => {
  const chains = [chainAt('SPY', 100, 0.2, 0.5), chainAt('QQQ', 200, 0.3, 0.2), chainAt('IWM', 50, 0.25, -0.9)];

  test('filters and sorts without a chain or a surface', () => {
    const { store } = marketOf(chains, AS_OF);
    const unread = { ...store, chain: () => expect.unreachable('reads a chain') };
    const context = {
      ...smallMarket({}, AS_OF).context,
      market: createMarket(unread, STANDARD_UNIVERSE, false, Date.now),
    };
    const { rows } = ask({ where: [`${WHIPSAW}>0`], sort_by: WHIPSAW, order: 'desc' }, context);
    const indices = rows.map((row) => row.whipsaw_risk_index!);
    expect(rows).toHaveLength(3);
    expect(indices).toEqual(indices.toSorted((a, b) => b - a));
  });

  test('is computed for levels of an earlier version of the program', () => {
    const { context, store } = marketOf(chains, AS_OF);
    const screen = () => ask({ sort_by: WHIPSAW, order: 'desc' }, context).rows.map((row) => row.whipsaw_risk_index!);
    const stored = screen();
    for (const underlying of ['SPY', 'IWM']) {
      const { asOf, ...levels } = store.newestLevels(underlying, AS_OF, false)!;
      const id = store.saveChain(chains.find((each) => each.underlying === underlying)!);
      store.saveLevels(id, { ...levels, asOf, expiringGex: null });
    }
    for (const [i, index] of screen().entries()) expect(index).toBeCloseTo(stored[i]!, 2);
  });
});

test('answers all of 3,000 tickers', () => {
  const { context, store } = smallMarket({}, MONDAY_MS);
  const names = Array.from({ length: 3_000 }, (_, i) =>
    [26 ** 2, 26, 1].map((each) => String.fromCharCode(65 + (Math.floor(i / each) % 26))).join(''),
  );
  store.transaction(() => {
    for (const [i, underlying] of names.entries()) keepLevels(store, { underlying: `Q${underlying}`, netGex: i * 1e6 });
  });
  const answer = ask({ sort_by: 'net_gex_mil', order: 'desc', limit: 3 }, context);
  expect(answer.matched).toBe(3_000);
  expect(answer.rows.map((row) => row.net_gex_mil)).toEqual([2_999, 2_998, 2_997]);
  expect(ask({ where: ['net_gex_mil>=1500'], limit: 1 }, context).matched).toBe(1_500);
});

test('levels of many tickers are read once, and then only what has changed', () => {
  const tickers = Array.from(
    { length: 100 },
    (_, i) => `Q${String.fromCharCode(65 + (i % 26), 65 + Math.floor(i / 26))}`,
  );
  const { store } = smallMarket();
  for (const underlying of tickers) keepLevels(store, { underlying, asOf: MONDAY_MS - DAY_MS });
  for (const underlying of tickers) keepLevels(store, { underlying });
  let reads = 0;
  const counted: Store = {
    ...store,
    newestLevels: (...given) => [store.newestLevels(...given), reads++][0] as LevelEvent | undefined,
    volatilitiesOfDays: (...given) => [store.volatilitiesOfDays(...given), reads++][0] as (number | null)[],
  };
  const market = createMarket(counted, STANDARD_UNIVERSE, false, Date.now);
  const context = { ...smallMarket({}, MONDAY_MS + DAY_MS).context, market };
  const readsOf = (args: object) => {
    reads = 0;
    ask({ tickers, ...args }, context);
    return reads;
  };
  expect(readsOf({})).toBe(200);
  expect(readsOf({ where: ['iv_rank>50'] })).toBe(0);
  // Newer levels of the same day are taken over without a read. A new day needs the volatilities of the days before.
  for (const underlying of tickers) keepLevels(store, { underlying, asOf: MONDAY_MS + 1 });
  expect(readsOf({})).toBe(0);
  keepLevels(store, { underlying: tickers[0]!, asOf: MONDAY_MS + DAY_MS });
  expect(readsOf({})).toBe(2);
});

test('rows are sorted by the absolute value, the largest first', () => {
  const netGex = { SPY: 3e8, QQQ: -9e8, IWM: 5e8, DIA: -1e8 };
  const { context } = levelsMarket(
    Object.entries(netGex).map(([underlying, each]) => ({ underlying, netGex: each, grossGex: 1e9 })),
  );
  const { rows } = ask({ sort_by: 'net_over_gross_pct', order: 'size' }, context);
  expect(rows.map((row) => [row.ticker, row.net_over_gross_pct])).toEqual([
    ['QQQ', -90],
    ['IWM', 50],
    ['SPY', 30],
    ['DIA', -10],
  ]);
});

describe('a filter for a regime near the flip', () => {
  const of = (underlying: string, distance: number, netGex: number) => ({
    ...{ underlying, spot: 100, gexFlip: 100 - distance, netGex, grossGex: 1e9 },
  });
  const { context } = levelsMarket([
    of('SPY', 0.5, 1e6),
    of('QQQ', -0.2, -1e6),
    of('IWM', -5, -5e8),
    of('DIA', 6, 5e8),
  ]);
  const note = (those: string) =>
    `If the sign of net GEX is not certain, regime is undetermined. Tickers with it that meet the other conditions: ${those}.`;

  test.each<[string[], number, string | undefined]>([
    [['regime=negative_gamma', 'flip_distance_pct<1'], 0, note('SPY (net GEX +), QQQ (net GEX -)')],
    [['regime=positive_gamma', 'flip_distance_pct<1', 'spot_vs_flip=above'], 0, note('SPY (net GEX +)')],
    [['regime=negative_gamma', 'flip_distance_pct<0.1'], 0, note('0')],
    [['regime=negative_gamma'], 1, note('SPY (net GEX +), QQQ (net GEX -)')],
    [['regime=negative_gamma', 'flip_distance_pct>1'], 1, undefined],
    [['regime=undetermined', 'flip_distance_pct<1'], 2, undefined],
    [['flip_distance_pct<1'], 2, undefined],
  ])('%j matches %i and has the note %j', (where, matched, expected) => {
    const answer = ask({ where, sort_by: 'ticker' }, context);
    expect(answer.matched).toBe(matched);
    expect(answer.provenance.notes.filter((each) => each.startsWith('If the sign'))).toEqual(
      expected === undefined ? [] : [expected],
    );
  });
});

test('a row whose regime is not firm comes with the limits', () => {
  const row = (netGex: number, signProbability: number | null = 0.9) => ({
    ...{ underlying: 'SPY', spot: 100, gexFlip: 90, netGex, grossGex: 1e9, signProbability },
  });
  const limits =
    "regime is undetermined if net_over_gross_pct is within ±5, or if the sign of net GEX is right with a probability below 80 %, because dealers' positions are assumed.";
  const notesOf = (...rows: Partial<LevelRecord>[]) => ask({}, levelsMarket(rows).context).provenance.notes;
  expect(notesOf(row(4.9e7))).toContain(limits);
  expect(notesOf(row(3e8, 0.79))).toContain(limits);
  // Without a stored probability, it follows from net and gross GEX.
  expect(notesOf(row(2e8, null))).toContain(limits);
  expect(notesOf(row(-3e8, 0.84))).toContain(`${limits} Nearly so (below 85 %): SPY.`);
  expect(notesOf(row(7.6e7)).join()).not.toContain('undetermined');
  const many = ['SPY', 'QQQ', 'IWM', 'DIA'].map((underlying) => ({ ...row(5.1e8, 0.81), underlying }));
  expect(notesOf(...many).join()).toContain('Nearly so (below 85 %): 4.');
});

test('the whipsaw index is present only if it is named, and computed only for rows that meet the other conditions', () => {
  const { context } = marketOf(SMALL, AS_OF);
  expect(ask({ limit: 4 }, context).rows.map((row) => WHIPSAW in row)).toEqual([false, false, false, false]);
  const { rows, provenance } = ask({ where: ['spot_vs_flip=above', `${WHIPSAW}<=100`] }, context);
  const above = ask({ where: ['spot_vs_flip=above'] }, context).rows;
  expect(rows.map(({ ticker }) => ticker)).toEqual(above.map(({ ticker }) => ticker));
  expect(rows.every((row) => row[WHIPSAW]! >= 0)).toBe(true);
  expect(provenance.notes.join()).not.toContain(WHIPSAW);
});

describe('rejects the condition', () => {
  const { context } = levelsMarket([{ underlying: 'SPY' }]);
  test.each([
    'iv_rank',
    'iv_rank>',
    'iv_rank=80',
    'iv_rank>=high',
    'iv_rank>=80%',
    'iv_rank>80 and age_s<60',
    'ivrank>80',
    'ticker>A',
    'spot_price>1',
    'regime<1',
    'regime=negative',
    'spot_vs_flip>0',
    '',
    '__proto__>1',
  ])('%s', (text) => {
    const refusal = refusalOf(() => ask({ where: ['iv_rank>=1', text] }, context));
    expect(refusal).toMatchObject({ code: 'invalid_body', fields: ['/where/1'] });
    for (const column of NUMBER_COLUMNS) expect(refusal.hint).toContain(column);
    expect(refusal.message).toContain('regime= positive_gamma or negative_gamma or undetermined');
  });

  test('of a column that is not sortable, too many conditions, and too many tickers', () => {
    for (const [args, field] of [
      [{ sort_by: 'regime' }, '/sort_by'],
      [{ order: 'up' }, '/order'],
      [{ where: Array(9).fill('iv_rank>1') }, '/where'],
      [{ tickers: Array(101).fill('SPY') }, '/tickers'],
      [{ limit: 101 }, '/limit'],
    ] as const) {
      expect(refusalOf(() => ask(args, context)).fields).toEqual([field]);
    }
  });
});

describe('provenance', () => {
  const nowMs = MONDAY_MS + 10_000;
  const { context } = levelsMarket(
    [
      { underlying: 'SPY', asOf: MONDAY_MS, atmIv30d: 0.3 },
      { underlying: 'QQQ', asOf: MONDAY_MS - 120_000, atmIv30d: 0.2 },
      { underlying: 'IWM', asOf: MONDAY_MS - 5_000, atmIv30d: 0.1 },
    ],
    nowMs,
  );

  test('is that of the oldest quotes of the rows, and each row has its own age', () => {
    const { rows, provenance } = ask({ sort_by: 'age_s' }, context);
    expect(rows.map(({ ticker, age_s, stale }) => [ticker, age_s, stale])).toEqual([
      ['SPY', 10, undefined],
      ['IWM', 15, undefined],
      ['QQQ', 130, true],
    ]);
    expect(provenance).toMatchObject({ age_s: 130, stale: true, as_of: new Date(MONDAY_MS - 120_000).toISOString() });
    expect(provenance.notes).toEqual(
      expect.arrayContaining([
        'Age and source are those of the oldest quotes, QQQ.',
        'The quotes of 1 of 3 tickers are stale.',
      ]),
    );
  });

  test('does not depend on rows that are not shown', () => {
    expect(ask({ where: ['atm_iv_30d<0.15'] }, context).provenance).toMatchObject({ age_s: 15, stale: false });
  });

  test('names the sources if there are several', () => {
    const { context, store } = levelsMarket([{ underlying: 'SPY' }], nowMs);
    store.saveChain({ ...chainAt('QQQ', 100, 0.2, 0.5), source: 'files:b' });
    store.saveLevels(store.levelsDue()[0]!, recordOf({ underlying: 'QQQ' }));
    expect(ask({}, context).provenance.notes).toContain('Sources: simulated, files:b.');
  });
});

describe('at a past moment', () => {
  const { context, store } = levelsMarket(
    [
      { underlying: 'SPY', spot: 100, gexFlip: 99 },
      { underlying: 'SPY', spot: 110, gexFlip: 99, asOf: MONDAY_MS + DAY_MS },
      { underlying: 'QQQ', asOf: MONDAY_MS + DAY_MS },
    ],
    MONDAY_MS + 2 * DAY_MS,
  );
  const at = '2026-01-05';

  test('shows the levels of that moment', () => {
    expect(ask({ tickers: ['SPY', 'QQQ'], at }, context)).toMatchObject({
      rows: [{ ticker: 'SPY', spot_price: 100, age_s: 9 * 3_600 }],
      without_data: ['QQQ'],
    });
    expect(ask({ tickers: ['SPY', 'QQQ'] }, context).rows.map((row) => row.spot_price)).toContain(110);
  });

  test('fails while levels are due, and has a note at the present moment', () => {
    store.saveChain({ ...chainAt('SPY', 100, 0.2, 0.5), asOf: MONDAY_MS + 1 });
    expect(ask({}, context).provenance.notes.join()).toContain('levels of 1 snapshot are not computed yet');
    expect(refusalOf(() => ask({ at }, context)).code).toBe('unavailable');
  });
});

test('the default answer for the simulated universe fits into a model’s context', () => {
  const chains = SIMULATED.map(simulated);
  const { context } = marketOf(chains, chains[0]!.asOf + DAY_MS, 120);
  for (const args of [{}, { sort_by: WHIPSAW, order: 'desc' }, { where: ['iv_rank>=0', `${WHIPSAW}>0`, 'age_s>0'] }]) {
    const performed = performTool(screenTickers, args, context);
    expect((performed.body.rows as unknown[]).length).toBe(15);
    expect(tokensOf(toolAnswer(performed))).toBeLessThanOrEqual(DEFAULT_ANSWER_TOKENS_MAX - 150);
  }
});
