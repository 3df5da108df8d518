import { expect, test } from 'bun:test';
import { linearScale, niceScale } from '../../../web/chart/linear-scale.ts';

test.each([
  { domain: [595.2, 710.4], range: [612, 0], value: 652.8, pixel: 306 },
  { domain: [0, 10], range: [100, 200], value: -5, pixel: 50 },
  { domain: [-2.5e12, 7.5e12], range: [44, 1044], value: 0, pixel: 294 },
  { domain: [0, 1e-6], range: [0, 20], value: 5e-7, pixel: 10 },
] as const)('$domain to $range: $value is at $pixel', ({ domain, range, value, pixel }) => {
  const scale = linearScale(domain, range);
  expect(scale(value)).toBeCloseTo(pixel, 9);
  expect(scale.invert(pixel) / domain[1]).toBeCloseTo(value / domain[1], 9);
  expect([scale(domain[0]), scale(domain[1])]).toEqual([...range]);
});

test('a domain without length is in the middle of the range', () => {
  expect(linearScale([5, 5], [0, 40])(5)).toBe(20);
});

test('ticks are round numbers within the domain', () => {
  expect(linearScale([595.2, 710.4], [612, 0]).ticks(4)).toEqual([600, 620, 640, 660, 680, 700]);
});

test.each([
  { domain: [0.13, 9.7], nice: [0, 10] },
  { domain: [-0.031, 0.22], nice: [-0.1, 0.3] },
  { domain: [3, 3], nice: [3, 3] },
] as const)('$domain is extended to $nice', ({ domain, nice }) => {
  const scale = niceScale(domain, [40, 0], 4);
  expect(scale.domain).toEqual([...nice]);
  expect(scale(nice[0])).toBe(nice[0] === nice[1] ? 20 : 40);
});
