import { describe, expect, test } from 'bun:test';
import {
  callPutGreeks,
  type GreekName,
  greeks,
  greeksOf,
  inMarketUnits,
  type Option,
  type OptionColumns,
} from '../../src/math/black-scholes.ts';
import { normalCdf } from '../../src/math/normal.ts';
import { exactBounds, exactGreeks } from '../fixtures/exact.ts';
import { columnsOf, drawOptions, referenceOptions } from '../fixtures/vectors.ts';
import { EPSILON, reference, worst } from './reference.ts';

const GREEKS: readonly GreekName[] = ['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'];

const bsm = reference('bsm.csv');
const REFERENCE = referenceOptions();
const options: OptionColumns = columnsOf(REFERENCE);

const call: Option = { callPut: 1, spot: 100, strike: 105, tte: 0.5, iv: 0.3, rate: 0.04, dividend: 0.01 };
const put: Option = { ...call, callPut: -1 };

/** e^(-x T) of each row. */
function discountsOf({ count, tte, rate, dividend }: OptionColumns) {
  const at = (column: OptionColumns['tte'], row: number) => (typeof column === 'number' ? column : column[row]!);
  const factors = (of: OptionColumns['tte']) =>
    Float64Array.from({ length: count }, (_, row) => Math.exp(-at(of, row) * at(tte, row)));
  return { discount: factors(rate), dividendDiscount: factors(dividend) };
}

describe.each([
  ['discounts computed', undefined],
  ['discounts given', discountsOf(options)],
])('against 60-digit values, %s', (_, discounts) => {
  const computed = greeks(options, discounts);
  test.each([...GREEKS])('%s', (name) => {
    const row = worst(computed[name], bsm.column(name), bsm.column(`condition_${name}`));
    expect(row.scaledError, JSON.stringify(row)).toBeLessThan(2);
  });
});

describe('modes', () => {
  test.each([
    ['computed', undefined],
    ['given', discountsOf(options)],
  ])('call and put together equal each alone bit for bit, discounts %s', (_, discounts) => {
    const both = callPutGreeks(options, discounts);
    expect(both.call).toEqual(greeks({ ...options, callPut: 1 }, discounts));
    expect(both.put).toEqual(greeks({ ...options, callPut: -1 }, discounts));
  });

  test('uses given discounts, for each leg its own', () => {
    const { spot, strike, tte } = call;
    const plain = { ...call, count: 1, iv: 1e-9 };
    const { price, delta, rho } = greeks({ ...plain, strike: 50 }, { discount: 0.5, dividendDiscount: 0.75 });
    expect(price[0]).toBeCloseTo(0.75 * spot - 0.5 * 50, 12);
    expect(delta[0]).toBeCloseTo(0.75, 14);
    expect(rho[0]).toBeCloseTo(0.5 * 50 * tte, 12);
    expect(() => greeks({ ...plain, strike }, { discount: new Float64Array(2), dividendDiscount: 1 })).toThrow(
      'column discount has 2 rows, expected 1',
    );
  });
});

