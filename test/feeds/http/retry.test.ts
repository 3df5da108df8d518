import { expect, test } from 'bun:test';
import { backoffMs, retryAfterMs } from '../../../src/feeds/http/retry.ts';

const NOW_MS = Date.parse('2026-11-20T17:00:00Z');

test.each<[string | null, number | undefined]>([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['Fri, 20 Nov 2026 17:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 16:00:00 GMT', 0],
  ['Fri, 40 Nov 2026 16:00:00 GMT', undefined],
  ['-5', undefined],
  ['1.5', undefined],
  ['1e9', undefined],
  ['9999999999', undefined],
  ['2026-11-20', undefined],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After %p is %p ms from now', (header, ms) => {
  expect(retryAfterMs(header, NOW_MS)).toBe(ms);
});

test('waits for a random part of a time that doubles, up to 30 s', () => {
  const longest = [0, 1, 2, 3, 4, 5, 6, 1_000].map((failures) => backoffMs(failures, () => 1));
  expect(longest).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(backoffMs(3, () => 0.25)).toBe(2_000);
  expect(backoffMs(3, () => 0)).toBe(0);
});
