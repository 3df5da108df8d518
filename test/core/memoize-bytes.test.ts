import { expect, test } from 'bun:test';
import { memoizeBytes, textIn } from '../../src/core/memoize-bytes.ts';

test('computes once for equal bytes, and again when the cache was emptied', () => {
  const computed: string[] = [];
  const lengthOf = memoizeBytes(2, (text) => {
    computed.push(text);
    return text.length;
  });
  const read = (text: string) => lengthOf(Buffer.from(`(${text})`), 1, Buffer.byteLength(text) + 1);
  expect(['a', 'a', 'bc', 'a', 'é', 'bc', 'é'].map(read)).toEqual([1, 1, 2, 1, 1, 2, 1]);
  expect(computed).toEqual(['a', 'bc', 'é', 'bc']);
});

test('does not cache long texts, and copies its keys', () => {
  let computed = 0;
  const countOf = memoizeBytes(10, () => ++computed);
  const long = Buffer.alloc(201, 'x');
  expect([countOf(long, 0, 201), countOf(long, 0, 201), countOf(long, 0, 200), countOf(long, 0, 200)]).toEqual([
    ...[1, 2, 3, 3],
  ]);
  long.fill('y');
  expect(countOf(long, 0, 200)).toBe(4);
});

test('texts with equal hashes replace each other', () => {
  // Two texts with the same FNV-1a hash of 32 bits.
  const same = memoizeBytes(10, (text) => text);
  for (const text of ['costarring', 'liquid', 'costarring', 'liquid']) {
    expect(same(Buffer.from(text), 0, text.length)).toBe(text);
  }
});

test('decodes UTF-8, keeps a byte-order mark, and replaces invalid bytes', () => {
  const bytes = Buffer.from([0x61, 0xef, 0xbb, 0xbf, 0xff, 0xc3, 0xa9]);
  expect([textIn(bytes, 0, 1), textIn(bytes, 1, 4), textIn(bytes, 4, 7)]).toEqual(['a', '\ufeff', '\ufffdé']);
});
