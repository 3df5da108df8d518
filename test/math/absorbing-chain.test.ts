import { expect, test } from 'bun:test';
import { ChainStep } from '../../src/math/absorbing-chain.ts';
import { normalCdf } from '../analytics/plain.ts';

const COUNT = 201;
const START = COUNT >> 1;

test.each([
  [1, 20],
  [-1, 20],
  [1, 35],
])(
  'side %d: a walk on nodes reaches a barrier as often as a Brownian motion (reflection principle)',
  (side, distance) => {
    const steps = 60;
    // The variance of all steps is that of a deviation of 20 nodes.
    const rate = 20 ** 2 / steps / 2;
    const [up, down] = [new Float64Array(COUNT).fill(rate), new Float64Array(COUNT).fill(rate)];
    up[COUNT - 1] = 0;
    down[0] = 0;
    const chain = new ChainStep(up, down);
    const [mass, sums] = [new Float64Array(COUNT), new Float64Array(COUNT)];
    mass[START] = 1;
    const barrier = START + side * distance;
    let reached = 0;
    for (let i = 0; i < steps; i++) {
      reached += side > 0 ? chain.below(barrier, mass, sums) : chain.above(barrier, mass, sums);
    }
    expect(reached + mass.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 12);
    expect(Math.abs(reached - 2 * normalCdf(-distance / 20))).toBeLessThan(5e-4);
  },
);

test('a step of uneven rates agrees with the equations of Crank and Nicolson', () => {
  const up = Float64Array.of(0.3, 1.2, 0.1, 0.7, 0);
  const down = Float64Array.of(0, 0.4, 2, 0.2, 0.9);
  const before = Float64Array.of(0.1, 0.3, 0.2, 0.25, 0.15);
  const after = before.slice();
  expect(new ChainStep(up, down).below(5, after, new Float64Array(5))).toBe(0);
  for (let i = 0; i < 5; i++) {
    const mean = (j: number) => ((before[j] ?? 0) + (after[j] ?? 0)) / 2;
    const flow = (up[i - 1] ?? 0) * mean(i - 1) + (down[i + 1] ?? 0) * mean(i + 1) - (up[i]! + down[i]!) * mean(i);
    expect(after[i]! - before[i]!).toBeCloseTo(flow, 12);
  }
});
