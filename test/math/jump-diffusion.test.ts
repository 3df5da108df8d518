import { describe, expect, test } from 'bun:test';
import { greeksOf } from '../../src/math/black-scholes.ts';
import { type JumpDiffusionColumns, merton, mertonProbabilities } from '../../src/math/jump-diffusion.ts';
import { normalCdf } from '../../src/math/normal.ts';
import { reference, worst } from './reference.ts';

const rows = reference('merton.csv');
const options: JumpDiffusionColumns = {
  count: rows.count,
  spot: rows.column('spot'),
  strike: rows.column('strike'),
  tte: rows.column('tte'),
  iv: rows.column('iv'),
  rate: rows.column('rate'),
  dividend: rows.column('dividend'),
  jumpIntensity: rows.column('jump_intensity'),
  jumpMean: rows.column('jump_mean'),
  jumpVol: rows.column('jump_vol'),
};
const computed = merton(options);

const one = {
  count: 1,
  spot: 100,
  strike: 95,
  tte: 0.5,
  iv: 0.2,
  rate: 0.03,
  dividend: 0.01,
  jumpIntensity: 2,
  jumpMean: -0.05,
  jumpVol: 0.1,
};

test.each([
  ['probAbove', 'prob_above'],
  ['call', 'call'],
  ['put', 'put'],
] as const)('%s against 60-digit values', (name, column) => {
  const row = worst(computed[name], rows.column(column), rows.column(`condition_${column}`));
  expect(row.scaledError, JSON.stringify(row)).toBeLessThan(2.5);
});

test('the probabilities alone, against 60-digit values, and each row alone', () => {
  const { probAbove, probBelow } = mertonProbabilities(options);
  const row = worst(probAbove, rows.column('prob_above'), rows.column('condition_prob_above'));
  expect(row.scaledError, JSON.stringify(row)).toBeLessThan(2.5);
  const below = worst(probBelow, computed.probBelow, rows.column('condition_prob_above'));
  expect(below.scaledError, JSON.stringify(below)).toBeLessThan(2.5);
  for (const at of [0, 1, 499, 999]) {
    const cut = (column: Float64Array | number) => (typeof column === 'number' ? column : column.slice(at, at + 1));
    const { count: _, ...columns } = options;
    const single = Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, cut(column)]));
    expect(mertonProbabilities({ ...one, ...single }).probAbove[0]).toBe(probAbove[at]!);
  }
});

// Haug, Option Pricing Formulas (1998), page 9, as in QuantLib's test-suite/jumpdiffusion.cpp: S = 100, r = 8 %, total volatility
// 25 %, of whose variance a share gamma is jumps of mean zero.
test.each([
  [80, 0.1, 1, 0.25, 20.67],
  [80, 0.5, 1, 0.25, 23.63],
  [90, 0.25, 5, 0.25, 12.75],
  [100, 0.1, 10, 0.25, 3.53],
  [110, 0.25, 1, 0.25, 2.11],
  [120, 0.5, 5, 0.25, 2.25],
  [80, 0.1, 1, 0.5, 20.72],
  [90, 0.5, 1, 0.5, 15.34],
  [100, 0.25, 5, 0.5, 5.87],
  [120, 0.25, 10, 0.5, 0.64],
  [80, 0.25, 1, 0.75, 21.96],
  [90, 0.1, 1, 0.75, 11.11],
])('published: K %d, T %d, %d jumps a year, share %d: %d', (strike, tte, jumpIntensity, share, published) => {
  const jumpVol = Math.sqrt((share * 0.25 ** 2) / jumpIntensity);
  const iv = 0.25 * Math.sqrt(1 - share);
  const jumpMean = -(jumpVol ** 2) / 2;
  const { call } = merton({
    count: 1,
    spot: 100,
    strike,
    tte,
    iv,
    rate: 0.08,
    dividend: 0,
    jumpIntensity,
    jumpMean,
    jumpVol,
  });
  // Two printed digits.
  expect(Math.abs(call[0]! - published)).toBeLessThan(0.0051);
});

test('without jumps it is Black-Scholes-Merton', () => {
  for (const strike of [60, 95, 100, 160]) {
    const { probAbove, probBelow, call, put } = merton({ ...one, strike, jumpIntensity: 0 });
    const option = { ...one, strike };
    const asCall = greeksOf({ ...option, callPut: 1 });
    const asPut = greeksOf({ ...option, callPut: -1 });
    const discounted = strike * one.tte * Math.exp(-one.rate * one.tte);
    expect(call[0]).toBeCloseTo(asCall.price, 12);
    expect(put[0]).toBeCloseTo(asPut.price, 12);
    // Rho is K T e^(-rT) N(d2).
    expect(probAbove[0]).toBeCloseTo(asCall.rho / discounted, 14);
    expect(probBelow[0]).toBeCloseTo(-asPut.rho / discounted, 14);
  }
});

