import { expect, test } from 'bun:test';
import type { Stats } from 'node:fs';
import { PassingTroubles } from '../../../src/feeds/files/passing-troubles.ts';

const file = (ctimeMs = 1) => ({ origin: 'a.csv', stats: { ctimeMs } as Stats });

test('a file in trouble is tried after ever more looks, two minutes of them at the most', () => {
  const troubles = new PassingTroubles();
  const triedAt: number[] = [];
  for (let look = 0; look < 100; look++) {
    if (!troubles.isDue(file())) continue;
    triedAt.push(look);
    expect(troubles.met(file(), 'EIO')).toBe(look === 0);
  }
  expect(triedAt).toEqual([0, 1, 3, 7, 15, 31, 56, 81]);
});

test('it is tried at once when anything of it has changed, and told when the reason is another', () => {
  const troubles = new PassingTroubles();
  for (let times = 0; times < 4; times++) troubles.met(file(), 'EACCES');
  expect([troubles.isDue(file()), troubles.isDue(file(2))]).toEqual([false, true]);
  expect([troubles.met(file(2), 'EACCES'), troubles.met(file(2), 'EIO')]).toEqual([false, true]);
  expect([troubles.over('a.csv'), troubles.over('a.csv'), troubles.isDue(file())]).toEqual([true, false, true]);
});

test('a file that is gone is forgotten', () => {
  const troubles = new PassingTroubles();
  troubles.met(file(), 'EIO');
  expect(troubles.gone(new Set(['a.csv']))).toEqual([]);
  expect(troubles.gone(new Set())).toEqual(['a.csv']);
  expect(troubles.isDue(file())).toBe(true);
});
