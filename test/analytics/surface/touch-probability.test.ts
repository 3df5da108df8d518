import { describe, expect, test } from 'bun:test';
import { type JumpDiffusion, jumpDiffusionLaw } from '../../../src/analytics/surface/jump-diffusion-law.ts';
import { lognormalLaw, type PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { endBeyond, jumpTouch, superHedge, touchRange } from '../../../src/analytics/surface/touch-probability.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { normalCdf } from '../plain.ts';

const DIFFUSION: JumpDiffusion = { variance: 0.04, jumps: 0, mean: 0, width: 0 };
const JUMPS: JumpDiffusion = { variance: 0.02, jumps: Math.LN2, mean: -0.08, width: 0.1 };

function touch(law: PriceLaw, model: JumpDiffusion, strike: number, forward = 100): number {
  const barrier = { spot: 100, strike, forward };
  return touchRange([runToCompletion(jumpTouch(law, model, barrier))], law, barrier).probabilities[0]!;
}

describe('of a lognormal law without carry', () => {
  test.each([70, 90, 99, 101, 110, 140])('at %d: the reflection principle', (strike) => {
    const [side, s] = [strike >= 100 ? 1 : -1, 0.2];
    const x = side * Math.log(strike / 100);
    const drift = -side * (s / 2);
    const expected = normalCdf(-x / s + drift) + Math.exp(2 * drift * (x / s)) * normalCdf(-x / s - drift);
    expect(touch(lognormalLaw(0.04), DIFFUSION, strike)).toBeCloseTo(expected, 10);
  });
});

describe('bounds', () => {
  const laws: [string, PriceLaw, JumpDiffusion][] = [
    ['diffusion', lognormalLaw(0.04), DIFFUSION],
    ['jumps', jumpDiffusionLaw(JUMPS), JUMPS],
    ['another law than that of the model', jumpDiffusionLaw({ ...JUMPS, mean: -0.15 }), JUMPS],
  ];
  test.each(laws)(
    '%s: at least the probability of ending beyond, at most the super-hedge, and certain at spot',
    (_what, law, model) => {
      for (const forward of [95, 100, 104]) {
        let before = 1;
        for (const strike of [100, 100.01, 101, 104, 110, 120, 140, 180]) {
          const found = touch(law, model, strike, forward);
          expect(found).toBeWithin(
            endBeyond(law, 1, strike / forward),
            superHedge(law, 1, strike / forward, 100 / forward) + 1e-12,
          );
          expect(found).toBeLessThanOrEqual(before + 1e-9);
          before = found;
        }
        for (const strike of [99.99, 99, 96, 90, 80, 60]) {
          const found = touch(law, model, strike, forward);
          expect(found).toBeWithin(
            endBeyond(law, -1, strike / forward),
            superHedge(law, -1, strike / forward, 100 / forward) + 1e-12,
          );
        }
        expect(touch(law, model, 100, forward)).toBe(1);
      }
    },
  );
});

test('the range has all models, a margin for their errors, and ends at the bounds of arbitrage', () => {
  const [law, barrier] = [lognormalLaw(0.04), { spot: 100, strike: 110, forward: 100 }];
  const end = endBeyond(law, 1, 1.1);
  const most = superHedge(law, 1, 1.1, 1);
  const found = touchRange([0.6, 0.55, 0.5], law, barrier);
  expect(found).toEqual({
    probabilities: [0.6, 0.55, 0.5],
    low: 0.5 - 0.003 - 0.05 * 0.25,
    high: 0.6 + 0.003 + 0.05 * 0.24,
    end,
    superHedge: most,
  });
  expect(touchRange([1, 0], law, barrier)).toMatchObject({ probabilities: [most, end], low: end, high: most });
});

describe('superHedge', () => {
  test.each([
    [1, 1.1, 1],
    [1, 1.3, 0.97],
    [-1, 0.9, 1],
    [-1, 0.7, 1.02],
  ])('side %d, strike %d, spot over forward %d: the cheapest option of a fine grid', (side, moneyness, spot) => {
    const law = jumpDiffusionLaw(JUMPS);
    const barrier = side > 0 ? Math.min(moneyness, moneyness / spot) : Math.max(moneyness, moneyness / spot);
    let least = 1;
    for (let i = 1; i < 20_000; i++) {
      const strike = barrier * Math.exp((-side * i) / 10_000);
      least = Math.min(least, law.price(side, strike) / Math.abs(barrier - strike));
    }
    const found = superHedge(law, side, moneyness, spot);
    expect(found).toBeWithin(least * (1 - 1e-7), least * (1 + 1e-6));
  });

  test.each([1e-12, 1e12])('is a probability at the absurd strike %d', (moneyness) => {
    expect(superHedge(lognormalLaw(0.04), moneyness > 1 ? 1 : -1, moneyness, 1)).toBeWithin(0, 1e-6);
  });
});
