import { expect, test } from 'bun:test';
import type { Stats } from 'node:fs';
import { TemporaryErrors } from '../../../src/feeds/files/temporary-errors.ts';

const file = (ctimeMs = 1) => ({ origin: 'a.csv', stats: { ctimeMs } as Stats });

test('retries a file with an error at growing intervals, up to two minutes', () => {
  const errors = new TemporaryErrors();
  const triedAt: number[] = [];
  for (let scan = 0; scan < 100; scan++) {
    if (!errors.isDue(file())) continue;
    triedAt.push(scan);
    expect(errors.record(file(), 'EIO')).toBe(scan === 0);
  }
  expect(triedAt).toEqual([0, 1, 3, 7, 15, 31, 56, 81]);
});

test("retries at once if the file's metadata changes, and reports an error of another reason", () => {
  const errors = new TemporaryErrors();
  for (let failures = 0; failures < 4; failures++) errors.record(file(), 'EACCES');
  expect([errors.isDue(file()), errors.isDue(file(2))]).toEqual([false, true]);
  expect([errors.record(file(2), 'EACCES'), errors.record(file(2), 'EIO')]).toEqual([false, true]);
  expect([errors.clear('a.csv'), errors.clear('a.csv'), errors.isDue(file())]).toEqual([true, false, true]);
});

test('forgets a file that is no longer present', () => {
  const errors = new TemporaryErrors();
  errors.record(file(), 'EIO');
  expect(errors.removeMissing(new Set(['a.csv']))).toEqual([]);
  expect(errors.removeMissing(new Set())).toEqual(['a.csv']);
  expect(errors.isDue(file())).toBe(true);
});