describe('published values', () => {
  // Prices at the spots 90, 100 and 110, for K = 100 and q = r = 0.1: T, v, prices.
  const PAGE_24 = [
    ['call', 0.1, 0.15, 0.0205, 1.8734, 9.9413],
    ['call', 0.1, 0.25, 0.315, 3.1217, 10.3556],
    ['call', 0.1, 0.35, 0.9474, 4.3693, 11.1381],
    ['call', 0.5, 0.15, 0.8069, 4.0232, 10.5769],
    ['call', 0.5, 0.25, 2.7026, 6.6997, 12.7857],
    ['call', 0.5, 0.35, 4.9329, 9.3679, 15.3086],
    ['put', 0.1, 0.15, 9.921, 1.8734, 0.0408],
    ['put', 0.1, 0.25, 10.2155, 3.1217, 0.4551],
    ['put', 0.1, 0.35, 10.8479, 4.3693, 1.2376],
    ['put', 0.5, 0.15, 10.3192, 4.0232, 1.0646],
    ['put', 0.5, 0.25, 12.2149, 6.6997, 3.2734],
    ['put', 0.5, 0.35, 14.4452, 9.3679, 5.7963],
  ] as const;

  // The complete table of Haug, "Option pricing formulas", McGraw-Hill 1998, as in QuantLib's test-suite/europeanoption.cpp:
  // strike, spot, q, r, T, v, price.
  test.each([
    // Pages 2 to 8.
    ['call', 65, 60, 0, 0.08, 0.25, 0.3, 2.1334],
    ['put', 95, 100, 0.05, 0.1, 0.5, 0.2, 2.4648],
    ['put', 19, 19, 0.1, 0.1, 0.75, 0.28, 1.7011],
    ['call', 19, 19, 0.1, 0.1, 0.75, 0.28, 1.7011],
    ['call', 1.6, 1.56, 0.08, 0.06, 0.5, 0.12, 0.0291],
    ['put', 70, 75, 0.05, 0.1, 0.5, 0.35, 4.087],
    ...PAGE_24.flatMap(([side, tte, iv, ...prices]) =>
      prices.map((price, i) => [side, 100, [90, 100, 110][i]!, 0.1, 0.1, tte, iv, price] as const),
    ),
    // Page 27.
    ['call', 40, 42, 0.08, 0.04, 0.75, 0.35, 5.0975],
  ] as const)(
    '%s, K %d, S %d, q %d, r %d, T %d, v %d: %d',
    (side, strike, spot, dividend, rate, tte, iv, published) => {
      const { price } = greeksOf({ callPut: side === 'call' ? 1 : -1, spot, strike, tte, iv, rate, dividend });
      // Half a unit of the last printed digit, plus the error of the book's seven-digit N(x): 1.8734 is printed for 1.873345.
      expect(Math.abs(price - published)).toBeLessThan(published === 1.8734 ? 0.6e-4 : 0.5e-4);
    },
  );

  // Pages 11 to 16 of the same, and chapter 2 of the second edition as in deephaven-core's TestBlackScholes.java (vega, vanna,
  // volga, charm, call theta; the vanna in NMOF's test_options.R): value, strike, spot, q, r, T, v.
  test.each([
    ['delta', 'call', 0.5946, 100, 105, 0.1, 0.1, 0.5, 0.36],
    ['delta', 'put', -0.3566, 100, 105, 0.1, 0.1, 0.5, 0.36],
    ['elasticity', 'put', -4.8775, 100, 105, 0.1, 0.1, 0.5, 0.36],
    ['gamma', 'call', 0.0278, 60, 55, 0, 0.1, 0.75, 0.3],
    ['gamma', 'put', 0.0278, 60, 55, 0, 0.1, 0.75, 0.3],
    ['vega', 'call', 18.9358, 60, 55, 0, 0.1, 0.75, 0.3],
    ['vega', 'put', 18.9358, 60, 55, 0, 0.1, 0.75, 0.3],
    ['vega', 'call', 18.5027, 60, 55, 0.0355, 0.105, 0.75, 0.3],
    ['theta', 'put', -31.1924, 405, 430, 0.05, 0.07, 1 / 12, 0.2],
    ['theta', 'call', -37.9669, 405, 430, 0.05, 0.07, 0.0833, 0.2],
    ['theta a day', 'put', -0.0855, 405, 430, 0.05, 0.07, 1 / 12, 0.2],
    ['rho', 'call', 38.7325, 75, 72, 0, 0.09, 1, 0.19],
    ['dividend rho', 'put', 42.2254, 490, 500, 0.05, 0.08, 0.25, 0.15],
    ['strike delta', 'call', -0.5164, 75, 72, 0, 0.09, 1, 0.19],
    ['strike delta', 'put', 0.3975, 75, 72, 0, 0.09, 1, 0.19],
    ['vanna', 'put', -1.0008, 80, 90, 0, 0.05, 0.25, 0.2],
    ['volga', 'put', 92.3444, 130, 90, 0.05, 0.05, 0.75, 0.28],
    ['charm', 'call', 0.5052, 90, 105, 0.14, 0.14, 0.25, 0.24],
    ['charm', 'put', 0.37, 90, 105, 0.14, 0.14, 0.25, 0.24],
  ] as const)('%s of a %s: %d, K %d, S %d', (name, side, published, strike, spot, dividend, rate, tte, iv) => {
    const option = { callPut: side === 'call' ? 1 : -1, spot, strike, tte, iv, rate, dividend };
    const raw = greeksOf(option);
    const others = {
      elasticity: (raw.delta * spot) / raw.price,
      'theta a day': inMarketUnits(greeks({ ...option, count: 1 })).theta[0]!,
      'dividend rho': -tte * spot * raw.delta,
      'strike delta': -raw.rho / (strike * tte),
    };
    expect({ ...raw, ...others }[name]).toBeCloseTo(published, 4);
  });
});

