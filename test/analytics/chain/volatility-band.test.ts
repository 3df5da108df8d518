import { describe, expect, test } from 'bun:test';
import { atmBand, quoteVolatilities, volatilityBands } from '../../../src/analytics/chain/volatility-band.ts';
import { blackScholesPrice } from '../plain.ts';
import { contract, EXPIRY, prepared, yearsTo } from '../small-chains.ts';

const TTE = yearsTo('ACME', EXPIRY);
const FLAT = { forward: 'flat', rate: 0, dividend: 0 } as const;

/** A contract whose bid has volatility `low` and whose ask has volatility `high`. */
function quotedBetween(strike: number, callPut: 1 | -1, low: number, high: number) {
  const price = (iv: number) => blackScholesPrice({ callPut, spot: 100, strike, tte: TTE, iv, rate: 0, dividend: 0 });
  return contract({ strike, callPut, bid: price(low), ask: price(high) });
}

describe('volatilityBands', () => {
  const chain = prepared(
    [
      quotedBetween(95, -1, 0.3, 0.34),
      quotedBetween(95, 1, 0.1, 0.9),
      quotedBetween(105, 1, 0.2, 0.22),
      contract({ strike: 110, iv: 0.2, ask: 1 }),
      quotedBetween(90, 1, 0.2, 0.3),
    ],
    FLAT,
  );
  const rowOf = (strike: number, callPut: number) =>
    [...chain.strike.keys()].find((i) => chain.strike[i] === strike && chain.callPut[i] === callPut)!;

  test.each([
    ['a put out of the money', 95, -1, 0.3, 0.34],
    ['the call of the same strike', 95, 1, 0.3, 0.34],
    ['a call out of the money', 105, 1, 0.2, 0.22],
    ['no bid', 110, 1, Number.NaN, Number.NaN],
    ['only the side in the money', 90, 1, Number.NaN, Number.NaN],
  ])('%s', (_what, strike, callPut, bid, ask) => {
    const bands = volatilityBands(chain, [rowOf(strike, callPut)]);
    if (Number.isNaN(bid)) expect([bands.bid[0], bands.ask[0]]).toEqual([Number.NaN, Number.NaN]);
    else {
      expect(bands.bid[0]).toBeCloseTo(bid, 8);
      expect(bands.ask[0]).toBeCloseTo(ask, 8);
    }
  });
});

describe('quoteVolatilities', () => {
  const intrinsic = contract({ strike: 80, callPut: 1, bid: 19.9, ask: 20.4 });
  const chain = prepared(
    [
      quotedBetween(95, -1, 0.3, 0.34),
      quotedBetween(95, 1, 0.1, 0.9),
      contract({ strike: 110, iv: 0.2, ask: 1 }),
      contract({ strike: 110, callPut: -1, bid: 11, ask: 10.5 }),
      contract({ strike: 115, callPut: 1, bid: 1, ask: 200 }),
      intrinsic,
    ],
    FLAT,
  );

  test.each([
    ['a put', 95, -1, 0.3, 0.34],
    ['the call of the same strike has a band of its own', 95, 1, 0.1, 0.9],
    ['no bid', 110, 1, Number.NaN, Number.NaN],
    ['crossed', 110, -1, Number.NaN, Number.NaN],
    ['a bid below intrinsic value, and an ask above it', 80, 1, 0, expect.any(Number)],
    ['an ask above spot', 115, 1, expect.any(Number), Number.NaN],
  ])('%s', (_what, strike, callPut, bid, ask) => {
    const row = [...chain.strike.keys()].find((i) => chain.strike[i] === strike && chain.callPut[i] === callPut)!;
    const found = quoteVolatilities(chain, [row]);
    const close = (each: unknown) => (Number.isFinite(each) ? expect.closeTo(each as number, 8) : each);
    expect([found.bid[0], found.ask[0]]).toEqual([close(bid), close(ask)] as number[]);
    const at = chain.row[row]!;
    const mid = (chain.chain.bid[at]! + chain.chain.ask[at]!) / 2;
    if (found.mid[0]! > 0) {
      const option = { callPut, spot: 100, strike, tte: TTE, iv: found.mid[0]!, rate: 0, dividend: 0 };
      expect(blackScholesPrice(option)).toBeCloseTo(mid, 8);
    } else expect(Number.isNaN(found.mid[0])).toBe(Number.isNaN(bid as number) || strike === 115);
  });
});

describe('atmBand', () => {
  test.each([
    ['between two strikes', [quotedBetween(95, -1, 0.3, 0.34), quotedBetween(105, 1, 0.2, 0.22)], 0.5125],
    ['at a strike', [quotedBetween(95, -1, 0.3, 0.34), quotedBetween(100, 1, 0.2, 0.22)], 1],
    ['strikes above the forward only', [quotedBetween(101, 1, 0.3, 0.34), quotedBetween(105, 1, 0.2, 0.22)], 0],
    ['strikes below the forward only', [quotedBetween(90, -1, 0.2, 0.22), quotedBetween(95, -1, 0.3, 0.34)], 0],
  ] as const)('%s', (_what, rows, share) => {
    const chain = prepared(rows, FLAT);
    const { bid } = atmBand(chain, chain.series[0]!);
    expect(bid).toBeCloseTo(0.3 - share * 0.1, 3);
  });

  test('a strike without a quote', () => {
    const chain = prepared([quotedBetween(95, -1, 0.3, 0.34), contract({ strike: 105, iv: 0.2 })], FLAT);
    expect(atmBand(chain, chain.series[0]!)).toEqual({ bid: Number.NaN, ask: Number.NaN });
  });
});
