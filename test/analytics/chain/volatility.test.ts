import { describe, expect, test } from 'bun:test';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { blackScholesPrice } from '../plain.ts';
import { contract, EXPIRY, FEED_GAMMA, prepared, quoted, range, yearsTo } from '../small-chains.ts';

const TTE = yearsTo('ACME', EXPIRY);
/** Spot is the forward, without discounting, so that it is obvious which side is out of the money. */
const FLAT = { forward: 'flat', rate: 0, dividend: 0 } as const;

function price(callPut: number, strike: number, iv: number): number {
  return blackScholesPrice({ callPut, spot: 100, strike, tte: TTE, iv, rate: 0, dividend: 0 });
}

/** A call at 105 with the feed's volatility and the quote. The true volatility is 0.3. */
function call(iv: number, quote: { bid?: number; ask?: number } = {}): ContractRow {
  return contract({ strike: 105, iv, ...quote });
}

describe('the volatility of one strike', () => {
  const fair = price(1, 105, 0.3);
  const around = { bid: fair - 0.02, ask: fair + 0.02 };
  const NONE = Number.NaN;
  const none = { taken: 0, solved: 0, interpolated: 0, extended: 0 };
  const outcome = (row: ContractRow, iv: 'otm' | 'feed') => {
    const { counts, iv: found } = prepared([row], { ...FLAT, iv });
    const origin = (['taken', 'solved'] as const).find((each) => counts.iv[each] === 1) ?? 'none';
    expect(counts.iv).toEqual(origin === 'none' ? none : { ...none, [origin]: 1 });
    expect(counts.left_out.no_volatility).toBe(origin === 'none' ? 1 : 0);
    return { origin, volatility: found[0]! };
  };

  test.each([
    ['a two-sided quote: solved from its mid', call(0.3, { bid: fair - 0.1, ask: fair + 0.1 }), 'solved', 0.3],
    [
      'a volatility of the feed within the quote: not used',
      call(0.31, { bid: 0.5, ask: 2 * fair - 0.5 }),
      'solved',
      0.3,
    ],
    ['no bid: the feed', call(0.28, { ask: fair }), 'taken', 0.28],
    ['a bid of 0: the feed', call(0.28, { bid: 0, ask: fair }), 'taken', 0.28],
    ['a crossed quote: the feed', call(0.28, { bid: 2, ask: 1 }), 'taken', 0.28],
    ...([1e-5, 0.02, 0.062509, 0.125009, 0.250008, 0.500005] as const).map(
      (each) => [`the placeholder ${each} without a bid: none`, call(each, { ask: fair }), 'none', NONE] as const,
    ),
    ['the largest accepted volatility', call(5), 'taken', 5],
    ['beyond 5 without a quote: none', call(5.01), 'none', NONE],
    ['a placeholder with a two-sided quote: solved', call(0.125009, around), 'solved', 0.3],
    ['not given, with a quote: solved', call(NONE, around), 'solved', 0.3],
    ['not given, one-sided: none', call(NONE, { ask: fair }), 'none', NONE],
    ["a price above the share's price: none", call(0.3, { bid: 101, ask: 101 }), 'none', NONE],
  ] as const)('%s', (_what, row, origin, iv) => {
    const found = outcome(row, 'otm');
    expect(found.origin).toBe(origin);
    if (Number.isNaN(iv)) expect(found.volatility).toBeNaN();
    else expect(found.volatility).toBeCloseTo(iv, 6);
  });

  describe('iv: feed', () => {
    test.each([
      ['within the quote: taken', call(0.3, around), 'taken', 0.3],
      ['a tick above the ask: taken', call(0.3, { bid: fair - 0.05, ask: fair - 0.009 }), 'taken', 0.3],
      ['a tick below the bid: taken', call(0.3, { bid: fair + 0.009, ask: fair + 0.05 }), 'taken', 0.3],
      ['more than a tick below the bid: solved', call(0.3, { bid: fair + 0.1, ask: fair + 0.2 }), 'solved', undefined],
      ['a placeholder against a two-sided quote: solved', call(0.125009, around), 'solved', 0.3],
      ['a placeholder without a bid: taken', call(0.125009, { ask: fair }), 'taken', 0.125009],
      ['a placeholder with a bid of 0: taken', call(0.125009, { bid: 0, ask: fair }), 'taken', 0.125009],
      ['a volatility against a crossed quote: taken', call(0.5, { bid: 2, ask: 1 }), 'taken', 0.5],
      ['the smallest accepted volatility', call(0.02), 'taken', 0.02],
      ['1e-5 with a quote: solved', call(1e-5, around), 'solved', 0.3],
      ['1e-5 without a quote: none', call(1e-5), 'none', NONE],
    ] as const)('%s', (_what, row, origin, iv) => {
      const found = outcome(row, 'feed');
      expect(found.origin).toBe(origin);
      if (iv === undefined) expect(price(1, 105, found.volatility)).toBeCloseTo(fair + 0.15, 9);
      else if (Number.isNaN(iv)) expect(found.volatility).toBeNaN();
      else expect(found.volatility).toBeCloseTo(iv, 6);
    });

    test('the tick of an index is five cents', () => {
      const off = { bid: fair - 0.2, ask: fair - 0.04 };
      const head = { underlying: 'SPX' };
      // SPXW settles at the close, as ACME does.
      expect(prepared([{ ...call(0.3, off), root: 'SPXW' }], { ...FLAT, iv: 'feed' }, head).counts.iv.taken).toBe(1);
      expect(prepared([call(0.3, off)], { ...FLAT, iv: 'feed' }).counts.iv.solved).toBe(1);
    });
  });

  test('a price of a tenth of a cent at the money is intrinsic value and has no volatility', () => {
    expect(prepared([contract({ strike: 100.01, bid: 0.001, ask: 0.001 })], FLAT).iv[0]).toBeNaN();
    expect(prepared([contract({ strike: 100.01, bid: 0.01, ask: 0.01 })], FLAT).counts.iv.solved).toBe(1);
  });
});

