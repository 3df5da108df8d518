import { expect, test } from 'bun:test';
import { createByteBudget } from '../../src/access/byte-budget.ts';

const MIB = 1024 * 1024;

test('limits the bytes per account and in total, and releases each hold only once', () => {
  const budget = createByteBudget({ accountBytesMax: 4 * MIB, bytesMax: 10 * MIB });
  const [first, second] = [budget.reserve('a', 3 * MIB), budget.reserve('a', MIB)];
  expect(() => budget.assertCapacity('a')).toThrow(
    expect.objectContaining({ code: 'too_many_bytes', status: 429, retryAfterS: 1 }),
  );
  budget.assertCapacity('b', 4 * MIB);
  first();
  first();
  expect(budget.bytes).toBe(MIB);
  budget.assertCapacity('a', 3 * MIB);
  expect(() => budget.assertCapacity('a', 3 * MIB + 1)).toThrow();
  const others = ['b', 'c', 'd'].map((account) => budget.reserve(account, 3 * MIB));
  expect(() => budget.assertCapacity('e')).toThrow(expect.objectContaining({ code: 'unavailable', status: 503 }));
  for (const release of [second, ...others]) release();
  expect(budget.bytes).toBe(0);
});
