import { describe, expect, test } from 'bun:test';
import { inverseNormalCdf, normalCdf } from '../../src/math/normal.ts';

// Both tables come from 50-digit arithmetic, rounded once. One rounding of x changes N(x) by x^2 roundings in the lower tail.
describe('N', () => {
  test('N(0) is exactly one half', () => {
    expect(normalCdf(0)).toBe(0.5);
    expect(normalCdf(-0)).toBe(0.5);
  });

  test.each([
    [-37.5, 4.605353009581955e-308],
    [-20, 2.7536241186062337e-89],
    [-10, 7.619853024160525e-24],
    [-5, 2.866515718791939e-7],
    [-2.5, 0.006209665325776135],
    [-1, 0.15865525393145705],
    [-0.5, 0.3085375387259869],
    [-1e-8, 0.4999999960105772],
    [0, 0.5],
    [0.3, 0.6179114221889527],
    [1.7, 0.955434537241457],
    [3, 0.9986501019683699],
    [6, 0.9999999990134123],
    [8.5, 1],
  ])('(%d) = %d', (x, p) => {
    expect(Math.abs(normalCdf(x) / p - 1)).toBeLessThanOrEqual(1e-15 * (1 + x * x));
  });

  test.each([
    [Number.NEGATIVE_INFINITY, 0],
    [-1e300, 0],
    [1e300, 1],
    [Number.POSITIVE_INFINITY, 1],
  ])('(%d) = %d', (x, p) => {
    expect(normalCdf(x)).toBe(p);
  });

  test('is monotonic, and both sides add up to 1', () => {
    let last = 0;
    for (let x = -37; x <= 9; x += 1 / 64) {
      const p = normalCdf(x);
      // At the right end the doubles are too far apart.
      if (x < 5) expect(p, `x = ${x}`).toBeGreaterThan(last);
      else expect(p, `x = ${x}`).toBeGreaterThanOrEqual(last);
      expect(Math.abs(p + normalCdf(-x) - 1), `x = ${x}`).toBeLessThanOrEqual(Number.EPSILON);
      last = p;
    }
  });

  test('N(NaN) is NaN', () => {
    expect(normalCdf(Number.NaN)).toBeNaN();
  });
});

describe('inverse of N', () => {
  test.each([
    [1e-300, -37.0470962993612],
    [1e-100, -21.273453560965326],
    [1e-20, -9.262340089798407],
    [1e-5, -4.264890793922825],
    [0.01, -2.326347874040841],
    [0.0749, -1.4402382675279637],
    [0.0751, -1.43882539275254],
    [0.3, -0.5244005127080408],
    [0.6, 0.2533471031357997],
    [0.925, 1.4395314709384561],
    [0.99, 2.3263478740408408],
  ])('(%d) = %d', (p, x) => {
    expect(Math.abs(inverseNormalCdf(p) / x - 1)).toBeLessThan(1e-15);
  });

  test('is the inverse of N', () => {
    for (let x = -37; x <= 5; x += 0.37) {
      // The effect of one rounding of p: p / phi(x).
      const attainable = 2.22e-16 * (1 + (normalCdf(x) * Math.sqrt(2 * Math.PI) * Math.exp(x ** 2 / 2)) / Math.abs(x));
      expect(Math.abs(inverseNormalCdf(normalCdf(x)) / x - 1), `x = ${x}`).toBeLessThan(8 * attainable);
    }
  });

  test('the ends of the range and values outside', () => {
    expect(inverseNormalCdf(0)).toBe(Number.NEGATIVE_INFINITY);
    expect(inverseNormalCdf(0.5)).toBe(0);
    expect(inverseNormalCdf(1)).toBe(Number.POSITIVE_INFINITY);
    for (const p of [-0.1, 1.1, Number.NaN]) expect(inverseNormalCdf(p)).toBeNaN();
  });
});
