import { describe, expect, test } from 'bun:test';
import {
  fitJumpDiffusion,
  type JumpDiffusion,
  jumpDiffusionLaw,
  logDensityAtNodes,
} from '../../../src/analytics/surface/jump-diffusion-law.ts';
import { NODE_STEP, NODE_Z } from '../../../src/analytics/surface/log-density-basis.ts';
import type { QuoteBands } from '../../../src/analytics/surface/slice-model.ts';
import { merton } from '../../../src/math/jump-diffusion.ts';

const MODELS: [string, JumpDiffusion][] = [
  ['rare', { variance: 0.01, jumps: 0.05, mean: -0.2, width: 0.1 }],
  ['half', { variance: 0.02, jumps: Math.LN2, mean: -0.08, width: 0.06 }],
  ['many', { variance: 0.02, jumps: 3, mean: 0.02, width: 0.05 }],
  ['none', { variance: 0.03, jumps: 0, mean: 0, width: 0 }],
];

describe('jumpDiffusionLaw', () => {
  test.each(MODELS)('%s: prices and probabilities of the kernel', (_what, model) => {
    const law = jumpDiffusionLaw(model);
    expect(law.masses.reduce((sum, mass, i) => sum + mass * law.nodes[i]!, 0)).toBeCloseTo(1, 14);
    const strikes = [0.6, 0.8, 0.95, 1, 1.05, 1.3];
    const known = merton({
      ...{ count: strikes.length, spot: 1, strike: Float64Array.from(strikes), tte: 1, rate: 0, dividend: 0 },
      ...{ iv: Math.sqrt(model.variance), jumpIntensity: model.jumps, jumpMean: model.mean, jumpVol: model.width },
    });
    for (const [i, strike] of strikes.entries()) {
      expect(law.price(1, strike)).toBeCloseTo(known.call[i]!, 12);
      expect(law.price(-1, strike)).toBeCloseTo(known.put[i]!, 12);
      expect(law.above(strike)).toBeCloseTo(known.probAbove[i]!, 12);
      expect(law.below(strike)).toBeCloseTo(known.probBelow[i]!, 12);
    }
  });
});

function quotesOf(model: JumpDiffusion, strikes: readonly number[], halfWidth: number): QuoteBands {
  const law = jumpDiffusionLaw(model);
  const callPut = Float64Array.from(strikes, (strike) => (strike >= 1 ? 1 : -1));
  return {
    callPut,
    moneyness: Float64Array.from(strikes),
    price: callPut.map((side, i) => law.price(side, strikes[i]!)),
    halfWidth: new Float64Array(strikes.length).fill(halfWidth),
  };
}

describe('fitJumpDiffusion', () => {
  const strikes = Array.from({ length: 40 }, (_, i) => 0.6 + 0.02 * i);

  test.each(MODELS.filter(([, { jumps }]) => jumps > 0))('%s: finds the law that made the prices', (_what, model) => {
    const law = jumpDiffusionLaw(model);
    const atmVariance = law.totalVariance(0);
    const found = jumpDiffusionLaw(fitJumpDiffusion(quotesOf(model, strikes, 1e-5), atmVariance, model.jumps));
    for (const strike of [0.7, 0.85, 1, 1.1, 1.25]) {
      expect(Math.abs(found.above(strike) - law.above(strike))).toBeLessThan(0.01);
    }
  });

  test('a single quote at the money determines the level, and jumps have a third of the variance', () => {
    const variance = 0.04;
    const one = quotesOf({ variance, jumps: 0, mean: 0, width: 0 }, [1], 1e-6);
    const found = fitJumpDiffusion(one, variance, 0.7);
    expect(jumpDiffusionLaw(found).price(1, 1)).toBeCloseTo(one.price[0]!, 5);
    const ofJumps = 0.7 * (found.mean ** 2 + found.width ** 2);
    expect(ofJumps / (ofJumps + found.variance)).toBeWithin(0.3, 0.45);
    expect(found.mean).toBeLessThan(0);
  });
});

test('logDensityAtNodes integrates to one over the nodes', () => {
  for (const [, model] of MODELS) {
    const law = jumpDiffusionLaw(model);
    const deviation = Math.sqrt(law.totalVariance(0));
    const logDensity = logDensityAtNodes(law, deviation);
    const mass = logDensity.reduce((sum, each) => sum + Math.exp(each), 0) * NODE_STEP * deviation;
    expect(mass / Math.sqrt(2 * Math.PI)).toBeCloseTo(1, 2);
    expect(logDensity).toHaveLength(NODE_Z.length);
  }
});