test('jumps without width, each a shift, are a Poisson mixture of diffusions', () => {
  const { count: _, ...rest } = { ...one, jumpVol: 0 };
  const k = Math.expm1(rest.jumpMean);
  let [above, weight] = [0, Math.exp(-rest.jumpIntensity * rest.tte)];
  for (let n = 0; n < 40; n++) {
    const deviation = rest.iv * Math.sqrt(rest.tte);
    const drift = (rest.rate - rest.dividend - rest.jumpIntensity * k - rest.iv ** 2 / 2) * rest.tte;
    above += weight * normalCdf((Math.log(rest.spot / rest.strike) + drift + n * rest.jumpMean) / deviation);
    weight *= (rest.jumpIntensity * rest.tte) / (n + 1);
  }
  expect(merton({ ...rest, count: 1 }).probAbove[0]).toBeCloseTo(above, 14);
});

test('above and below sum to one, and the tail is not one minus the other', () => {
  const off = computed.probAbove.map((above, at) => Math.abs(above + computed.probBelow[at]! - 1));
  expect(Math.max(...off)).toBeLessThan(3e-15);
  expect(Math.max(...computed.probAbove, ...computed.probBelow)).toBe(1);
  const far = merton({ ...one, strike: 1, jumpIntensity: 0.1 });
  expect(far.probAbove[0]).toBe(1);
  expect(far.probBelow[0]).toBeGreaterThan(1e-300);
  expect(far.probBelow[0]).toBeLessThan(1e-18);
});

test('parity: call less put is the discounted forward', () => {
  const [S, K, T, r, q] = [options.spot, options.strike, options.tte, options.rate, options.dividend] as Float64Array[];
  for (let at = 0; at < options.count; at++) {
    const spotNow = S![at]! * Math.exp(-q![at]! * T![at]!);
    const strikeNow = K![at]! * Math.exp(-r![at]! * T![at]!);
    const gap = computed.call[at]! - computed.put[at]! - (spotNow - strikeNow);
    expect(Math.abs(gap), `row ${at}`).toBeLessThan(3e-14 * (spotNow + strikeNow));
  }
});

describe('limits', () => {
  test.each([
    ['T = 0, above', { tte: 0 }, { probAbove: 1, probBelow: 0, call: 5, put: 0 }],
    ['T = 0, below', { tte: 0, strike: 110 }, { probAbove: 0, probBelow: 1, call: 0, put: 10 }],
    ['T = 0, at the strike: at or above', { tte: 0, strike: 100 }, { probAbove: 1, probBelow: 0, call: 0, put: 0 }],
    [
      'nothing moves',
      { iv: 0, jumpIntensity: 0, rate: 0, dividend: 0 },
      { probAbove: 1, probBelow: 0, call: 5, put: 0 },
    ],
    [
      'only jumps, of width',
      { iv: 0, strike: 1e-3, rate: 0, dividend: 0 },
      { probAbove: 1, probBelow: 0, call: 99.999, put: 0 },
    ],
  ])('%s', (_, change, limit) => {
    const { probAbove, probBelow, call, put } = merton({ ...one, ...change });
    expect(probAbove[0]).toBeCloseTo(limit.probAbove, 14);
    expect(probBelow[0]).toBeCloseTo(limit.probBelow, 14);
    expect(call[0]).toBeCloseTo(limit.call, 12);
    expect(put[0]).toBeCloseTo(limit.put, 12);
  });

  test('up to 256 jumps expected; beyond, no number', () => {
    const many = merton({ ...one, jumpIntensity: 512, jumpMean: -5e-5, jumpVol: 0.01 });
    expect(many.probAbove[0]! + many.probBelow[0]!).toBeCloseTo(1, 13);
    expect(many.call[0]! - many.put[0]!).toBeCloseTo(100 * Math.exp(-0.005) - 95 * Math.exp(-0.015), 10);
    const tooMany = merton({ ...one, jumpIntensity: 520, jumpMean: 0, jumpVol: 0.01 });
    for (const column of Object.values(tooMany)) expect(column[0]).toBeNaN();
    const tooManyInSpot = merton({ ...one, jumpIntensity: 500, jumpMean: 0.1, jumpVol: 0.01 });
    expect(tooManyInSpot.probAbove[0]).toBeNaN();
  });

  test('an input that is no number gives none', () => {
    const { count: _, ...inputs } = one;
    for (const field of Object.keys(inputs)) {
      expect(merton({ ...one, [field]: Number.NaN }).probAbove[0], field).toBeNaN();
    }
  });
});

test('each row stands alone, to the bit', () => {
  for (const at of [0, 1, 499, 998, 999]) {
    const cut = (column: Float64Array | number) => (typeof column === 'number' ? column : column.slice(at, at + 1));
    const { count: _, ...columns } = options;
    const alone = merton({ ...one, ...Object.fromEntries(Object.entries(columns).map(([name, c]) => [name, cut(c)])) });
    for (const name of ['probAbove', 'probBelow', 'call', 'put'] as const)
      expect(alone[name][0]).toBe(computed[name][at]!);
  }
  expect(merton({ ...one, count: 0 }).call).toHaveLength(0);
  expect(merton({ ...one, count: 3000 }).call.every((value, _, all) => value === all[0])).toBe(true);
  expect(() => merton({ ...one, jumpVol: new Float64Array(2) })).toThrow('column jumpVol has 2 rows, expected 1');
});
