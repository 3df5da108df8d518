import { describe, expect, test } from 'bun:test';
import { addDays } from '../../../src/market/calendar.ts';
import type { Close } from '../../../src/market/prints.ts';
import { evaluateEtfContagion } from '../../../src/operations/flow/etf-contagion.ts';
import { AS_OF, chainOf, contract, print, TODAY } from '../../analytics/small-chains.ts';
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

  test('ignores closes after the snapshot of the single name', () => {
    const chain = chainOf([contract({ root: 'NVDA' })], { underlying: 'NVDA' });
    const given = closes(60, -1, addDays(TODAY, 1));
    expect(ask({}, { closes: given })).toBeNull();
    // Only 59 closes precede the snapshot.
    expect(ask({}, { closes: given, chains: [chain] })).toBe('SMH');
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
