import { describe, expect, test } from 'bun:test';
import {
  add,
  cumulative,
  type DoubleDouble,
  exactly,
  exponential,
  logarithm,
  logarithmOfRatio,
  mills,
  squareRoot,
  sub,
} from '../fixtures/double-double.ts';
import {
  type Exact,
  exactBounds,
  exactGamma,
  exactGreeks,
  exactMerton,
  exactPrice,
  exactVolatility,
} from '../fixtures/exact.ts';
import { drawOptions, referenceJumpOptions, referenceOptions } from '../fixtures/vectors.ts';
import { reference } from './reference.ts';

/** The reference implementation of the accuracy tests, checked against values of 60 digits. */
const distance = (a: DoubleDouble, b: DoubleDouble) => Math.abs(sub(a, b).high);

describe('functions with 31 digits', () => {
  const functions = { exponential, logarithm, squareRoot, mills, cumulative };

  // From 60-digit arithmetic: the nearest double, and the nearest double to the remainder.
  test.each([
    ['exponential', -600.3, 1.9634620584977012e-261, 9.153447526726684e-279],
    ['exponential', -20.7, 1.0235385977594162e-9, -6.484174939174867e-26],
    ['exponential', -0.3466, 0.7070881069410189, -4.768387989392634e-17],
    ['exponential', 1e-5, 1.00001000005, 9.70188425858504e-17],
    ['exponential', 0.346, 1.4134026158176771, -9.170028870186485e-17],
    ['exponential', 1, Math.E, 1.4456468917292502e-16],
    ['exponential', 100.3, 3.628578599676532e43, 8.62496699245366e26],
    ['exponential', 600.1, 4.1698323098968926e260, 1.277075965409801e244],
    ['logarithm', 1e-200, -460.51701859880916, 2.2080942657241066e-14],
    ['logarithm', 0.3, -1.2039728043259361, 8.935521583403776e-17],
    ['logarithm', 2, Math.LN2, 2.3190468138462996e-17],
    ['logarithm', 3.7, 1.308332819650179, -8.256475934401426e-17],
    ['logarithm', 1e150, 345.38776394910684, 1.1828413230444957e-14],
    ['squareRoot', 2, Math.SQRT2, -9.667293313452913e-17],
    ['squareRoot', 1e-7, 0.00031622776601683794, -1.3396815001160107e-20],
    ['squareRoot', 7.1e100, 2.664582518894846e50, -1.4238871045025353e34],
    ['mills', 0, 1.2533141373155003, -9.164289990229583e-17],
    ['mills', 0.124, 1.138349250235157, 2.0923756374885e-18],
    ['mills', 0.126, 1.13663362243651, -7.765660378305232e-17],
    ['mills', 1.3, 0.5648671289696161, 2.2382889979031418e-17],
    ['mills', 3.3, 0.2806413905555233, -6.272153540720311e-18],
    ['mills', 5.99, 0.16263540052117273, -7.5725572586284e-18],
    ['mills', 6.01, 0.1621207186196775, -3.3070384958045518e-18],
    ['mills', 8.5, 0.11608206338598229, 3.3206156948067184e-18],
    ['mills', 14, 0.07106958053885211, -1.9289684202823494e-18],
    ['mills', 20, 0.04987592598183679, -3.334954870231769e-18],
    ['mills', 38, 0.026297602974252963, 1.5678749274765259e-18],
    ['cumulative', -36, 4.182624065797283e-284, 2.8599864938910797e-300],
    ['cumulative', -8.5, 9.479534822203318e-18, 7.041129563898285e-34],
    ['cumulative', -0.5, 0.3085375387259869, 1.4568778275699303e-17],
    ['cumulative', 0.5, 0.6914624612740131, -1.4568778275699303e-17],
    ['cumulative', 3, 0.9986501019683699, 8.940996681239719e-18],
  ] as const)('%s of %d', (name, x, high, low) => {
    const size = name === 'exponential' ? 1 + Math.abs(x) : name === 'cumulative' ? 1 + x * x : 1;
    expect(distance(functions[name](exactly(x)), { high, low })).toBeLessThan(1e-31 * size * Math.abs(high));
  });

  test.each([
    [3, 2, 0.4054651081081644, -2.8811380259626426e-18],
    [1.0000000009313226, 1, 9.313225741817976e-10, 2.692645221273596e-28],
    [1e8, 1e-8, 36.841361487904734, -3.4941325182417274e-15],
    [0.999, 1.001, -0.0020000006666669574, -1.7466069882066492e-19],
  ])('ln(%d / %d)', (a, b, high, low) => {
    expect(distance(logarithmOfRatio(a, b), { high, low })).toBeLessThan(1e-31 * Math.abs(high));
  });
});

