import { expect, test } from 'bun:test';
import { generator } from '../../../src/bench/workloads.ts';
import { DigestIndex } from '../../../src/store/tape/tape-parts.ts';

test('finds every digest that was added, over several tables, and no other', () => {
  const random = generator(5);
  const word = () => Math.floor(random() * 2 ** 32);
  const index = new DigestIndex();
  const added = Uint32Array.from({ length: 2 * 1_000_000 }, word);
  // Digests with equal low words, and with the high word 0.
  added.set([7, 0, 7, 1, 7, 2, 0, 0]);
  for (let from = 0; from < added.length; from += 65_536) index.addAll(added.subarray(from, from + 65_536));
  let found = 0;
  for (let i = 0; i < added.length; i += 2) found += Number(index.has(added[i]!, added[i + 1]!));
  expect(found).toBe(added.length / 2);
  const known = new Set(Array.from({ length: added.length / 2 }, (_, i) => `${added[2 * i]} ${added[2 * i + 1]}`));
  let wrong = 0;
  for (let i = 0; i < 200_000; i++) {
    const [low, high] = [word(), word()];
    wrong += Number(index.has(low, high) && !known.has(`${low} ${high}`));
  }
  expect([wrong, index.has(7, 3), new DigestIndex().has(7, 0)]).toEqual([0, false, false]);
});

test('takes 4 MB for 800,000 digests, and nothing for digests that come again', () => {
  const random = generator(6);
  const index = new DigestIndex();
  const digests = Uint32Array.from({ length: 2 * 100_000 }, () => Math.floor(random() * 2 ** 32));
  for (let round = 0; round < 20; round++) index.addAll(digests);
  expect(index.bytes).toBe(4 * 2 ** 20);
  expect(new DigestIndex().bytes).toBe(0);
});