/** Each Greek, the value of which it is the slope, the input, and the sign. */
const SLOPES = [
  ['delta', 'price', 'spot', 1],
  ['gamma', 'delta', 'spot', 1],
  ['vega', 'price', 'iv', 1],
  ['theta', 'price', 'tte', -1],
  ['rho', 'price', 'rate', 1],
  ['vanna', 'delta', 'iv', 1],
  ['vanna', 'vega', 'spot', 1],
  ['charm', 'delta', 'tte', -1],
  ['volga', 'vega', 'iv', 1],
] as const;

describe('relations', () => {
  test('parity: a call minus a put is a forward, in price and in every Greek', () => {
    const [c, p] = [greeksOf(call), greeksOf(put)];
    const { spot: S, strike: K, tte: T, rate: r, dividend: q } = call;
    const [spotNow, strikeNow] = [S * Math.exp(-q * T), K * Math.exp(-r * T)];
    expect(c.price - p.price).toBeCloseTo(spotNow - strikeNow, 12);
    expect(c.delta - p.delta).toBeCloseTo(spotNow / S, 14);
    expect(c.theta - p.theta).toBeCloseTo(q * spotNow - r * strikeNow, 12);
    expect(c.rho - p.rho).toBeCloseTo(T * strikeNow, 12);
    expect(c.charm - p.charm).toBeCloseTo((q * spotNow) / S, 14);
    for (const name of ['gamma', 'vega', 'vanna', 'volga'] as const) expect(c[name]).toBe(p[name]);
  });

  test.each(SLOPES)('%s is the slope of %s in %s', (name, of, input, sign) => {
    for (const option of [call, put, { ...call, strike: 80 }, { ...put, tte: 2, dividend: 0.08 }]) {
      const step = 1e-4 * option[input];
      const bumped = (by: number) => greeksOf({ ...option, [input]: option[input] + by })[of];
      // Fourth order: the truncation error is about 1e-16, the rounding error 1e-11.
      const slope = (8 * (bumped(step) - bumped(-step)) - (bumped(2 * step) - bumped(-2 * step))) / (12 * step);
      const analytic = greeksOf(option)[name];
      expect(Math.abs(sign * slope - analytic)).toBeLessThan(1e-8 * Math.max(1, Math.abs(analytic)));
    }
  });

  test('homogeneous of degree one: eight times an option is an option on eight shares, bit for bit', () => {
    const [one, eight] = [greeksOf(call), greeksOf({ ...call, spot: 8 * call.spot, strike: 8 * call.strike })];
    for (const name of ['price', 'vega', 'theta', 'rho', 'volga'] as const) expect(eight[name]).toBe(8 * one[name]);
    for (const name of ['delta', 'vanna', 'charm'] as const) expect(eight[name]).toBe(one[name]);
    expect(8 * eight.gamma).toBe(one.gamma);
  });
});

