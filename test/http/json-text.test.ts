import { expect, test } from 'bun:test';
import { runToCompletion, type Steps } from '../../src/core/steps.ts';
import { countValues, writeJson } from '../../src/http/json-text.ts';

const textOf = (body: object, digits?: number) => runToCompletion(writeJson(body, digits)).toString();

test.each<[what: string, body: object]>([
  ['plain fields', { a: 1, b: 'é"\\\n', c: true, d: null, e: -0, f: 1e21, 'ключ "': 1e-7 }],
  ['columns of numbers', { a: [1, 2.5, -1e-300], b: [], c: [0.1] }],
  ['columns with null', { a: [null, 1, null], b: [null] }],
  ['columns of texts and flags', { a: ['x', 'é', null], b: [true, false], c: [1, 'x'] }],
  ['nested objects', { a: { b: { c: [1, 2], d: {} } }, e: null }],
  ['lists of objects and of lists', { a: [{ b: 0.1 }, { b: null }], c: [[0.1, null], [], [2]], d: [{}] }],
  ['fields without a value', { a: undefined, b: 1, c: undefined }],
  ['numbers that JSON does not have', { a: Number.NaN, b: [Number.POSITIVE_INFINITY, 1] }],
  ['a list', [1, 2, 3]],
  ['nothing', {}],
])('%s: writes what JSON.stringify writes', (_, body) => {
  expect(textOf(body)).toBe(JSON.stringify(body));
});

test('a column of float64 is written as an array', () => {
  const values = Array.from({ length: 9_000 }, (_, i) => Math.sin(i));
  expect(textOf({ a: Float64Array.from(values), b: new Float64Array() })).toBe(JSON.stringify({ a: values, b: [] }));
});

test('rounds to the digits, except whole numbers', () => {
  const body = { a: 2 / 3, b: [2 / 3, null, 1_234_567_890_123], c: [[1e15 / 7]], d: 4_512.25, e: '0.6666666666666666' };
  expect(textOf(body, 10)).toBe(
    '{"a":0.6666666667,"b":[0.6666666667,null,1234567890123],"c":[[142857142900000]],"d":4512.25,"e":"0.6666666666666666"}',
  );
});

test('a long answer is written in steps of at most 100,000 values', () => {
  const columns = Array.from({ length: 9 }, (_, column) => Array.from({ length: 40_000 }, (_, i) => i / (column + 3)));
  const work: Steps<unknown> = writeJson({ columns });
  let steps = 1;
  while (!work.next().done) steps++;
  expect(steps).toBe(5);
  expect(textOf({ columns })).toBe(JSON.stringify({ columns }));
});

test('counts plain values', () => {
  expect(countValues({ a: 1, b: [1, 2], c: [[1], [2, 3]], d: { e: null }, f: new Float64Array(7) })).toBe(14);
});
