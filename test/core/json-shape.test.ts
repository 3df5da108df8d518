import { expect, test } from 'bun:test';
import { isDeeperThan, JSON_DEPTH_MAX, jsonExcess } from '../../src/core/json-shape.ts';

const nested = (opening: string, closing: string, depth: number) => opening.repeat(depth) + closing.repeat(depth);
const BOUNDS = { containers: 1_000, values: 3_000, texts: 2_500 };

test.each([
  ['arrays at the limit', nested('[', ']', 32), false],
  ['arrays beyond the limit', nested('[', ']', 33), true],
  ['objects beyond the limit', nested('{"a":', '}', 33), true],
  ['arrays and objects beyond the limit together, neither alone', nested('[{"a":', '}]', 17), true],
  ['arrays that are never closed', '['.repeat(33), true],
  ['a long flat table', `[${'{"a":[1]},'.repeat(500)}{}]`, false],
  ['a long flat table with spaces', `[${'{"a":[1]} ,\n\t'.repeat(500)}{}]`, false],
  ['brackets in strings do not count', `["${'['.repeat(500)}"]`, false],
  ['closing brackets in strings do not count', nested('["}",', ']', 33), true],
  ['rows in strings do not hide brackets outside of strings', `["},{","},{",${'['.repeat(33)}`, true],
  ['an escaped quote does not end a string', `["\\"${'['.repeat(500)}"]`, false],
  ['rows between opening brackets', `[${'[1],[2],'.repeat(20)}${'['.repeat(32)}`, true],
])('depth: %s', (_name, text, isDeeper) => {
  expect(isDeeperThan(text, JSON_DEPTH_MAX)).toBe(isDeeper);
});

test.each([
  ['within all bounds', `[${'{"a":1},'.repeat(900)}{}]`, undefined],
  ['empty arrays', `[${'[],'.repeat(1_000)}[]]`, 'JSON of more than 1000 objects and arrays'],
  ['empty objects', `[${'{},'.repeat(1_000)}{}]`, 'JSON of more than 1000 objects and arrays'],
  ['half empty arrays, half empty objects', `[${'{},[],'.repeat(500)}{}]`, 'JSON of more than 1000 objects and arrays'],
  ['numbers', `[${'1,'.repeat(3_001)}1]`, 'JSON of more than 3000 values'],
  ['too deep', '['.repeat(33), 'JSON nested deeper than 32 levels'],
  ['too deep and too many', '['.repeat(100_000), 'JSON nested deeper than 32 levels'],
  ['strings within the bound', `[${'"a",'.repeat(2_499)}"a"]`, undefined],
  ['strings', `[${'"a",'.repeat(2_500)}"a"]`, 'JSON of more than 2500 strings and keys'],
  ['keys', `{${'"a":1,'.repeat(2_501)}"b":1}`, 'JSON of more than 2500 strings and keys'],
])('excess: %s', (_name, text, reason) => {
  expect(jsonExcess(text, BOUNDS)).toBe(reason);
});

test('random texts: finds the same depth as a reader that examines each character', () => {
  const pieces = ['[', ']', '{', '}', ',', '"', '\\', ' ', 'a', '},{', '],['];
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let run = 0; run < 20_000; run++) {
    const text = Array.from({ length: 1 + next(30) }, () => pieces[next(pieces.length)]).join('');
    let [depth, deepest, inString] = [0, 0, false];
    for (let i = 0; i < text.length; i++) {
      const mark = text[i]!;
      if (inString && mark === '\\') i++;
      else if (mark === '"') inString = !inString;
      else if (!inString && '[{'.includes(mark)) deepest = Math.max(deepest, ++depth);
      else if (!inString && ']}'.includes(mark)) depth--;
    }
    for (const limit of [1, 2, 3])
      expect([text, limit, isDeeperThan(text, limit)]).toEqual([text, limit, deepest > limit]);
  }
});
