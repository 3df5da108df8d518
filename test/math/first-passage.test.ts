import { describe, expect, test } from 'bun:test';
import { runToCompletion } from '../../src/core/steps.ts';
import { passage, passageProducts, type Walk } from '../../src/math/first-passage.ts';
import { normalCdf } from '../analytics/plain.ts';
import { IS_FULL } from '../support/size.ts';

/** Start, drift, variance, expected number of jumps, mean and width of the jumps. */
type Figures = readonly [number, number, number, number, number, number];

function walk([start, drift, variance, jumps, jumpMean, jumpWidth]: Figures): Walk {
  return { start, drift, variance, jumps, jumpMean, jumpWidth };
}

function generator(seed: number): { uniform(): number; normal(): number } {
  let state = seed;
  const uniform = () => {
    state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return { uniform, normal: () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) };
}

/**
 * Mean over simulated paths and its standard error: jumps at uniform times, and between them the probability that a
 * Brownian bridge crosses.
 */
function simulatedPassage(of: Walk, paths: number): { mean: number; error: number } {
  const { uniform, normal } = generator(4711);
  let [sum, squares] = [0, 0];
  for (let path = 0; path < paths; path++) {
    const times: number[] = [];
    // Arrival times of a Poisson process.
    const wait = () => -Math.log(uniform()) / of.jumps;
    for (let at = wait(); at < 1; at += wait()) times.push(at);
    let [stays, place, before] = [1, of.start, 0];
    for (const until of [...times, 1]) {
      const variance = of.variance * (until - before);
      const next = place + of.drift * (until - before) + Math.sqrt(variance) * normal();
      stays *= next <= 0 ? 0 : 1 - Math.exp((-2 * place * next) / variance);
      place = until < 1 ? next + of.jumpMean + of.jumpWidth * normal() : next;
      before = until;
      if (place <= 0) stays = 0;
      if (stays === 0) break;
    }
    sum += 1 - stays;
    squares += (1 - stays) ** 2;
  }
  const mean = sum / paths;
  return { mean, error: Math.sqrt((squares / paths - mean ** 2) / paths) };
}

const WALKS: readonly Figures[] = [
  [1, 0, 1, 0.69, -0.3, 0.5],
  [0.5, 0.1, 0.25, 0.69, -0.47, 0.93],
  [2, -0.1, 0.25, 0.69, 0.47, 0.93],
  [1, 0, 0.25, 6.9, 0.15, 0.3],
  [1, 0, 0.25, 6.9, -0.33, 0],
  [1, 0, 0.25, 0.105, -1.2, 2.3],
  [3, 0, 0.25, 0.105, -1.2, 2.3],
  [0.05, 0, 0.25, 0.69, -0.5, 0.9],
  [0.2, -0.2, 0.4, 3, 0.3, 0.1],
  [2, 0.3, 1, 3, -0.2, 0.1],
  // Near the barrier with many jumps.
  [0.05, 0, 0.25, 6.9, -0.2, 0.262],
  [0.06, 0, 0.25, 2.3, -0.3, 0.486],
  // The variance of a day, in logarithms of price.
  [0.03, 0.0005, 0.0001, 0.69, -0.01, 0.015],
];

test.each(WALKS.map((figures) => ({ figures })))('$figures: agrees with simulated paths', ({ figures }) => {
  const of = walk(figures);
  const { mean, error } = simulatedPassage(of, IS_FULL ? 100_000 : 40_000);
  expect(error).toBeLessThan(IS_FULL ? 0.0016 : 0.0025);
  expect(Math.abs(runToCompletion(passage(of)) - mean)).toBeLessThan(0.002 + 3 * error);
});

// A step of `passage` has at most 250,000 products, unless a single piece of work has more. Two successive steps have more than this number.
test.each(WALKS.map((figures) => ({ figures })))('$figures: the products of its steps are counted', ({ figures }) => {
  const of = walk(figures);
  const steps = [...passage(of)].length + 1;
  const perStep = passageProducts(of) / 250_000 / steps;
  expect(perStep).toBeLessThan(1.3);
  if (steps > 2) expect(perStep).toBeGreaterThan(0.5);
});

test.each([
  ['at the barrier', [0, 0.1, 1, 1, 0, 1]],
  ['without jumps', [1, 0.1, 1, 0, 0, 1]],
  ['too far away', [1e3, 0.1, 1, 1, 0, 1]],
] as const)('%s no product is computed', (_what, figures) => {
  expect(passageProducts(walk(figures))).toBe(0);
});

describe('without jumps it equals the closed form', () => {
  test.each([
    [1, 0, 1],
    [1, -0.5, 1],
    [0.2, 0.3, 0.04],
    [3, 1, 0.5],
    [0.01, -0.0001, 0.0004],
  ])('from %d, drift %d, variance %d', (start, drift, variance) => {
    const deviation = Math.sqrt(variance);
    const known =
      normalCdf((-start - drift) / deviation) +
      Math.exp((-2 * drift * start) / variance) * normalCdf((-start + drift) / deviation);
    expect(Math.abs(runToCompletion(passage(walk([start, drift, variance, 0, -0.1, 0.1]))) - known)).toBeLessThan(
      1e-12,
    );
  });

  // Very rare jumps, and jumps of size 0.
  test.each([
    [1e-9, -0.5, 0.5, 1e-8],
    [0.7, 0, 0, 0.002],
    [3, 0, 0, 0.003],
  ])('and is close to it with %d jumps of %d and %d', (jumps, mean, width, bound) => {
    const [with_, without] = [jumps, 0].map((n) => runToCompletion(passage(walk([1, -0.2, 1, n, mean, width]))));
    expect(Math.abs(with_! - without!)).toBeLessThan(bound);
  });
});

describe('the probability rises', () => {
  const STEP = IS_FULL ? 0.1 : 0.3;
  test.each(WALKS.map((figures) => ({ figures })))(
    'with proximity to the barrier: $figures',
    ({ figures: [start, ...rest] }) => {
      let before = 1;
      for (let from = 0.1 * start; from < 4 * start; from += STEP * start) {
        const found = runToCompletion(passage(walk([from, ...rest])));
        expect(found).toBeWithin(0, before + 1e-9);
        before = found;
      }
    },
  );

  test('with time', () => {
    let before = 0;
    for (let time = 0.05; time < 3; time += STEP / 2) {
      const found = runToCompletion(passage(walk([1, 0.1 * time, 0.5 * time, 0.7 * time, -0.2, 0.4])));
      expect(found).toBeGreaterThan(before);
      before = found;
    }
  });
});

test.each([
  ['at the barrier', [0, 0.1, 1, 1, 0, 1], 1],
  ['beyond the barrier', [-1, 0.1, 1, 1, 0, 1], 1],
  ['so far away that no path comes near', [1e3, 0.1, 1, 1, 0, 1], 0],
  ['an extreme drift away from the barrier', [1, 1e4, 1, 1, 0, 1], 0],
  ['an extreme drift towards the barrier', [1, -1e4, 1, 1, 0, 1], 1],
] as const)('%s', (_what, figures, expected) => {
  expect(runToCompletion(passage(walk(figures)))).toEqual(expected);
});
