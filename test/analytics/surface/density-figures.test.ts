import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import { densityFigures, QUANTILES } from '../../../src/analytics/surface/density-figures.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, someRecorded } from '../recorded.ts';
import { SIMULATED, simulated } from '../simulated.ts';

/** The quantile by 60 bisections. */
function bisected(law: PriceLaw, deviation: number, probability: number): number {
  let [low, high] = [-12 * deviation, 12 * deviation];
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (law.below(Math.exp(middle)) < probability) low = middle;
    else high = middle;
  }
  return Math.exp((low + high) / 2);
}

function expectBisected(law: PriceLaw, deviation: number): void {
  const { quantiles } = densityFigures(law, deviation);
  for (const [i, probability] of QUANTILES.entries()) {
    const error = quantiles[i]! / bisected(law, deviation, probability) - 1;
    expect(Math.abs(error), String(probability)).toBeLessThan(1e-9);
  }
}

function expectAll(chain: Chain): void {
  const { slices } = runToCompletion(fitSurface(runToCompletion(prepareChain(chain, DEFAULT_OPTIONS))));
  for (const { law, atmVariance } of slices) expectBisected(law, Math.sqrt(atmVariance));
}

describe('quantiles equal those of bisection', () => {
  test.each(SIMULATED.slice(0, 4))('of the simulated %s', (ticker) => expectAll(simulated(ticker)));

  test('of mixtures with one, two and many humps, and with gaps between them', () => {
    const random = generator(1);
    for (let round = 0; round < 60; round++) {
      const count = [1, 2, 3, 40][round % 4]!;
      const deviation = 0.01 + 0.5 * random();
      const widths = Float64Array.from({ length: count }, () => deviation * (0.05 + 0.3 * random()));
      const nodes = Float64Array.from({ length: count }, () => Math.exp(deviation * (6 * random() - 3)));
      const raw = Float64Array.from({ length: count }, () => random() ** 2 + 1e-6);
      const total = raw.reduce((sum, each) => sum + each, 0);
      const mean = raw.reduce((sum, each, i) => sum + (each / total) * nodes[i]!, 0);
      const law = new PriceLaw(
        nodes.map((each) => each / mean),
        raw.map((each) => each / total),
        widths,
      );
      expectBisected(law, deviation);
    }
  });

  describeRecorded('of recorded chains', (dir) => {
    test.each(someRecorded(dir))('%s', (name) => expectAll(recordedChain(dir, name)));
  });
});