describe('a strike’s call and put share the volatility of the out-of-the-money side', () => {
  test.each([
    [95, 0.4],
    [100, 0.2],
    [105, 0.2],
  ])('at %d: %d', (strike, expected) => {
    const rows = [contract({ strike, iv: 0.2 }), contract({ strike, iv: 0.4, callPut: -1 })];
    const { iv, counts } = prepared(rows, FLAT);
    expect([...iv]).toEqual([expected, expected]);
    expect(counts.iv.taken).toBe(2);
  });

  test('out of the money is relative to the forward, not to spot', () => {
    const rows = [contract({ strike: 101, iv: 0.2 }), contract({ strike: 101, iv: 0.4, callPut: -1 })];
    expect(prepared(rows, { ...FLAT, rate: 1 }).iv[0]).toBe(0.4);
  });

  test('the in-the-money side is not used', () => {
    const { iv, counts } = prepared([contract({ strike: 95, iv: 0.2 })], FLAT);
    expect(iv[0]).toBeNaN();
    expect(counts.left_out.no_volatility).toBe(1);
  });
});

describe('strikes without their own volatility', () => {
  const known = [contract({ strike: 90, callPut: -1, iv: 0.4 }), contract({ strike: 110, iv: 0.2 })];
  const between = Math.log(0.96) / Math.log(110 / 90) - Math.log(0.9) / Math.log(110 / 90);
  test.each([
    [
      'between: linear in total variance over log-moneyness',
      96,
      -1,
      'interpolated',
      0.4 ** 2 + between * (0.2 ** 2 - 0.4 ** 2),
    ],
    ['below the first: flat', 50, -1, 'extended', 0.4 ** 2],
    ['above the last: flat', 200, 1, 'extended', 0.2 ** 2],
    ['a call in the money: flat as well', 50, 1, 'extended', 0.4 ** 2],
  ] as const)('%s', (_what, strike, callPut, origin, variance) => {
    const found = prepared([...known, contract({ strike, callPut })], FLAT);
    const i = found.strike.indexOf(strike);
    expect(found.iv[i]! ** 2).toBeCloseTo(variance, 12);
    expect(found.counts.iv).toEqual({ taken: 2, solved: 0, interpolated: 0, extended: 0, [origin]: 1 });
    // Interpolated volatilities are not part of the smile.
    expect(found.series[0]!.smile.logMoneyness).toHaveLength(2);
  });
});

describe('iv: own', () => {
  const own = { ...FLAT, iv: 'own' } as const;
  test('uses each contract’s own volatility without checks', () => {
    const rows = [
      contract({ strike: 95, iv: 0.2, bid: 50, ask: 51 }),
      contract({ strike: 95, iv: 0.4, callPut: -1 }),
      contract({ strike: 105, iv: 1e-5 }),
      contract({ strike: 110, iv: 0.125009, bid: 3, ask: 4 }),
      contract({ strike: 115 }),
    ];
    const { iv, counts, series } = prepared(rows, own);
    expect([...iv]).toEqual([0.2, 0.4, Number.NaN, 0.125009, Number.NaN]);
    expect(counts.iv).toEqual({ taken: 3, solved: 0, interpolated: 0, extended: 0 });
    expect(counts.left_out.no_volatility).toBe(2);
    // The smile still consists of the out-of-the-money side.
    expect([...series[0]!.smile.logMoneyness]).toEqual([Math.log(0.95), Math.log(1.1)]);
    expect(series[0]!.smile.totalVariance[0]).toBeCloseTo(0.16 * TTE, 15);
  });
});

test('recovers the smile that a chain of quotes was priced with', () => {
  const iv = (strike: number) => 0.25 + 0.4 * Math.abs(Math.log(strike / 100));
  const strikes = range(90, 110);
  const found = prepared(quoted({ strikes, iv, dividend: 0.02 }));
  strikes.forEach((strike, i) => {
    expect(found.iv[2 * i]).toBeCloseTo(iv(strike), 7);
    expect(found.iv[2 * i + 1]).toBeCloseTo(iv(strike), 7);
  });
  expect(found.counts.iv.solved).toBe(42);
});

test('uses the feed’s gamma if requested, and 0 for a missing value', () => {
  const rows = [
    contract({ gamma: 0.02, iv: 0.3 }),
    contract({ strike: 105, iv: 0.3 }),
    contract({ strike: 110, gamma: 0.01 }),
  ];
  expect([...prepared(rows, FEED_GAMMA).gamma]).toEqual([0.02, 0, 0.01]);
});
