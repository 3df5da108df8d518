import { expect, test } from 'bun:test';
import type { Stats } from 'node:fs';
import { TransientErrors } from '../../../src/feeds/files/transient-errors.ts';

const file = (ctimeMs = 1) => ({ origin: 'a.csv', stats: { ctimeMs } as Stats });

test('retries a file with an error at growing intervals, up to two minutes', () => {
  const troubles = new TransientErrors();
  const triedAt: number[] = [];
  for (let look = 0; look < 100; look++) {
    if (!troubles.isDue(file())) continue;
    triedAt.push(look);
    expect(troubles.met(file(), 'EIO')).toBe(look === 0);
  }
  expect(triedAt).toEqual([0, 1, 3, 7, 15, 31, 56, 81]);
});

test("retries at once if the file's metadata changes, and reports an error of another reason", () => {
  const troubles = new TransientErrors();
  for (let times = 0; times < 4; times++) troubles.met(file(), 'EACCES');
  expect([troubles.isDue(file()), troubles.isDue(file(2))]).toEqual([false, true]);
  expect([troubles.met(file(2), 'EACCES'), troubles.met(file(2), 'EIO')]).toEqual([false, true]);
  expect([troubles.over('a.csv'), troubles.over('a.csv'), troubles.isDue(file())]).toEqual([true, false, true]);
});

test('forgets a file that is gone', () => {
  const troubles = new TransientErrors();
  troubles.met(file(), 'EIO');
  expect(troubles.gone(new Set(['a.csv']))).toEqual([]);
  expect(troubles.gone(new Set())).toEqual(['a.csv']);
  expect(troubles.isDue(file())).toBe(true);
});
