import { describe, expect, test } from 'bun:test';
import { densityOf } from '../../../src/analytics/density/density.ts';
import { surfaceOf } from '../../../src/analytics/density/surface.ts';
import { contract, EXPIRY, LATER, prepared, quoted, range, yearsTo } from '../small-chains.ts';

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
    ['before the first expiry: constant volatility', near / 3, 0.2 ** 2 * (near / 3), nearCarry / 3],
    ['at the first expiry', near, 0.2 ** 2 * near, nearCarry],
    ['between: linear in total variance', half, (0.2 ** 2 * near + 0.3 ** 2 * far) / 2, (nearCarry + farCarry) / 2],
    ['at the last expiry', far, 0.3 ** 2 * far, farCarry],
    ['beyond the last expiry: constant volatility', 3 * far, 0.3 ** 2 * 3 * far, 3 * farCarry],
  ])('%s', (_what, tte, variance, carry) => {
    expect(Math.abs(surface.variance(0.01, tte) / variance - 1)).toBeLessThan(1e-4);
    expect(surface.carry(tte)).toBeCloseTo(carry, 9);
    expect(surface.rate(tte)).toBeCloseTo(0.04, 12);
  });

  test('beyond the last expiry the smile has constant width in deviations: slope ~ 1 / root of time', () => {
    const skewed = surfaceOf(
      prepared(quoted({ strikes: range(80, 120), iv: (strike) => 0.3 - 0.2 * Math.log(strike / 100) })),
    )!;
    for (const x of [-0.15, -0.05, 0, 0.1]) {
      expect(skewed.variance(2 * x, 4 * near)).toBeCloseTo(4 * skewed.variance(x, near), 12);
    }
    expect(skewed.variance(-0.1, near)).toBeGreaterThan(1.05 * skewed.variance(0.1, near));
  });

  test('equals the densities at the expiries', () => {
    const ready = prepared(rows);
    for (const series of ready.series) {
      const { totalVariance } = densityOf(ready, series);
      for (const x of [-0.2, 0, 0.05]) expect(surface.variance(x, series.tte)).toBe(totalVariance(x));
    }
  });

  test('skips series without a volatility', () => {
    const withHole = surfaceOf(prepared([...rows, contract({ expiry: '2026-01-30' })]))!;
    expect(withHole.variance(0, half)).toBe(surface.variance(0, half));
  });

  test('is undefined if no series has a volatility', () => {
    expect(surfaceOf(prepared([contract()]))).toBeUndefined();
  });
});
