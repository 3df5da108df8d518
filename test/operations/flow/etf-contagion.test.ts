import { describe, expect, test } from 'bun:test';
import { addDays } from '../../../src/market/calendar.ts';
import type { LevelRecord } from '../../../src/market/level-record.ts';
import type { Close } from '../../../src/market/prints.ts';
import { evaluateEtfContagion } from '../../../src/operations/flow/etf-contagion.ts';
import { AS_OF, chainOf, contract, print, TODAY } from '../../analytics/small-chains.ts';
import { DAY_MS, keepLevels, MONDAY_MS } from '../../store/samples.ts';
import { call, callExtended, type Holdings, refusalOf, smallMarket } from '../small-market.ts';

const QUESTION = { single_name_ticker: 'NVDA', whale_fiat: 2e6, current_iv: 0.6, iv_ceiling: 0.5 };

function ask(overrides: object = {}, holdings: Holdings = {}): unknown {
  return call(evaluateEtfContagion, { ...QUESTION, ...overrides }, smallMarket(holdings).context).etf_proxy;
}

/** Daily closes of NVDA up to a day, and of SMH that move with NVDA (1) or against it (-1). */
function closes(days: number, sign: 1 | -1, until = TODAY): Close[] {
  return Array.from({ length: days }, (_, i) => {
    const date = addDays(until, i - days + 1);
    const swing = Math.sin(i * i);
    return [
      { ticker: 'NVDA', date, close: 100 * Math.exp(swing / 50), volume: null, simulated: false },
      { ticker: 'SMH', date, close: 200 * Math.exp((sign * swing) / 70), volume: null, simulated: false },
    ];
  }).flat();
}

describe('names the sector ETF', () => {
  test.each([
    ['NVDA', 'SMH'],
    ['nvda', 'SMH'],
    ['BRK.B', 'XLF'],
    ['brk.b', 'XLF'],
    ['MSTR', 'IBIT'],
    ['JNJ', 'XLV'],
    ['SPY', null],
    ['SMH', null],
  ])('%s: %p', (single_name_ticker, expected) => {
    expect(ask({ single_name_ticker })).toBe(expected);
  });
});

test.each([
  ['volatility below the ceiling', { current_iv: 0.49 }, null],
  ['flow below a million', { whale_fiat: 999_999 }, null],
  ['a million sold', { whale_fiat: -1e6 }, 'SMH'],
])('%s', (_what, overrides, expected) => {
  expect(ask(overrides)).toBe(expected);
});

describe('with a chain and prints of the single name', () => {
  const chain = chainOf([contract({ root: 'NVDA' })], { underlying: 'NVDA' });
  const nvda = { underlying: 'NVDA', root: 'NVDA' };
  // Premium of 300 million dollars: the flow counts from 3 million.
  const prints = [
    print({ id: 'a', ...nvda, price: 50, size: 60_000 }),
    print({ id: 'old', ...nvda, price: 50, size: 60_000, at: AS_OF - 40 * 86_400_000 }),
    print({ id: 'small', ...nvda, size: 1 }),
  ];

  test('the threshold is 1 % of the 30-day premium', () => {
    expect(ask({}, { chains: [chain], prints })).toBeNull();
    expect(ask({ whale_fiat: 3e6 }, { chains: [chain], prints })).toBe('SMH');
    const { context } = smallMarket({ chains: [chain], prints });
    expect(callExtended(evaluateEtfContagion, QUESTION, context)).toMatchObject({
      ...{ etf_proxy: null, saturated: true, large_flow: false, flow_threshold: 3e6, proxy: 'SMH' },
      ...{ iv_over_ceiling: 1.2, flow_over_threshold: 2 / 3, flow_min: 1e6, premium_threshold: 3e6 },
      correlation_min: 0.5,
      provenance: { source: 'test' },
    });
  });

  test('without prints the premium is unknown and not required', () => {
    expect(ask({}, { chains: [chain] })).toBe('SMH');
  });
});

