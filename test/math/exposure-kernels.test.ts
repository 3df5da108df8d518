import { describe, expect, test } from 'bun:test';
import { greeks } from '../../src/math/black-scholes.ts';
import { hedges } from '../../src/math/exposure-kernels.ts';
import { normalCdf } from '../analytics/plain.ts';
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

  test('the later delta is the integral of N(d1) over the prices that spot may reach', () => {
    for (let i = 1; i < 600; i += 7) {
      const { callPut, spot, strike, iv, carry, laterTte, laterDrift, laterFactor } = rows[i]!.row;
      if (!(iv * Math.sqrt(laterTte) > 0.003)) continue;
      const left = laterTte / 2 + laterDrift;
      const diffusing = laterTte - left;
      const mean = Math.log(spot / strike) + carry - (iv * iv * diffusing) / 2;
      const delta = (logMoneyness: number) => {
        const s = iv * Math.sqrt(left);
        const d1 = s > 0 ? logMoneyness / s + s / 2 : Math.sign(logMoneyness) * 50;
        return callPut * normalCdf(callPut * d1);
      };
      const expected = laterFactor * expectation(delta, mean, iv * Math.sqrt(diffusing), left > 1e-12);
      expect(found.delta[i]! + found.change[i]! - expected, String(i)).toBeWithin(-1e-9, 1e-9);
    }
  });

  test('without time or volatility are the limits', () => {
    const terms = { count: 1, callPut: 1, spot: 100, carry: 0, factor: 1, laterDrift: 0, laterFactor: 1 };
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
});

/** The expectation over a normal number by Simpson's rule, on each side of the strike. */
function expectation(value: (x: number) => number, mean: number, deviation: number, isSmooth: boolean): number {
  if (deviation === 0) return value(mean);
  const density = (z: number) => Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
  const atStrike = Math.min(Math.max(-mean / deviation, -12), 12);
  const simpson = (from: number, to: number, steps: number) => {
    const h = (to - from) / steps;
    if (h === 0) return 0;
    let sum = 0;
    for (let i = 0; i <= steps; i++) {
      const z = from + i * h;
      const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2;
      // Without time left, the delta is a step at the strike. Each side has its own value there.
      const inside = isSmooth ? z : z + (i === 0 ? 1e-12 : i === steps ? -1e-12 : 0);
      sum += weight * density(z) * value(mean + deviation * inside);
    }
    return (sum * h) / 3;
  };
  return simpson(-12, atStrike, 4000) + simpson(atStrike, 12, 4000);
}
