import { expect, test } from 'bun:test';
import { generator } from '../../../src/bench/workloads.ts';
import { DigestIndex } from '../../../src/store/tape/digest-index.ts';

test('finds every digest that was added, and no other', () => {
  const random = generator(5);
  const word = () => Math.floor(random() * 2 ** 32);
  const index = new DigestIndex(500_000);
  const added = Uint32Array.from({ length: 2 * 500_000 }, word);
  // Digests with equal low words, and with the high word 0.
  added.set([7, 0, 7, 1, 7, 2, 0, 0]);
  for (let from = 0; from < added.length; from += 65_536)
    expect(index.addAll(added.subarray(from, from + 65_536))).toBeTrue();
  let found = 0;
  for (let i = 0; i < added.length; i += 2) found += Number(index.has(added[i]!, added[i + 1]!));
  expect(found).toBe(added.length / 2);
  const known = new Set(Array.from({ length: added.length / 2 }, (_, i) => `${added[2 * i]} ${added[2 * i + 1]}`));
  let wrong = 0;
  for (let i = 0; i < 200_000; i++) {
    const [low, high] = [word(), word()];
    wrong += Number(index.has(low, high) && !known.has(`${low} ${high}`));
  }
  expect([wrong, index.has(7, 3), new DigestIndex(0).has(7, 0)]).toEqual([0, false, false]);
});

test('takes 5 bytes for each digest of its capacity, and is full when as many digests were added', () => {
  const index = new DigestIndex(1_000);
  expect(index.bytes).toBeLessThan(5_010);
  const digests = Uint32Array.from({ length: 2_002 }, (_, i) => Math.imul(i + 1, 2_654_435_761) >>> 0);
  expect([1, 2, 3].map(() => index.addAll(digests.subarray(0, 2_000)))).toEqual([true, true, true]);
  expect(index.addAll(digests)).toBeFalse();
});
