import { describe, expect, test } from 'bun:test';
import { greeks, greeksOf, type Option } from '../../src/math/black-scholes.ts';
import { impliedVolatility } from '../../src/math/implied-volatility.ts';
import { exactBounds, exactVolatility } from '../fixtures/exact.ts';
import { columnsOf, drawPrices, gridPrices, neighbour, referenceOptions } from '../fixtures/vectors.ts';
import { EPSILON, reference } from './reference.ts';

/** Above this ratio one rounding of price, spot or strike changes the volatility by more than 1 %, so that no solver can determine it. */
const CONDITION_MAX = 0.01 / EPSILON;

function ivOf(option: Omit<Option, 'iv'>, price: number): number {
  return impliedVolatility({ ...option, price, count: 1 })[0]!;
}

function grid(): Option[] {
  const options: Option[] = [];
  for (const tte of [1e-4, 1 / 365, 0.02, 0.25, 1, 3, 10])
    for (const iv of [0.01, 0.03, 0.1, 0.2, 0.45, 1, 2.5, 5])
      for (const deviations of [0, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.3, 1, 2, 3, 5, 7, 10, 14, 20])
        for (const side of [1, -1])
          for (const callPut of [1, -1])
            for (const [rate, dividend] of [
              [0, 0],
              [0.05, 0.02],
              [-0.01, 0.04],
            ] as const) {
              const forward = 100 * Math.exp((rate - dividend) * tte);
              const strike = forward * Math.exp(side * deviations * iv * Math.sqrt(tte));
              options.push({ callPut, spot: 100, strike, tte, iv, rate, dividend });
            }
  return options;
}

test('round trip: moneyness to 20 deviations, T 1e-4 to 10, volatility 1 % to 500 %, calls and puts', () => {
  const options = grid();
  const columns = columnsOf(options);
  const { price, delta, vega, rho } = greeks(columns);
  const solved = impliedVolatility({ ...columns, price });
  let worst = { error: 0, solved: 0, option: {} };
  let resolvable = 0;
  options.forEach((option, i) => {
    const { callPut, spot, strike, tte, iv, rate, dividend } = option;
    const spotLeg = Math.abs(spot * delta[i]!);
    const condition =
      price[i]! +
      spotLeg * (1 + Math.abs(dividend * tte)) +
      Math.abs(callPut * spotLeg - price[i]!) +
      Math.abs(rate * rho[i]!);
    const attainable = EPSILON * (1 + condition / (vega[i]! * iv));
    const cap = callPut > 0 ? spot * Math.exp(-dividend * tte) : strike * Math.exp(-rate * tte);
    if (price[i]! < cap) expect(solved[i], JSON.stringify(option)).toBeFinite();
    if (!(attainable < EPSILON * CONDITION_MAX) || price[i]! < 1e-290) return;
    resolvable++;
    const error = Math.abs(solved[i]! / iv - 1) / attainable;
    if (!(error <= worst.error)) worst = { error, solved: solved[i]!, option };
  });
  expect(resolvable).toBeGreaterThan(0.7 * options.length);
  expect(worst.error, JSON.stringify(worst)).toBeLessThan(4);
});

test('recovers the volatilities of the 60-digit prices', () => {
  const bsm = reference('bsm.csv');
  const [price, condition, vega] = ['price', 'condition_price', 'vega'].map(bsm.column) as [
    ...[Float64Array, Float64Array, Float64Array],
  ];
  const { iv, ...columns } = columnsOf(referenceOptions());
  const solved = impliedVolatility({ ...columns, price });
  let worst = { error: 0, row: -1, solved: 0, expected: 0 };
  let resolvable = 0;
  iv.forEach((expected, row) => {
    const attainable = EPSILON * (1 + (price[row]! + condition[row]!) / (vega[row]! * expected));
    if (!(attainable < EPSILON * CONDITION_MAX) || price[row]! < 1e-290) return;
    resolvable++;
    const error = Math.abs(solved[row]! / expected - 1) / attainable;
    if (!(error <= worst.error)) worst = { error, row, solved: solved[row]!, expected };
  });
  expect(resolvable).toBeGreaterThan(0.6 * bsm.count);
  expect(worst.error, JSON.stringify(worst)).toBeLessThan(1);
});