describe('relations of random options, out to the bounds', () => {
  const drawn = drawOptions(250);
  const { call: calls, put: puts } = callPutGreeks(columnsOf(drawn));
  /** The certain value of each leg, and how much roundings of its discount change it. */
  const legs = drawn.map((option) => {
    const [spotNow, strikeNow] = [1, -1].map((callPut) => exactBounds({ ...option, callPut }).cap.high);
    const { tte, rate, dividend } = option;
    const unit = spotNow! * (1 + Math.abs(dividend * tte)) + strikeNow! * (1 + Math.abs(rate * tte));
    return { spotNow: spotNow!, strikeNow: strikeNow!, unit };
  });

  test('parity in price and in every Greek to which it applies', () => {
    drawn.forEach(({ spot, tte, rate, dividend }, row) => {
      const { spotNow, strikeNow, unit } = legs[row]!;
      const spotPart = (spotNow / spot) * (1 + Math.abs(dividend * tte));
      const both = (name: GreekName) => Math.abs(calls[name][row]!) + Math.abs(puts[name][row]!);
      const apart = {
        price: [spotNow - strikeNow, unit],
        delta: [spotNow / spot, spotPart],
        theta: [
          dividend * spotNow - rate * strikeNow,
          both('theta') + Math.max(Math.abs(rate), Math.abs(dividend)) * unit,
        ],
        rho: [tte * strikeNow, tte * unit],
        charm: [(dividend * spotNow) / spot, both('charm') + Math.abs(dividend) * spotPart],
      } as const;
      for (const [name, [difference, size]] of Object.entries(apart)) {
        const off = calls[name as GreekName][row]! - puts[name as GreekName][row]! - difference;
        expect(Math.abs(off), `${name} of ${JSON.stringify(drawn[row])}`).toBeLessThanOrEqual(4 * EPSILON * size);
      }
    });
  });

  test('prices rise with volatility; calls fall and puts rise with the strike; both are convex', () => {
    const count = 41;
    drawn.forEach((option, row) => {
      const noise = 4 * EPSILON * legs[row]!.unit;
      const ratio = Float64Array.from({ length: count }, (_, i) => 1.05 ** (i - 20));
      const { price, vega } = greeks({ ...option, count, iv: ratio.map((x) => x * option.iv) });
      // Equally spaced strikes, for the convexity.
      const width = Math.min(0.04, 0.2 * option.iv * Math.sqrt(option.tte)) * option.strike;
      const strike = ratio.map((_, i) => option.strike + (i - 20) * width);
      const { price: struck, rho } = greeks({ ...option, count, strike });
      for (let i = 1; i < count; i++) {
        const expected = Math.min(vega[i]!, vega[i - 1]!) * option.iv * (ratio[i]! - ratio[i - 1]!);
        expect(price[i]! - price[i - 1]!, JSON.stringify(option)).toBeGreaterThan(expected > 4 * noise ? 0 : -noise);
        const rise = option.callPut * (struck[i - 1]! - struck[i]!);
        const steep = Math.min(...[i, i - 1].map((k) => Math.abs(rho[k]!) / (strike[k]! * option.tte))) * width;
        expect(rise, JSON.stringify(option)).toBeGreaterThan(steep > 4 * noise ? 0 : -noise);
        if (i > 1) expect(struck[i]! + struck[i - 2]! - 2 * struck[i - 1]!).toBeGreaterThanOrEqual(-4 * noise);
      }
    });
  });

  test.each(SLOPES)('%s is the slope of %s in %s', (name, of, input, sign) => {
    drawn.forEach((option) => {
      const { tte, iv, rate, dividend } = option;
      const exact = exactGreeks(option);
      const s = iv * Math.sqrt(tte);
      const middle = (Math.log(option.spot / option.strike) + (rate - dividend) * tte) / s;
      const d = Math.abs(middle) + s / 2;
      // A hundredth of the step that changes the exponent by one.
      const step = {
        spot: (0.01 * Math.min(1, s) * option.spot) / (1 + d),
        iv: (0.01 * iv) / (1 + d * d),
        tte: (0.01 * tte) / (1 + d) / (1 + d + (Math.abs(rate) + Math.abs(dividend)) * tte * (1 + 1 / s)),
        rate: (0.01 * Math.min(1, s)) / (1 + d) / tte,
      }[input];
      const { [of]: at } = greeks({
        ...option,
        count: 9,
        [input]: Float64Array.from({ length: 9 }, (_, k) => option[input] + (k - 4) * step),
      });
      // Eighth order: the truncation error is about 1e-16, which is below the rounding error.
      const difference = (k: number) => at[4 + k]! - at[4 - k]!;
      const slope =
        (0.8 * difference(1) - 0.2 * difference(2) + (4 / 105) * difference(3) - difference(4) / 280) / step;
      const noise = (8 * EPSILON * (Math.abs(exact[of].value.high) + exact[of].condition)) / step;
      expect(Math.abs(sign * slope - exact[name].value.high), JSON.stringify(option)).toBeLessThanOrEqual(
        noise + 1e-12 * Math.abs(exact[name].value.high) + 1e-280,
      );
    });
  });

  test.each([-20, -1, 1, 3, 20])('scales exactly with spot and strike times 2^%d', (power) => {
    const factor = 2 ** power;
    const plain = greeks(columnsOf(drawn));
    const scaled = greeks(
      columnsOf(drawn.map((option) => ({ ...option, spot: factor * option.spot, strike: factor * option.strike }))),
    );
    const degrees = { price: 1, delta: 0, gamma: -1, vega: 1, theta: 1, rho: 1, vanna: 0, charm: 0, volga: 1 };
    for (const name of GREEKS) {
      plain[name].forEach((value, row) => {
        // Values close to the smallest double lose bits.
        if (Math.abs(value) < 1e-290) return;
        expect(scaled[name][row]! / factor ** degrees[name], `${name} of ${JSON.stringify(drawn[row])}`).toBe(value);
      });
    }
  });
});

