import { expect, test } from 'bun:test';
import { measureCached } from '../../bench/cached.ts';
import { type LiveOptions, measureLive } from '../../bench/live.ts';
import { sectionOf, serviceSection } from '../../bench/service.ts';

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

  const cached = await measureCached(3, 50);
  expect(cached.ratio[1]).toBeGreaterThan(0);

  const section = sectionOf(cached, live, SMALL);
  expect(section).toContain('- no event lost or doubled: reached');
  expect(serviceSection(`# Page\n\n${section}\n## Next\n\ntext\n`)).toBe(`${section}\n`);
  expect(serviceSection(`# Page\n\n${section}`)).toBe(section);
  expect(serviceSection('# Page\n')).toBe('');
}, 120_000);
