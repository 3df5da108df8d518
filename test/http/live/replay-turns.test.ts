import { expect, test } from 'bun:test';
import { createReplayTurns } from '../../../src/http/live/replay-turns.ts';

test('accounts have their turn one after another, however many pieces one of them has', async () => {
  const turns = createReplayTurns();
  const done: string[] = [];
  const work = (account: string) => turns.take(account, () => done.push(account));
  await Promise.all([work('a'), work('a'), work('a'), work('b'), work('c'), work('b')]);
  expect(done.join('')).toBe('abcaba');
});

test('work that fails fails alone, and hands on its result where it does not', async () => {
  const turns = createReplayTurns();
  const failing = turns.take('a', () => {
    throw new Error('the store is busy');
  });
  const fine = turns.take('a', () => 7);
  expect(failing).rejects.toThrow('the store is busy');
  expect(await fine).toBe(7);
});

test('all of it takes half of the time at most', async () => {
  const turns = createReplayTurns();
  const startedAt = performance.now();
  let workedMs = 0;
  const piece = () => {
    const beganAt = performance.now();
    while (performance.now() - beganAt < 3);
    workedMs += performance.now() - beganAt;
  };
  await Promise.all(Array.from({ length: 20 }, (_, at) => turns.take(`account ${at % 5}`, piece)));
  // The last turn has no pause after it.
  expect(workedMs).toBeLessThan(0.6 * (performance.now() - startedAt) + 10);
});
