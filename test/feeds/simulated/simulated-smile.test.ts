import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type SimulatedSmile, smileVolatility, totalVariance } from '../../../src/feeds/simulated/simulated-smile.ts';

const surface: fc.Arbitrary<SimulatedSmile> = fc.record({
  shortIv: fc.double({ min: 0.03, max: 2.5, noNaN: true }),
  longIv: fc.double({ min: 0.05, max: 1.5, noNaN: true }),
  skew: fc.double({ min: -0.8, max: 0.8, noNaN: true }),
});
const years = fc.double({ min: Math.log(3e-5), max: Math.log(3), noNaN: true }).map(Math.exp);
/** In at-the-money standard deviations. */
const deviations = fc.double({ min: -8, max: 8, noNaN: true });

test('total variance grows with time at every moneyness: no calendar arbitrage', () => {
  fc.assert(
    fc.property(surface, years, years, deviations, (smile, one, other, z) => {
      const [near, far] = [Math.min(one, other), Math.max(one, other)];
      const k = z * Math.sqrt(totalVariance(smile, 0, near));
      expect(totalVariance(smile, k, far)).toBeGreaterThanOrEqual(totalVariance(smile, k, near) * (1 - 1e-12));
    }),
    { numRuns: 500 },
  );
});

test("the implied density is positive: no butterfly arbitrage (Gatheral's g)", () => {
  fc.assert(
    fc.property(surface, years, deviations, (smile, tte, z) => {
      const scale = Math.sqrt(totalVariance(smile, 0, tte));
      const [k, h] = [z * scale, scale * 1e-3];
      const [down, w, up] = [k - h, k, k + h].map((x) => totalVariance(smile, x, tte)) as [number, number, number];
      const [first, second] = [(up - down) / (2 * h), (up - 2 * w + down) / h ** 2];
      const g = (1 - (k * first) / (2 * w)) ** 2 - (first ** 2 / 4) * (1 / w + 1 / 4) + second / 2;
      expect(g).toBeGreaterThan(0);
    }),
    { numRuns: 500 },
  );
});

test('the at-the-money volatility starts at the short volatility and tends to the long one', () => {
  const smile = { shortIv: 0.3, longIv: 0.2, skew: -0.5 };
  expect(smileVolatility(smile, 0, 1e-6)).toBeCloseTo(0.3, 5);
  expect(smileVolatility(smile, 0, 100)).toBeCloseTo(0.2, 2);
});

test('puts are more expensive than calls if the skew is negative', () => {
  const smile = { shortIv: 0.2, longIv: 0.2, skew: -0.7 };
  expect(smileVolatility(smile, -0.1, 0.25)).toBeGreaterThan(smileVolatility(smile, 0.1, 0.25) + 0.02);
});
