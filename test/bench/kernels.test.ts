import { expect, test } from 'bun:test';
import { contests, isReached } from '../../bench/kernels.ts';
import { buildNative } from '../../bench/native.ts';
import { loadPeers } from '../../bench/peers.ts';
import { race } from '../../src/bench/race.ts';

/** The benchmark at a tiny size. Its answers are checked as before any timing. Its times mean nothing here. */
const native = buildNative(false);
const peers = await loadPeers();
const all = contests(native, peers, 64);

test.each(all.map((contest) => [contest.title, contest] as const))(
  '%s: all runners give the same answers',
  (_title, contest) => {
    for (const { name, worstDifference, tolerance } of contest.runners) {
      expect([name, worstDifference <= tolerance]).toEqual([name, true]);
    }
  },
);

test('a race returns a time and a ratio for every runner, and the ratio of the first is 1', () => {
  const { runners, units } = all[0]!;
  const results = race(runners, { units, rounds: 3, sliceMs: 0.1 });
  expect(results.map(({ name }) => name)).toEqual(runners.map(({ name }) => name));
  for (const { ns, ratio, spread } of results) {
    expect([ns > 0, ratio > 0, spread[0] <= spread[1]]).toEqual([true, true, true]);
  }
  expect(results[0]!.ratio).toBe(1);
});

test.each([
  [0.5, true],
  [3, false],
])('judges a target by the time relative to the rival’s (%d)', (ours, reached) => {
  const results = [
    { name: 'Zomma (WASM)', ns: ours, quartiles: [1, 1] as const, ratio: 1, spread: [1, 1] as const },
    { name: 'rival', ns: 1, quartiles: [1, 1] as const, ratio: 1 / ours, spread: [1, 1] as const },
  ];
  expect(isReached({ text: '', against: 'rival', atMost: 1 }, results)).toBe(reached);
  expect(isReached({ text: '', against: 'absent', atMost: 1 }, results)).toBeUndefined();
});
