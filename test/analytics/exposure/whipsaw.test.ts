import { describe, expect, test } from 'bun:test';
import { whipsawComponents, whipsawIndex } from '../../../src/analytics/exposure/whipsaw.ts';

/** A daily move of 2 dollars. */
const INPUT = {
  ...{ spot: 100, flip: { level: 100, resolved: true }, iv: 0.02 * Math.sqrt(252), netGamma: 0, grossGamma: 50 },
  ...{ expiringGamma: 10, realised: 0.02 * Math.sqrt(252) },
};

describe('components', () => {
  test.each([
    ['flip_proximity', 'at the flip', {}, 100],
    ['flip_proximity', 'one daily move above the flip', { flip: { level: 98, resolved: true } }, 100 / Math.E],
    ['flip_proximity', 'two daily moves from the flip', { flip: { level: 104, resolved: true } }, 100 / Math.E ** 2],
    ['flip_proximity', 'no flip', { flip: { level: 100, resolved: false } }, null],
    ['regime', 'balanced', {}, 50],
    ['regime', 'all long', { netGamma: 50 }, 0],
    ['regime', 'all short', { netGamma: -50 }, 100],
    ['regime', 'no gamma', { grossGamma: 0, expiringGamma: 0 }, null],
    ['realised_over_implied', 'equal to implied', {}, 50],
    ['realised_over_implied', 'half of implied', { realised: 0.01 * Math.sqrt(252) }, 0],
    ['realised_over_implied', 'less than half: limited to 0', { realised: 0 }, 0],
    ['realised_over_implied', 'one and a half times implied', { realised: 0.03 * Math.sqrt(252) }, 100],
    ['realised_over_implied', 'more: limited to 100', { realised: 9 }, 100],
    ['realised_over_implied', 'unknown', { realised: null }, null],
    ['expiring_gamma', 'a fifth', {}, 20],
    ['expiring_gamma', 'no gamma', { grossGamma: 0, expiringGamma: 0 }, null],
  ] as const)('%s, %s', (name, _what, overrides, expected) => {
    const found = whipsawComponents({ ...INPUT, ...overrides })[name];
    if (expected === null) expect(found).toBeNull();
    else expect(found).toBeCloseTo(expected, 9);
  });
});

describe('index', () => {
  const none = { flip_proximity: null, regime: null, realised_over_implied: null, expiring_gamma: null };
  test.each([
    [
      'the mean of all components',
      { flip_proximity: 100, regime: 50, realised_over_implied: 30, expiring_gamma: 20 },
      50,
    ],
    ['the mean of the available components', { ...none, regime: 50, expiring_gamma: 20 }, 35],
    ['a component of 0 is available', { ...none, regime: 0, expiring_gamma: 20 }, 10],
    ['no component', none, null],
  ])('%s', (_what, components, expected) => {
    expect(whipsawIndex(components)).toBe(expected);
  });
});
