import { expect, test } from 'bun:test';
import { sixDigits } from '../../src/mcp/six-digits.ts';

test.each<[unknown, unknown]>([
  [1 / 3, 0.333333],
  [123456.789, 123457],
  [1234567.8, 1234570],
  [-0.000012345678, -0.0000123457],
  [123456789, 123456789],
  [9007199254740991, 9007199254740991],
  [0, 0],
  ['1.23456789', '1.23456789'],
  [null, null],
  [true, true],
  [{ a: [1.23456789, { b: 2.00000001 }] }, { a: [1.23457, { b: 2 }] }],
])('%j becomes %j', (value, expected) => {
  expect(sixDigits(value)).toEqual(expected);
});
