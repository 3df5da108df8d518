import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { normalCdf } from '../../../src/math/normal.ts';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import {
  densityAt,
  deviationAt,
  lognormalMixture,
  normalBelow,
  probabilitiesAround,
  probabilityBelow,
} from '../../../web/chart/mixture-density.ts';
import type { Radar } from '../../../web/data/page-answers.ts';
import { callExtended } from '../../operations/small-market.ts';
import { context } from '../quoted-market.ts';

describe.each([11, 30, 200])('the density at %d days', (days) => {
  const answer = callExtended(runStrategicOmniRadar, { ticker: 'ACME', target_dte: days }, context);
  const { state_density, density_parameters, gex_boundaries } = answer as unknown as Radar;
  const mixture = { forward: state_density.forward, ...density_parameters };

  test('gives the quantiles and the probabilities of the answer', () => {
    for (const [name, price] of Object.entries(state_density.quantiles)) {
      expect(probabilityBelow(mixture, price)).toBeCloseTo(Number(name.slice(1)) / 100, 10);
    }
    const { put_wall, call_wall } = gex_boundaries;
    const around = probabilitiesAround(mixture, [call_wall, put_wall]);
    expect(around.below).toBeCloseTo(state_density.probability_below_put_wall, 10);
    expect(around.between).toBeCloseTo(state_density.probability_between_walls, 10);
    expect(around.above).toBeCloseTo(state_density.probability_above_call_wall, 10);
  });

  test('is the slope of the probability, is largest at the mode, and sums to 1', () => {
    const step = mixture.forward / 2000;
    let sum = 0;
    for (let price = step / 2; price < 4 * mixture.forward; price += step) {
      const density = densityAt(mixture, price);
      sum += density * step;
      expect(densityAt(mixture, state_density.mode)).toBeGreaterThanOrEqual(density * (1 - 1e-9));
    }
    expect(sum).toBeCloseTo(1, 4);
    const [low, high] = [mixture.forward * 0.99, mixture.forward * 0.9901];
    const slope = (probabilityBelow(mixture, high) - probabilityBelow(mixture, low)) / (high - low);
    expect(slope / densityAt(mixture, (low + high) / 2)).toBeCloseTo(1, 2);
  });
});

test('a lognormal has its median below the forward, and nothing at or below 0', () => {
  const law = lognormalMixture(100, 0.2);
  expect(probabilityBelow(law, 100 * Math.exp(-0.02))).toBeCloseTo(0.5, 7);
  expect([0, -1].map((price) => [probabilityBelow(law, price), densityAt(law, price)])).toEqual([
    [0, 0],
    [0, 0],
  ]);
});

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
