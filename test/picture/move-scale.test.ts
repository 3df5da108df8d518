import { describe, expect, test } from 'bun:test';
import { MoveScale, placed } from '../../src/picture/move-scale.ts';

describe('positions of moves', () => {
  test('each move has the middle of a slot of the same width', () => {
    const scale = new MoveScale([-5, -1, 1, 20], 100, 500);
    expect(scale.slot).toBe(100);
    expect([0, 1, 2, 3].map((index) => scale.center(index))).toEqual([150, 250, 350, 450]);
    expect([-5, -1, 1, 20].map((move) => scale.x(move))).toEqual([150, 250, 350, 450]);
  });

  test('the axis is linear between two slots, and ends at the outermost slots', () => {
    const scale = new MoveScale([-5, -1, 1, 20], 100, 500);
    expect([-3, 0, 10.5].map((move) => scale.x(move))).toEqual([200, 300, 400]);
    expect([-5.1, 20.1].map((move) => scale.x(move))).toEqual([undefined, undefined]);
  });

  test.each([
    [[1, 2], 0, 100],
    [[-2, -1], 0, 500],
    [[2], 1, 200],
    [[0], 0, 300],
  ])('with the moves %p, %p is at %p', (moves, move, x) => {
    expect(new MoveScale(moves, 100, 500).x(move)).toBe(x);
  });
});

describe('labels side by side', () => {
  const label = (x: number, width = 40) => ({ x, width });
  test.each([
    ['each at its position', [label(100), label(300)], [80, 280]],
    ['within the edges', [label(5), label(395)], [0, 360]],
    ['moved apart by the same distance', [label(200), label(210)], [180 - 20, 190 + 20]],
    ['moved away from the left edge', [label(10), label(12)], [0, 50]],
    ['moved away from the right edge', [label(388), label(390)], [310, 360]],
    ['a single one', [label(200)], [180]],
  ])('%s', (_what, labels, lefts) => {
    expect(placed(labels, 0, 400, 10)).toEqual(lefts);
  });
});
