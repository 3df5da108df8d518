import { expect, test } from 'bun:test';
import { distinct, strikeIndex } from '../../../src/analytics/exposure/strike-index.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { contract, EXPIRY, LATER, prepared, TODAY } from '../small-chains.ts';

test('maps each pair’s strike to its place, whatever strikes other series list', () => {
  const listed = { [TODAY]: [99, 100, 101], [EXPIRY]: [90, 95, 100, 105, 110], [LATER]: [50, 100, 150] };
  const rows = Object.entries(listed).flatMap(([expiry, strikes]) =>
    strikes.flatMap((strike) => [1, -1].map((callPut) => contract({ expiry, strike, callPut, iv: 0.3 }))),
  );
  const { pairs } = prepared(rows);
  const { strike, index } = runToCompletion(strikeIndex(pairs));
  expect([...strike]).toEqual([50, 90, 95, 99, 100, 101, 105, 110, 150]);
  expect(pairs.count).toBe(11);
  expect(Array.from(index, (i) => strike[i]!)).toEqual([...pairs.strike]);
});

test('distinct strikes are in ascending order', () => {
  expect([...distinct(Float64Array.of(100, 9, 100, 20, 9))]).toEqual([9, 20, 100]);
  expect([...distinct(new Float64Array(0))]).toEqual([]);
});