test.each([1e-12, 1e-6, 1e-3, 0.2, 3, 15])('at the money, accurate to the last digits: s = %d', (s) => {
  // Computed without cancellation: 2 N(s / 2) - 1 by its series, or by the tail.
  const half = s / 2;
  const series =
    (half * (1 - half ** 2 / 6 + half ** 4 / 40 - half ** 6 / 336 + half ** 8 / 3456)) / Math.sqrt(Math.PI / 2);
  const price =
    s < 0.3 ? series : greeksOf({ callPut: 1, spot: 1, strike: 1, tte: 1, iv: s, rate: 0, dividend: 0 }).price;
  const solved = ivOf({ callPut: 1, spot: 1, strike: 1, tte: 1, rate: 0, dividend: 0 }, price);
  const attainable = EPSILON * (1 + (price * Math.sqrt(2 * Math.PI) * Math.exp(half ** 2 / 2)) / s);
  expect(Math.abs(solved / s - 1)).toBeLessThan(8 * attainable);
});

describe('prices at or beyond the bounds', () => {
  const call = { callPut: 1, spot: 100, strike: 90, tte: 1, rate: 0.05, dividend: 0.02 };
  const put = { ...call, callPut: -1, strike: 110 };
  const [S, K, KPut] = [100 * Math.exp(-0.02), 90 * Math.exp(-0.05), 110 * Math.exp(-0.05)];
  const { NaN: none, POSITIVE_INFINITY: infinite } = Number;

  test.each([
    ['call at its discounted intrinsic value', call, S - K, 0],
    ['call below its intrinsic value', call, S - K - 1, 0],
    ['put at its intrinsic value', put, KPut - S, 0],
    ['call at a price of 0', { ...call, strike: 110 }, 0, 0],
    ['call at spot’s present value', call, S, none],
    ['call above spot’s present value', call, 101, none],
    ['put at the strike’s present value', put, KPut, none],
    ['NaN price', call, none, none],
    ['infinite price', call, infinite, none],
    ['spot of 0', { ...call, spot: 0 }, 5, none],
    ['negative strike', { ...call, strike: -1 }, 5, none],
    ['T = 0', { ...call, tte: 0 }, 12, none],
    ['infinite time', { ...call, tte: infinite }, 12, none],
    ['NaN rate', { ...call, rate: none }, 12, none],
  ])('%s', (_, option, price, expected) => {
    expect(ivOf(option, price)).toBe(expected);
  });

  test('a price slightly inside either bound has a volatility', () => {
    expect(ivOf(call, (S - K) * (1 + 1e-12))).toBeWithin(1e-6, 0.1);
    expect(ivOf(call, S * (1 - 1e-14))).toBeWithin(5, 20);
  });
});

