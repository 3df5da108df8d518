import { expect, test } from 'bun:test';
import { contests, isReached } from '../../bench/kernels.ts';
import { buildNative } from '../../bench/native.ts';
import { loadPeers } from '../../bench/peers.ts';
import { race } from '../../src/bench/race.ts';

/** The bench itself, tiny: its answers are checked as they are before any timing, its times mean nothing here. */
const native = buildNative(false);
const peers = await loadPeers();
const all = contests(native, peers, 64);

test.each(all.map((contest) => [contest.title, contest] as const))(
  '%s: all give the same answers',
  (_title, contest) => {
    for (const { name, worstDifference, tolerance } of contest.runners) {
      expect([name, worstDifference <= tolerance]).toEqual([name, true]);
    }
  },
);

test('a race gives every runner a time and a ratio, the first one itself', () => {
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
])('a target is judged by the time over the rival’s (%d)', (ours, reached) => {
  const results = [
    { name: 'Zomma (WASM)', ns: ours, ratio: 1, spread: [1, 1] as const },
    { name: 'rival', ns: 1, ratio: 1 / ours, spread: [1, 1] as const },
  ];
  expect(isReached({ text: '', against: 'rival', atMost: 1 }, results)).toBe(reached);
  expect(isReached({ text: '', against: 'absent', atMost: 1 }, results)).toBeUndefined();
});
