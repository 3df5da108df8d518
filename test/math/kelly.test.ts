import { describe, expect, test } from 'bun:test';
import { kellyAllocationPct, kellyFraction } from '../../src/math/kelly.ts';

// f* = p - (1 - p) / b (Kelly 1956), computed by hand.
test.each([
  [0.55, 2, 0.325],
  [0.6, 1, 0.2],
  [0.5, 1, 0],
  [0.4, 1, -0.2],
  [1, 0.5, 1],
  [0, 2, -0.5],
  [0.25, 5, 0.1],
])('p %d at %d to 1: %d of capital', (p, b, fraction) => {
  expect(kellyFraction(p, b)).toBeCloseTo(fraction, 15);
});

test.each([
  [0.55, 2, 0.5, 16.25],
  [0.55, 2, 1, 32.5],
  [0.4, 1, 1, 0],
  [1, 10, 1, 100],
  [1, 10, 0.25, 25],
])('p %d at %d to 1, %d of Kelly: %d %%', (p, b, fraction, percent) => {
  expect(kellyAllocationPct(p, b, fraction)).toBeCloseTo(percent, 12);
});

describe('rejects', () => {
  test.each([
    [-0.1, 1, 1, 'winProbability'],
    [1.1, 1, 1, 'winProbability'],
    [Number.NaN, 1, 1, 'winProbability'],
    [0.5, 0, 1, 'payoutRatio'],
    [0.5, -1, 1, 'payoutRatio'],
    [0.5, 1, 0, 'fraction'],
    [0.5, 1, 1.01, 'fraction'],
  ])('p %d, b %d, fraction %d', (p, b, fraction, name) => {
    expect(() => kellyAllocationPct(p, b, fraction)).toThrow(name);
  });
});