describe('relations', () => {
  const rows = [...gridPrices().filter((_, i) => i % 7 === 0), ...drawPrices(500)].map(({ option, price }) => ({
    ...option,
    price,
  }));
  const solved = impliedVolatility(columnsOf(rows));

  test.each([-20, 3])('price, spot and strike times 2^%d: the same volatility, bit for bit', (power) => {
    const factor = 2 ** power;
    const scaled = rows.map((row) => ({
      ...row,
      ...{ price: factor * row.price, spot: factor * row.spot, strike: factor * row.strike },
    }));
    impliedVolatility(columnsOf(scaled)).forEach((iv, i) => {
      // Prices close to the smallest double lose bits.
      if (rows[i]!.price > 1e-290) expect(iv, JSON.stringify(rows[i])).toBe(solved[i]!);
    });
  });

  test('four times the time without interest: half the volatility, bit for bit', () => {
    const still = rows.filter(({ rate, dividend }) => rate === 0 && dividend === 0);
    expect(still.length).toBeGreaterThan(500);
    const [once, longer] = [1, 4].map((factor) =>
      impliedVolatility(columnsOf(still.map((row) => ({ ...row, tte: factor * row.tte })))),
    );
    still.forEach((row, i) => {
      expect(2 * longer![i]!, JSON.stringify(row)).toBe(once![i]!);
    });
  });

  test('a higher price has a higher volatility, from intrinsic value to the cap', () => {
    const count = 200;
    for (const { price: _, ...option } of rows.filter((_, i) => i % 50 === 0)) {
      const { intrinsic, cap } = exactBounds(option);
      // Prices are closely spaced at either end.
      const share = Float64Array.from({ length: count }, (_, i) => 1 / (1 + Math.exp((count / 2 - i) / 4)));
      const price = share.map((part) => intrinsic.high + part * (cap.high - intrinsic.high));
      const ivs = impliedVolatility({ ...option, count, price });
      for (let i = 1; i < count; i++) {
        const apart = (price[i]! - price[i - 1]!) / (option.spot + option.strike);
        if (apart > 1e-14) expect(ivs[i]!, JSON.stringify({ ...option, price: price[i] })).toBeGreaterThan(ivs[i - 1]!);
      }
    }
  });

  test('parity: a call and a put priced with one volatility both give that volatility back', () => {
    let compared = 0;
    for (const [i, { price, ...option }] of rows.entries()) {
      const { rate, dividend, spot, strike } = option;
      // Exact only without interest, where the sum has no rounding error.
      const other = price - option.callPut * (spot - strike);
      if (rate !== 0 || dividend !== 0 || other + option.callPut * (spot - strike) !== price || other <= 0) continue;
      if (spot - strike + strike !== spot || other >= (option.callPut > 0 ? strike : spot)) continue;
      const { condition } = exactVolatility(option, price, solved[i]!);
      const iv = ivOf({ ...option, callPut: -option.callPut }, other);
      if (!(EPSILON * condition < 0.01 * iv)) continue;
      compared++;
      expect(Math.abs(iv - solved[i]!), JSON.stringify(option)).toBeLessThan(4 * EPSILON * (iv + condition));
    }
    expect(compared).toBeGreaterThan(100);
  });
});

describe('at the bounds', () => {
  const options = [
    { callPut: 1, spot: 100, strike: 90, tte: 1, rate: 0.05, dividend: 0.02 },
    { callPut: -1, spot: 100, strike: 110, tte: 0.25, rate: 0.03, dividend: 0.01 },
    { callPut: 1, spot: 64, strike: 81, tte: 2, rate: 0, dividend: 0 },
    { callPut: -1, spot: 64, strike: 81, tte: 1e-3, rate: 0, dividend: 0 },
  ];

  test.each(options)('%j: no volatility three ulps above the cap, a volatility three ulps below', (option) => {
    const { cap } = exactBounds(option);
    for (const ulps of [3, 4, 100]) {
      expect(ivOf(option, neighbour(cap.high, ulps))).toBeNaN();
      expect(ivOf(option, neighbour(cap.high, -ulps))).toBeFinite();
    }
  });

  test.each(options.slice(2))('%j: a cap that is a double is exact to the ulp', (option) => {
    const cap = option.callPut > 0 ? option.spot : option.strike;
    expect(ivOf(option, cap)).toBeNaN();
    expect(ivOf(option, neighbour(cap, -1))).toBeWithin(5, 1000);
  });

  test.each([options[0]!, options[1]!, options[3]!])('%j: 0 below intrinsic value, and rising above it', (option) => {
    const { intrinsic } = exactBounds(option);
    const larger = Math.max(option.spot, option.strike);
    const ulp = neighbour(larger) - larger;
    expect(intrinsic.high).toBeGreaterThan(0);
    for (const ulps of [3, 100]) expect(ivOf(option, intrinsic.high - ulps * ulp)).toBe(0);
    const rising = [3, 10, 100, 1000, 1e6].map((ulps) => ivOf(option, intrinsic.high + ulps * ulp));
    expect(rising[0]).toBeGreaterThan(0);
    for (let i = 1; i < rising.length; i++) expect(rising[i]!).toBeGreaterThan(rising[i - 1]!);
  });
});

test('rows are independent bit for bit, in any number', () => {
  const options = grid().slice(0, 3000);
  const columns = (rows: readonly Option[]) => {
    const { iv: _, ...others } = columnsOf(rows, options[0]);
    return { ...others, price: Float64Array.from(rows, (row) => greeksOf(row).price) };
  };
  const whole = impliedVolatility(columns(options));
  for (const [from, to] of [
    [0, 0],
    [17, 18],
    [1000, 1007],
    [1023, 1025],
  ] as const) {
    expect(impliedVolatility(columns(options.slice(from, to)))).toEqual(whole.slice(from, to));
  }
});
