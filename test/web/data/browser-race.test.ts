import { expect, test } from 'bun:test';
import { clockStepMs, measureWork, pageTurn, quartilesOf, sliceFor } from '../../../web/data/browser-race.ts';

test.each([
  [[3], { ns: 3, spread: [3, 3], n: 1 }],
  [[4, 1, 3, 2], { ns: 3, spread: [2, 4], n: 4 }],
  [Array.from({ length: 21 }, (_, i) => 20 - i), { ns: 10, spread: [5, 15], n: 21 }],
  [[], { ns: Number.NaN, spread: [Number.NaN, Number.NaN], n: 0 }],
] as const)('median and quartiles of %p', (values, expected) => {
  expect(quartilesOf(values)).toEqual(expected as unknown as ReturnType<typeof quartilesOf>);
});

test.each([
  [0.005, 10],
  [0.1, 10],
  [1, 50],
  [16.7, 100],
])('with a clock of %p ms a round lasts %p ms', (step, slice) => {
  expect(sliceFor(step)).toBeCloseTo(slice, 6);
});

test('the step of the clock is positive and small here', () => {
  expect(clockStepMs()).toBeGreaterThan(0);
  expect(clockStepMs()).toBeLessThan(5);
});

/** Work of 50 us, and the calls that it got. */
function busyWork() {
  const calls = { runs: 0 };
  const run = () => {
    calls.runs++;
    const until = performance.now() + 0.05;
    while (performance.now() < until);
    return [];
  };
  return { calls, work: { kernel: 'busy', unit: 'option', units: 100, run } };
}

test('measures in rounds after a warm-up, and lets the page react after each', async () => {
  const { calls, work } = busyWork();
  const shares: number[] = [];
  let pauses = 0;
  const { ns, spread, n } = await measureWork(work, {
    sliceMs: 1,
    rounds: 5,
    pause: async () => void pauses++,
    onProgress: (share) => shares.push(share),
  });
  expect(n).toBe(5);
  expect(shares).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
  expect(pauses).toBeGreaterThan(5);
  expect(calls.runs).toBeGreaterThan(60);
  // A run takes 50 us at least, so 500 ns a unit; a busy machine may take longer.
  expect(ns).toBeGreaterThanOrEqual(490);
  expect(spread[0]).toBeLessThanOrEqual(ns);
  expect(spread[1]).toBeGreaterThanOrEqual(ns);
});

test('a canceled run ends at its next pause', async () => {
  const canceled = new AbortController();
  const { calls, work } = busyWork();
  let before = 0;
  const onProgress = () => {
    before = calls.runs;
    canceled.abort(new Error('stopped'));
  };
  const run = measureWork(work, { sliceMs: 1, rounds: 50, pause: () => pageTurn(canceled.signal), onProgress });
  expect(run).rejects.toThrow('stopped');
  await run.catch(() => {});
  expect(calls.runs).toBe(before);
});
