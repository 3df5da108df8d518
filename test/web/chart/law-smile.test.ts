import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { normalCdf } from '../../../src/math/normal.ts';
import { deviationAt, normalBelow } from '../../../web/chart/law-smile.ts';
import { probabilityBelow } from '../../../web/chart/mixture-density.ts';

/** A skewed law like those of an index: its mean is 1. */
const node = [0.8, 0.9, 0.96, 1, 1.03, 1.06];
const weights = [0.03, 0.1, 0.2, 0.35, 0.22, 0.1];
const mean = node.reduce((sum, each, i) => sum + each * weights[i]!, 0);
const law = { kernel: 0.02, node: node.map((each) => each / mean), mass: weights };
const served = new PriceLaw(
  Float64Array.from(law.node),
  Float64Array.from(law.mass),
  new Float64Array(node.length).fill(law.kernel),
);

describe('the smile of a law', () => {
  test.each([-0.25, -0.1, -0.02, 0, 0.01, 0.05, 0.1])('at ln(K/F) = %p it is the one of the server', (distance) => {
    expect(deviationAt(law, distance) ** 2 / served.totalVariance(distance)).toBeCloseTo(1, 9);
    expect(probabilityBelow({ ...law, forward: 1 }, Math.exp(distance))).toBeCloseTo(
      served.below(Math.exp(distance)),
      12,
    );
  });

  test('a single lognormal has the same volatility at every strike', () => {
    for (const distance of [-0.2, 0, 0.3]) {
      expect(deviationAt({ kernel: 0.15, node: [1], mass: [1] }, distance)).toBeCloseTo(0.15, 12);
    }
  });
});

test('the normal distribution function is that of the kernels', () => {
  fc.assert(
    fc.property(fc.double({ min: -12, max: 12, noNaN: true }), (x) => {
      expect(Math.abs(normalBelow(x) / normalCdf(x) - 1)).toBeLessThan(1e-6);
      expect(Math.abs(normalBelow(x) - normalCdf(x))).toBeLessThan(1e-14);
    }),
  );
  expect([normalBelow(-40), normalBelow(40), normalBelow(0)]).toEqual([0, 1, 0.5]);
});
