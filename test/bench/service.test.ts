import { expect, test } from 'bun:test';
import { type LiveOptions, measureLive } from '../../bench/live.ts';
import { sectionOf } from '../../bench/service.ts';

const SMALL: LiveOptions = {
  ...{ subscribers: 8, tickers: 5, seconds: 2, moveMs: 100, dropsPerS: 10 },
  ...{ slow: 1, logged: 20_000 },
};

test('live levels reach every client exactly once, also after a reconnection', async () => {
  const live = await measureLive(SMALL);
  expect(live.drops).toBeGreaterThan(5);
  // A busy machine computes levels for a quarter of the 20 moves at least.
  expect(live.events).toBeGreaterThan(8 * 5 * 5);
  expect([live.lost, live.doubled]).toEqual([0, 0]);
  // The target of a second is judged by `bun bench/service.ts`, on a machine without other work.
  expect(live.p99).toBeLessThan(5_000);

  expect(sectionOf(live, SMALL)).toContain('- no event lost or doubled: reached');
}, 120_000);