describe('limits', () => {
  const [r, q] = [0.05, 0.02];
  const [S1, K1] = [100 * Math.exp(-q), 90 * Math.exp(-r)];
  const nothing = Object.fromEntries(GREEKS.map((name) => [name, 0])) as Record<GreekName, number>;
  /** The spot for certain, with nothing to pay. */
  const endless = { price: S1, delta: S1 / 100, theta: q * S1, charm: (q * S1) / 100 };

  // The side, spot, strike, time and volatility, and the values that are not zero.
  test.each<[string, number[], Partial<Record<GreekName, number>>]>([
    ['T = 0, call in the money', [1, 100, 90, 0, 0.2], { price: 10, delta: 1, theta: 100 * q - 90 * r, charm: q }],
    ['T = 0, put in the money', [-1, 100, 110, 0, 0.2], { price: 10, delta: -1, theta: 110 * r - 100 * q, charm: -q }],
    ['T = 0, call out of the money', [1, 100, 110, 0, 0.2], {}],
    ['T = 0, at the strike', [1, 100, 100, 0, 0.2], { delta: 0.5, theta: 50 * (q - r), charm: q / 2 }],
    [
      'v = 0, call in the money',
      [1, 100, 90, 1, 0],
      { price: S1 - K1, delta: S1 / 100, theta: q * S1 - r * K1, rho: K1, charm: (q * S1) / 100 },
    ],
    ['v = 0, put out of the money', [-1, 100, 90, 1, 0], {}],
    ['v to infinity, call', [1, 100, 90, 1, 1e3], endless],
    ['v to infinity, put', [-1, 100, 90, 1, 1e3], { price: K1, theta: r * K1, rho: -K1 }],
    ['S to 0, call', [1, 1e-9, 90, 1, 0.2], {}],
    [
      'S to 0, put',
      [-1, 1e-14, 90, 1, 0.2],
      { price: K1, delta: -S1 / 100, theta: r * K1, rho: -K1, charm: (-q * S1) / 100 },
    ],
    ['K to 0, call', [1, 100, 1e-14, 1, 0.2], endless],
    ['T = 0 and v = 0', [-1, 100, 110, 0, 0], { price: 10, delta: -1, theta: 110 * r - 100 * q, charm: -q }],
  ])('%s', (_, [callPut, spot, strike, tte, iv], values) => {
    const computed = greeksOf({ callPut, spot, strike, tte, iv, rate: r, dividend: q } as Option);
    for (const [name, limit] of Object.entries({ ...nothing, ...values })) {
      expect(computed[name as GreekName], name).toBeCloseTo(limit, 12);
    }
  });

  test('equal the values that small times and volatilities approach', () => {
    for (const option of [call, put, { ...call, strike: 90 }, { ...put, strike: 120 }]) {
      for (const field of ['tte', 'iv']) {
        const [a, b] = [greeksOf({ ...option, [field]: 1e-9 }), greeksOf({ ...option, [field]: 0 })];
        for (const name of GREEKS) expect(a[name], name).toBeCloseTo(b[name], 6);
      }
    }
  });

  test('no corner of the domain gives NaN, Infinity or a negative price', () => {
    const corners: Option[] = [];
    for (const callPut of [1, -1])
      for (const spot of [1e-8, 1, 100, 1e8])
        for (const strike of [1e-8, 1, 100, 1e8])
          for (const tte of [0, 1e-300, 1e-12, 1e-5, 1, 100])
            for (const iv of [0, 1e-300, 1e-9, 0.2, 10])
              for (const [rate, dividend] of [
                [0, 0],
                [0.2, 0],
                [-0.1, 0.2],
              ] as const)
                corners.push({ callPut, spot, strike, tte, iv, rate, dividend });
    const wrong = corners.filter((option) => {
      const computed = greeksOf(option);
      return computed.price < 0 || !GREEKS.every((name) => Number.isFinite(computed[name]));
    });
    expect(wrong).toEqual([]);
  });

  test('a d of 1e9 gives zeros, not 0 * Infinity', () => {
    const far = greeksOf({ ...call, spot: 1e-4, strike: 1e4, tte: 1e-12, iv: 0.02 });
    for (const name of GREEKS) expect(far[name], name).toBe(0);
  });

  test('the logarithm is accurate if spot and strike differ by a few roundings', () => {
    // ln(S / K) = 2^-38 / 3 accurate to one part in 1e12: one standard deviation, on either side.
    const step = 2 ** -38;
    const near = { callPut: 1, tte: 1, iv: step / 3, rate: 0, dividend: 0 };
    expect(greeksOf({ ...near, spot: 3 + step, strike: 3 }).delta).toBeCloseTo(normalCdf(1), 11);
    expect(greeksOf({ ...near, spot: 3, strike: 3 + step }).delta).toBeCloseTo(normalCdf(-1), 11);
  });

  test('an underflow of the density on one leg does not affect the other', () => {
    const far = { callPut: -1, spot: 1e200, strike: 1, tte: 9, iv: 5, rate: 0, dividend: 0 };
    const nearer = 7.5 - Math.log(1e200) / 15;
    expect(greeksOf(far).rho / (-9 * normalCdf(nearer))).toBeCloseTo(1, 10);
    expect(greeksOf({ ...far, callPut: 1, spot: 1, strike: 1e200 }).delta / normalCdf(nearer)).toBeCloseTo(1, 10);
  });

  test('no negative price if both legs differ only by rounding', () => {
    const count = 4000;
    const strike = Float64Array.from({ length: count }, (_, i) => 100 * (1 + (i + 1) * 2e-15));
    const { price } = greeks({ ...call, count, strike, tte: 1, iv: 1e-14, rate: 0, dividend: 0 });
    expect(Math.min(...price)).toBe(0);
  });

  test('a NaN input gives NaN', () => {
    for (const field of Object.keys(call)) expect(greeksOf({ ...call, [field]: Number.NaN }).price, field).toBeNaN();
  });
});

