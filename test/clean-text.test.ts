import { expect, test } from 'bun:test';
import { cleaned } from '../src/clean-text.ts';

test.each([
  [
    'what is plain stays',
    'files:SPY, d\u2019apr\u00e8s 3,5 % \u2014 ok',
    'files:SPY, d\u2019apr\u00e8s 3,5 % \u2014 ok',
  ],
  ['line ends and control characters', 'a\r\nb\u0000\u001b[31mc\u0085d', 'a b [31mc d'],
  ['marks of direction', 'abc\u202edef\u2066g', 'abc def g'],
  ['characters without width', 'a\u200bb\u2060c\ufeffd', 'a b c d'],
  ['tags, in which text hides', `a${String.fromCodePoint(0xe0049, 0xe0067)}b`, 'a b'],
  ['variation selectors, in which bytes hide', `a${String.fromCodePoint(0xfe0f, 0xe0101)}b`, 'a b'],
  ['private use', 'a\ue000b', 'a b'],
  ['half a pair', 'a\ud800b', 'a\ufffdb'],
])('%s', (_name, given, expected) => {
  expect(cleaned(given)).toBe(expected);
});

test('cleans texts wherever they are, and leaves all else', () => {
  const numbers = [1, 2, 3];
  const given = { source: 'a\nb', notes: ['c\u202ed'], rows: [{ name: 'e\tf', value: null }], numbers, ok: true };
  expect(cleaned(given)).toEqual({
    source: 'a b',
    notes: ['c d'],
    rows: [{ name: 'e f', value: null }],
    numbers,
    ok: true,
  });
  expect(cleaned(given).numbers).toBe(numbers);
});

test('cuts what is longer than anything we say', () => {
  const { length } = cleaned('x'.repeat(100_000));
  expect(length).toBe(2_001);
});
