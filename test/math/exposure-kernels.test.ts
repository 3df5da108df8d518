import { describe, expect, test } from 'bun:test';
import { greeks } from '../../src/math/black-scholes.ts';
import { hedges } from '../../src/math/exposure-kernels.ts';
import { columnsOf, hedgeRow, referenceOptions } from '../fixtures/vectors.ts';

const REFERENCE = referenceOptions();

const SCALE = { delta: 1, vanna: 1, change: 2 };

describe('hedges', () => {
  const rows = REFERENCE.map(hedgeRow);
  const now = greeks(columnsOf(REFERENCE));
  const later = greeks(columnsOf(rows.map((each) => each.later))).delta;
  const found = hedges(columnsOf(rows.map(({ row }) => row)));

  test('are the Greeks, and the difference of two deltas', () => {
    for (const [name, expected] of [
      ['delta', now.delta],
      ['vanna', now.vanna],
      ['change', later.map((delta, i) => delta - now.delta[i]!)],
    ] as const) {
      for (const [i, value] of expected.entries()) {
        const error = Math.abs(found[name][i]! - value);
        expect(error, `${name} ${i}`).toBeLessThan(1e-11 * Math.max(SCALE[name], Math.abs(value)));
      }
    }
  });

  test('without time or volatility are the limits', () => {
    const terms = { count: 1, callPut: 1, spot: 100, carry: 0, factor: 1, laterFactor: 1 };
    for (const [strike, delta] of [
      [90, 1],
      [110, 0],
    ] as const) {
      for (const [tte, iv] of [
        [0, 0.2],
        [0.5, 0],
      ] as const) {
        const limits = hedges({ ...terms, strike, tte, iv, laterTte: tte });
        expect([limits.delta[0], limits.vanna[0], limits.change[0]]).toEqual([delta, expect.closeTo(0), 0]);
      }
    }
  });

  test.each([
    ['at settlement, the delta of a forward or 0', 90, 0, 0.5, 0.9],
    ['at settlement out of the money', 110, 0, 0.5, 0],
    ['at settlement on the strike, half of it', 100, 0, 0.5, 0.45],
    ['unknown: no change', 90, -1, 0.5, Number.NaN],
  ])('a later time %s', (_what, strike, laterTte, tte, expected) => {
    const terms = { count: 1, callPut: 1, spot: 100, carry: 0, factor: 1, laterFactor: 0.9, iv: 0.2, strike, tte };
    const { delta, change } = hedges({ ...terms, laterTte });
    if (Number.isNaN(expected)) expect(change[0]).toBe(0);
    else expect(delta[0]! + change[0]!).toBeCloseTo(expected, 15);
  });
});
