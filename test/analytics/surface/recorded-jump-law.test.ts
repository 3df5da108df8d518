import { describe, expect, test } from 'bun:test';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { type JumpLaw, jumpLawAt } from '../../../src/analytics/surface/jump-diffusion-law.ts';
import {
  endBeyond,
  jumpTouch,
  pathTouches,
  superHedge,
  touchRange,
} from '../../../src/analytics/surface/touch-probability.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, someRecorded } from '../recorded.ts';
import { preparedChain } from '../small-chains.ts';
import { outsideVerticals, sumCounts } from './quote-checks.ts';

const STAG_PROBS = [0.05, 0.5, 0.95];
/** Wider bands at the money leave the law open: the volatilities of bid and ask of XLE differ by half of the volatility at some expiries. */
const BAND_MAX = 0.1;
/** A touch takes some 20 ms: every so many settlements. */
const TOUCHED = 5;

describeRecorded('jump laws of recorded chains', (dir) => {
  describe.each(someRecorded(dir))('%s', (name) => {
    const chain = recordedChain(dir, name);
    const surface = runToCompletion(fitSurface(preparedChain(chain)));

    test.each(STAG_PROBS)(
      'stag_prob %d: probabilities are within the bounds of adjacent quoted verticals',
      (noJump) => {
        const counts = surface.slices.map((slice) => {
          const { law } = runToCompletion(jumpLawAt(surface, slice.settlesAt, noJump));
          const mean = law.masses.reduce((sum, mass, i) => sum + mass * law.nodes[i]!, 0);
          expect(Math.abs(mean - 1)).toBeLessThan(1e-9);
          return outsideVerticals(slice, (side, strike) => endBeyond(law, side, strike));
        });
        const { outside, count } = sumCounts(counts);
        expect(outside).toBeLessThanOrEqual(0.03 * count);
      },
      30_000,
    );

    test('between settlements: the mean is the forward, and probabilities fall with the strike', () => {
      for (const days of [1, 9, 45, 200]) {
        const jumpLaw = runToCompletion(jumpLawAt(surface, chain.asOf + days * 86_400_000, 0.5));
        const mean = jumpLaw.law.masses.reduce((sum, mass, i) => sum + mass * jumpLaw.law.nodes[i]!, 0);
        expect(Math.abs(mean - 1)).toBeLessThan(1e-9);
        const deviation = Math.sqrt(jumpLaw.horizon.atmVariance);
        let before = 1;
        for (let z = -6; z <= 6; z += 0.1) {
          const above = jumpLaw.law.above(Math.exp(z * deviation));
          expect(above).toBeLessThanOrEqual(before);
          before = above;
        }
        if (jumpLaw.slice!.fit.atmBand < BAND_MAX) expect(differenceFromSurface(jumpLaw)).toBeLessThan(0.03);
      }
    });

    test('a touch is between the probability of ending beyond and the super-hedge', () => {
      for (const slice of surface.slices.filter((_, i) => i % TOUCHED === 0)) {
        const { law, jumpDiffusion } = runToCompletion(jumpLawAt(surface, slice.settlesAt, 0.5));
        const deviation = Math.sqrt(slice.atmVariance);
        for (const z of [-3.2, -2, -1, -0.3, 0.3, 1, 2, 3.2]) {
          const strike = chain.spot * Math.exp(z * deviation);
          const barrier = { spot: chain.spot, strike, forward: slice.forward };
          const { local, random, blend } = runToCompletion(pathTouches(surface, slice, barrier));
          const jump = runToCompletion(jumpTouch(law, jumpDiffusion, barrier));
          const { probabilities, low, high } = touchRange([blend, local, random, jump], law, barrier);
          const probability = probabilities[0]!;
          const moneyness = strike / slice.forward;
          expect(low).toBeGreaterThanOrEqual(endBeyond(law, Math.sign(z), moneyness));
          expect(probability).toBeWithin(low, high + 1e-12);
          expect(high).toBeLessThanOrEqual(
            superHedge(law, Math.sign(z), moneyness, chain.spot / slice.forward) + 1e-12,
          );
          // Where quotes determine the law, the bounds hardly limit the continuous path.
          if (slice.fit.atmBand < BAND_MAX) expect(Math.abs(probability - blend)).toBeLessThan(0.01);
        }
      }
    }, 30_000);
  });
});

/** The largest difference of the two laws' probabilities within two deviations. */
function differenceFromSurface({ law, horizon }: JumpLaw): number {
  const deviation = Math.sqrt(horizon.atmVariance);
  let largest = 0;
  for (let z = -2; z <= 2; z += 0.25) {
    const moneyness = Math.exp(z * deviation);
    largest = Math.max(largest, Math.abs(law.above(moneyness) - horizon.law.above(moneyness)));
  }
  return largest;
}