describe('columns', () => {
  const [example] = REFERENCE;
  const rows = (from: number, to: number) => columnsOf(REFERENCE.slice(from, to), example);

  test('every batch size gives each row the same bits', () => {
    const whole = greeks(options);
    for (const size of [1, 7, 1023, 1024, 1025, 4000]) {
      for (let from = 0; from < options.count; from += size === 1 ? 397 : size) {
        const to = Math.min(from + size, options.count);
        const part = greeks(rows(from, to));
        for (const name of GREEKS) expect(part[name]).toEqual(whole[name].slice(from, to));
      }
    }
  });

  test('no rows give no results', () => {
    const empty = greeks(rows(0, 0));
    for (const name of GREEKS) expect(empty[name]).toHaveLength(0);
  });

  test('a number equals a column of that number', () => {
    const count = 2500;
    const strike = Float64Array.from({ length: count }, (_, i) => 50 + i / 25);
    const columns = columnsOf(Array<Option>(count).fill(call));
    expect(greeks({ ...call, count, strike })).toEqual(greeks({ ...columns, strike }));
  });

  test('columns of unequal length are rejected with their name', () => {
    expect(() => greeks({ ...call, count: 3, strike: new Float64Array(2) })).toThrow(
      'column strike has 2 rows, expected 3',
    );
    expect(() => greeks({ ...call, count: -1 })).toThrow('count must be a whole number');
  });

  test('results do not change when the kernel runs again', () => {
    const first = greeks({ ...call, count: 1 });
    const price = first.price[0]!;
    greeks({ ...put, count: 1 });
    expect(first.price[0]).toBe(price);
  });
});

