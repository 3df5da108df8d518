import { expect, test } from 'bun:test';
import { createTurns } from '../../src/mcp/turns.ts';

/** Notes the order in which pieces are done. */
function noting() {
  const turns = createTurns();
  const done: string[] = [];
  return { turns, done, take: (account: string, piece: string) => turns.take(account, () => done.push(piece)) };
}

test('accounts have their turns one after another, however much one of them asks', async () => {
  const { done, take } = noting();
  const pieces = [take('a', 'a1'), take('a', 'a2'), take('a', 'a3'), take('b', 'b1'), take('c', 'c1'), take('b', 'b2')];
  expect(done).toEqual([]);
  await Promise.all(pieces);
  expect(done).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('who comes later is before the rest of who came first, and the event loop has its turns between', async () => {
  const { done, take } = noting();
  const many = Array.from({ length: 100 }, (_, at) => take('a', `a${at}`));
  await new Promise(setImmediate);
  const before = done.length;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(50);
  await take('b', 'b');
  expect(done.indexOf('b')).toBeLessThan(before + 20);
  await Promise.all(many);
  expect(done).toHaveLength(101);
});

test('gives what the work gives, throws what it throws, and goes on', async () => {
  const turns = createTurns();
  await expect(
    turns.take('a', () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await turns.take('a', () => 7)).toBe(7);
  expect(await turns.take('a', () => turns.take('a', () => 8))).toBe(8);
});
