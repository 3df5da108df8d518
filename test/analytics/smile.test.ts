import { describe, expect, test } from 'bun:test';
import { atmVolatility, surfaceOf, varianceAt } from '../../src/analytics/smile.ts';
import { contract, EXPIRY, LATER, prepared, quoted, range, yearsTo } from './small-chains.ts';

const SMILE = {
  logMoneyness: Float64Array.of(-0.2, -0.1, 0, 0.3),
  totalVariance: Float64Array.of(0.08, 0.05, 0.04, 0.07),
};

test.each([
  ['flat before the first', -5, 0.08],
  ['at the first', -0.2, 0.08],
  ['half way', -0.15, 0.065],
  ['at one within', -0.1, 0.05],
  ['a third of the way', 0.1, 0.05],
  ['at the last', 0.3, 0.07],
  ['flat beyond the last', 9, 0.07],
])('total variance %s', (_what, x, expected) => {
  expect(varianceAt(SMILE, x)).toBeCloseTo(expected, 15);
});

test('a smile of one strike is flat', () => {
  const one = { logMoneyness: Float64Array.of(0.1), totalVariance: Float64Array.of(0.04) };
  expect([-1, 0.1, 1].map((x) => varianceAt(one, x))).toEqual([0.04, 0.04, 0.04]);
});

describe('at the money', () => {
  test('is between the strikes around the forward', () => {
    const [series] = prepared(quoted({ strikes: range(90, 110), iv: (strike) => (strike < 100.1 ? 0.3 : 0.2) })).series;
    const tte = yearsTo('ACME', EXPIRY);
    const at = Math.log(series!.forward / 100) / Math.log(101 / 100);
    expect(atmVolatility(series!)).toBeCloseTo(Math.sqrt(0.3 ** 2 + at * (0.2 ** 2 - 0.3 ** 2)), 6);
    expect(series!.tte).toBe(tte);
  });

  test('is no number where no strike has a volatility', () => {
    expect(atmVolatility(prepared([contract()]).series[0]!)).toBeNaN();
  });
});

describe('surface', () => {
  const [near, far] = [yearsTo('ACME', EXPIRY), yearsTo('ACME', LATER)];
  const rows = [
    ...quoted({ strikes: range(80, 120), iv: 0.2, dividend: 0.01 }),
    ...quoted({ strikes: range(80, 120), iv: 0.3, dividend: 0.02, expiry: LATER }),
  ];
  const surface = surfaceOf(prepared(rows))!;
  const half = (near + far) / 2;
  const [nearCarry, farCarry] = [0.03 * near, 0.02 * far];

  test.each([
    ['before the first expiry its volatility', near / 3, 0.2 ** 2 * (near / 3), nearCarry / 3],
    ['at the first', near, 0.2 ** 2 * near, nearCarry],
    ['between: linear in total variance', half, (0.2 ** 2 * near + 0.3 ** 2 * far) / 2, (nearCarry + farCarry) / 2],
    ['at the last', far, 0.3 ** 2 * far, farCarry],
    ['beyond: its volatility', 3 * far, 0.3 ** 2 * 3 * far, 3 * farCarry],
  ])('%s', (_what, tte, variance, carry) => {
    expect(surface.variance(0.01, tte)).toBeCloseTo(variance, 9);
    expect(surface.carry(tte)).toBeCloseTo(carry, 9);
    expect(surface.rate(tte)).toBeCloseTo(0.04, 12);
  });

  test('passes over series without a volatility', () => {
    const withHole = surfaceOf(prepared([...rows, contract({ expiry: '2026-01-30' })]))!;
    expect(withHole.variance(0, half)).toBe(surface.variance(0, half));
  });

  test('is none where no series has a volatility', () => {
    expect(surfaceOf(prepared([contract()]))).toBeUndefined();
  });
});
