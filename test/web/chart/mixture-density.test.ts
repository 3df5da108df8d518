import { describe, expect, test } from 'bun:test';
import { runStrategicOmniRadar } from '../../../src/operations/surface/omni-radar.ts';
import {
  densityAt,
  lognormalMixture,
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
