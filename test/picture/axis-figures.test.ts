import { expect, test } from 'bun:test';
import {
  compactCount,
  fullPrice,
  roundTicks,
  shortPrice,
  signedCount,
  signedMove,
} from '../../src/picture/axis-figures.ts';

test.each([
  [0, 0, 6, [0]],
  [-10, 10, 6, [-10, -5, 0, 5, 10]],
  [-57_876_905, 3_533_384, 6, [-40_000_000, -20_000_000, 0]],
  [0, 1, 6, [0, 1]],
  [-3, 0, 6, [-3, -2, -1, 0]],
  [0, 999, 5, [0, 200, 400, 600, 800]],
  [0, 1001, 5, [0, 500, 1000]],
])('round numbers from %p to %p in at most %p parts', (low, high, parts, ticks) => {
  expect(roundTicks(low, high, parts)).toEqual(ticks);
});

test('round numbers are multiples of 1, 2 or 5 times a power of ten, at most as many parts as asked', () => {
  for (let i = 0; i < 500; i++) {
    const [low, high] = [-(1.7 ** (i % 41)), 1.9 ** (i % 37) + (i % 2)];
    const ticks = roundTicks(low, high, 6);
    const steps = ticks.slice(1).map((tick, at) => tick - ticks[at]!);
    expect(steps.length).toBeLessThanOrEqual(6);
    expect(ticks).toContain(0);
    expect(ticks.every((tick) => tick >= low && tick <= high)).toBe(true);
    for (const step of steps) expect(['1', '2', '5']).toContain(String(step).replace(/0+$|(e\+\d+)$/, ''));
  }
});

test.each([
  [0, '0', '0'],
  [7, '7', '+7'],
  [-950, '-950', '-950'],
  [999.6, '1K', '+1K'],
  [12_345, '12.3K', '+12.3K'],
  [-999_999, '-1M', '-1M'],
  [2_500_000, '2.5M', '+2.5M'],
  [-57_876_905, '-57.9M', '-57.9M'],
  [4.2e9, '4.2B', '+4.2B'],
  [6.5e15, '6500T', '+6500T'],
])('the count %p is %s, and with its sign %s', (value, text, signed) => {
  expect([compactCount(value), signedCount(value)]).toEqual([text, signed]);
});

test.each([
  [0.01234, '$0.0123', '$0.0123'],
  [14.409, '$14.41', '$14.41'],
  [658.05, '$658.0', '$658.05'],
  [3990.56, '$3991', '$3990.56'],
])('the price %p is %s, and in full %s', (price, short, full) => {
  expect([shortPrice(price), fullPrice(price)]).toEqual([short, full]);
});

test.each([
  [-0.5, '-0.5%'],
  [0, '0%'],
  [12.34567, '+12.35%'],
  [0.1 + 0.2, '+0.3%'],
])('the move %p is %s', (move, text) => {
  expect(signedMove(move)).toBe(text);
});
