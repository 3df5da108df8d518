import { expect, test } from 'bun:test';
import { memoize, memoizeByObject } from '../../src/core/cache.ts';

test('computes once for each key, and again after the cache was full', () => {
  const computed: string[] = [];
  const length = memoize(2, (key: string) => {
    computed.push(key);
    return key.length;
  });
  expect(['a', 'bb', 'a', 'bb'].map(length)).toEqual([1, 2, 1, 2]);
  expect(computed).toEqual(['a', 'bb']);
  expect(['ccc', 'ccc', 'a'].map(length)).toEqual([3, 3, 1]);
  expect(computed).toEqual(['a', 'bb', 'ccc', 'a']);
});

test('a result of undefined is computed again', () => {
  let computed = 0;
  const nothing = memoize(2, (_key: number) => {
    computed++;
    return undefined;
  });
  nothing(1);
  nothing(1);
  expect(computed).toBe(2);
});

test('computes once for each object', () => {
  let computed = 0;
  const size = memoizeByObject((_owner: object) => ++computed);
  const [a, b] = [{}, {}];
  expect([size(a), size(b), size(a)]).toEqual([1, 2, 1]);
});
