import { expect, test } from 'bun:test';
import { falsePosition } from '../../src/math/false-position.ts';

const LIMITS = { width: 1e-14, value: 0, iterations: 100 };

test.each([
  ['a line', (x: number) => 0.3 - x, 0.3],
  ['a curve that is flat at one end', (x: number) => Math.exp(-20 * x) - Math.exp(-2), 0.1],
  ['a steep curve', (x: number) => -Math.tanh(1e3 * (x - 0.7)), 0.7],
  ['a root at the lower end', (x: number) => -x, 0],
])('finds the root of %s', (_name, of, root) => {
  expect(falsePosition(of, [0, 1], LIMITS)).toBeCloseTo(root, 12);
});

test('ends at a small value, at a narrow interval, or after the iterations', () => {
  let calls = 0;
  const counted = (x: number) => {
    calls++;
    return 2 - x * x;
  };
  const within = (limits: Partial<typeof LIMITS>) => {
    calls = 0;
    return [falsePosition(counted, [0, 2], { ...LIMITS, ...limits }), calls];
  };
  expect(within({ iterations: 0 })).toEqual([1, 2]);
  expect(within({ width: 3 })).toEqual([1, 2]);
  expect(within({ value: 1.5 })).toEqual([1, 3]);
});
