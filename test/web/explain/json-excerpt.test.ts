import { expect, test } from 'bun:test';
import { jsonExcerpt } from '../../../web/explain/json-excerpt.ts';

test('short JSON is whole, and is still JSON', () => {
  const value = { a: 1.25, b: null, c: [], d: {}, e: { f: ['x', 'y'], g: [{ h: true }, { h: false }] } };
  const text = jsonExcerpt(JSON.stringify(value), 40);
  expect(JSON.parse(text)).toEqual(value);
  expect(text.split('\n').slice(0, 4)).toEqual(['{', '  "a": 1.25,', '  "b": null,', '  "c": [],']);
});

test('a long column shows its first values', () => {
  expect(jsonExcerpt(JSON.stringify({ strike: [1, 2, 3, 4, 5, 6] }), 40)).toBe(
    '{\n  "strike": [1, 2, 3, 4, … 2 more]\n}',
  );
});

test('lines beyond the limit are counted', () => {
  expect(jsonExcerpt('{"a":1,"b":2,"c":3}', 2)).toBe('{\n  "a": 1,\n… 3 more lines');
});