describe('results in the caller’s columns', () => {
  test('are the same, and are written to the given columns', () => {
    const fresh = greeks(options);
    const given = Object.fromEntries(GREEKS.map((name) => [name, new Float64Array(options.count)])) as typeof fresh;
    const answer = greeks(options, undefined, given);
    for (const name of GREEKS) {
      expect(answer[name]).toBe(given[name]);
      expect(answer[name]).toEqual(fresh[name]);
    }
    const pair = callPutGreeks(options);
    const again = callPutGreeks({ ...options, count: options.count, spot: 100 });
    callPutGreeks(options, undefined, again);
    for (const name of GREEKS) {
      expect(again.call[name]).toEqual(pair.call[name]);
      expect(again.put[name]).toEqual(pair.put[name]);
    }
  });

  test('the columns must have room for every row', () => {
    const one = { count: 1, callPut: 1, spot: 100, strike: 100, tte: 1, iv: 0.2, rate: 0, dividend: 0 };
    expect(() => greeks(options, undefined, greeks(one))).toThrow(/into\[0\] has 1 rows/);
  });
});

test('market units: per volatility point, per calendar day, per percent of rate', () => {
  const raw = greeks({ ...call, count: 1 });
  const market = inMarketUnits(raw);
  const factors = {
    ...{ price: 1, delta: 1, gamma: 1, vega: 1e-2, theta: 1 / 365, rho: 1e-2, vanna: 1e-2, charm: 1 / 365 },
    volga: 1e-4,
  };
  for (const name of GREEKS) expect(market[name][0]).toBeCloseTo(raw[name][0]! * factors[name], 14);
  const oneDayOn = greeksOf({ ...call, tte: call.tte - 1 / 365 });
  expect(oneDayOn.price - raw.price[0]!).toBeCloseTo(market.theta[0]!, 3);
  const onePointUp = greeksOf({ ...call, iv: call.iv + 0.01 });
  expect(onePointUp.price - raw.price[0]!).toBeCloseTo(market.vega[0]! + market.volga[0]! / 2, 4);
});
