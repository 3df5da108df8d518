import { expect, test } from 'bun:test';
import { byRange, StepMeter } from '../../src/core/steps.ts';

test('processes rows in ranges, with a step between two ranges', () => {
  const ranges: number[][] = [];
  const steps = byRange(7, 3, 'reading', (from, to) => ranges.push([from, to]));
  expect(steps.next()).toEqual({ done: false, value: { message: 'reading' } });
  expect(ranges).toEqual([[0, 3]]);
  expect([...steps]).toHaveLength(1);
  expect(ranges).toEqual([
    [0, 3],
    [3, 6],
    [6, 7],
  ]);
  expect([...byRange(3, 3, '', () => {})]).toEqual([]);
  expect([...byRange(0, 3, '', () => expect.unreachable())]).toEqual([]);
});

test('a step ends before a piece that would overfill it; a piece that is too large is one step', () => {
  const meter = new StepMeter(10);
  expect([4, 6, 1, 20, 20, 5, 5].map((work) => meter.beginsNextStep(work))).toEqual([
    false,
    false,
    true,
    true,
    true,
    true,
    false,
  ]);
});