/** Lines of the reference file whose double differs from the exact value's, or whose condition differs from the exact one in its digits. */
function wrongLines(values: Float64Array, conditions: Float64Array, exact: readonly Exact[]): number[] {
  return exact.flatMap(({ value, condition }, row) => {
    const X = values[row]!;
    // The conditions have four digits.
    const same = Math.abs(condition - conditions[row]!) < 6e-4 * condition + 1e-14 * Math.abs(X);
    return Math.abs(X) < 1e-290 || (value.high === X && same) ? [] : [row + 2];
  });
}

// The reference has the nearest doubles. All 39,000 agree, so the errors of the exact values are far below a rounding:
// with errors of 1e-20 one or two would differ.
describe('every reference value to its last digit', () => {
  const bsm = reference('bsm.csv');
  const exact = referenceOptions().map(exactGreeks);
  test.each(['price', 'delta', 'gamma', 'vega', 'theta', 'rho', 'vanna', 'charm', 'volga'] as const)('%s', (name) => {
    const column = exact.map((row) => row[name]);
    expect(wrongLines(bsm.column(name), bsm.column(`condition_${name}`), column)).toEqual([]);
  });

  const rows = reference('merton.csv');
  const exactJumps = referenceJumpOptions().map(exactMerton);
  test.each([
    ['probAbove', 'prob_above'],
    ['call', 'call'],
    ['put', 'put'],
  ] as const)('Merton, %s', (name, column) => {
    const values = exactJumps.map((row) => row[name]);
    expect(wrongLines(rows.column(column), rows.column(`condition_${column}`), values)).toEqual([]);
  });

  test('Merton, the probabilities of both sides add up to 1', () => {
    for (const { probAbove, probBelow } of exactJumps)
      expect(distance(add(probAbove.value, probBelow.value), exactly(1))).toBeLessThan(1e-30);
  });
});

describe('relations of exact values', () => {
  const options = drawOptions(50);

  test('gamma at a moved spot equals the gamma of an option at that spot', () => {
    for (const { callPut, ...option } of options) {
      const { gamma } = exactGreeks({ ...option, callPut });
      if (gamma.value.high < 1e-280) continue;
      const still = exactGamma(option);
      expect(distance(still.value, gamma.value)).toBeLessThan(1e-29 * (gamma.value.high + gamma.condition));
      expect(still.condition / gamma.condition).toBeCloseTo(1, 9);
      const moved = exactGamma({ ...option, spot: option.spot / 2 }, logarithm(exactly(2)));
      expect(distance(moved.value, gamma.value)).toBeLessThan(1e-29 * (gamma.value.high + moved.condition));
    }
  });

  test('finds the volatility that priced the option, from any guess', () => {
    let determined = 0;
    for (const { iv, ...option } of options) {
      const price = exactPrice({ ...option, iv }).high;
      const { intrinsic, cap } = exactBounds(option);
      if (price < 1e-280 || price <= intrinsic.high || price >= cap.high) continue;
      const [near, far] = [1.001 * iv, 0].map((guess) => exactVolatility(option, price, guess));
      if (near!.condition > 1e12 * iv) continue;
      determined++;
      // The price is rounded by up to half a unit of its last place.
      expect(distance(near!.value, exactly(iv))).toBeLessThan(1.2e-16 * near!.condition);
      expect(distance(near!.value, far!.value)).toBeLessThan(1e-18 * (iv + near!.condition));
    }
    expect(determined).toBeGreaterThan(100);
  });
});