describe('requires correlation if it is known', () => {
  test.each([
    ['60 correlated closes', closes(60, 1), 'SMH'],
    ['60 uncorrelated closes', closes(60, -1), null],
    ['59 closes are too few to compute a correlation', closes(59, -1), 'SMH'],
  ])('%s', (_what, given, expected) => {
    expect(ask({}, { closes: given })).toBe(expected);
  });

  test('a correlation that is not known is not required, as the description and the note say', () => {
    expect(evaluateEtfContagion.description).toContain('their correlation, if known, is at least 0.5');
    const { etf_proxy, correlation, notes } = callExtended(evaluateEtfContagion, QUESTION, smallMarket().context);
    expect([etf_proxy, correlation]).toEqual(['SMH', null]);
    expect((notes as string[]).join()).toContain('whether they move together was not tested, and is not required.');
  });

  test('ignores closes after the snapshot of the single name', () => {
    const chain = chainOf([contract({ root: 'NVDA' })], { underlying: 'NVDA' });
    const given = closes(60, -1, addDays(TODAY, 1));
    expect(ask({}, { closes: given })).toBeNull();
    // Only 59 closes precede the snapshot.
    expect(ask({}, { closes: given, chains: [chain] })).toBe('SMH');
  });
});

describe('notes', () => {
  const notesOf = (holdings: Holdings, levels: Partial<LevelRecord>[] = [], overrides: object = {}) => {
    const { context, store } = smallMarket(holdings);
    for (const each of levels) keepLevels(store, { underlying: 'NVDA', ...each });
    return callExtended(evaluateEtfContagion, { ...QUESTION, ...overrides }, context).notes as string[];
  };
  const both = ['NVDA', 'SMH'].map((root) => chainOf([contract({ root })], { underlying: root }));
  const UNTESTED = expect.stringMatching(/^correlation is null, because fewer than 60 common closes of NVDA and SMH/);

  test.each<[string, Holdings, unknown[]]>([
    ['all is known', { chains: both, closes: closes(60, 1) }, []],
    ['too few closes', { chains: both }, [UNTESTED]],
    [
      'the ETF has no data',
      { chains: both.slice(0, 1), closes: closes(60, 1) },
      ['SMH has no data here: its flow and levels are not known.'],
    ],
  ])('%s', (_what, holdings, expected) => {
    expect(notesOf(holdings)).toEqual(expected as string[]);
  });

  test('without a sector ETF, the notes say why both are null', () => {
    expect(notesOf({}, [], { single_name_ticker: 'SPY' })).toEqual([
      'etf_proxy and correlation are null, because the universe names no sector ETF for SPY.',
    ]);
  });

  test('the stored volatilities help to choose a ceiling', () => {
    const day = (days: number, atmIv30d: number | null) => ({ asOf: MONDAY_MS - days * DAY_MS, atmIv30d });
    const choose = (levels: Partial<LevelRecord>[]) => notesOf({ chains: both, closes: closes(60, 1) }, levels);
    expect(choose([day(3, 0.412), day(2, 0.281), day(1, null), day(0, 0.33484)])).toEqual([
      'atm_iv_30d of NVDA is 0.335; 0.281 to 0.412 on 3 stored days of the last year. Choose iv_ceiling by it.',
    ]);
    expect(choose([day(0, 0.3)])).toEqual([
      'atm_iv_30d of NVDA is 0.3; no other day is stored. Choose iv_ceiling by it.',
    ]);
    expect(choose([day(1, 0.3), day(0, null)])).toEqual([]);
  });
});

test.each([
  [{ current_iv: 0 }, '/current_iv'],
  [{ iv_ceiling: -1 }, '/iv_ceiling'],
  [{ whale_fiat: 1e16 }, '/whale_fiat'],
  [{ single_name_ticker: '' }, '/single_name_ticker'],
])('rejects %j', (overrides, field) => {
  expect(refusalOf(() => ask(overrides)).fields).toEqual([field]);
});
