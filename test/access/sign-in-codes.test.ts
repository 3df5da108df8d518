import { expect, test } from 'bun:test';
import { createSignInCodes } from '../../src/access/sign-in-codes.ts';

const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const DAY_MS = 86_400_000;

test('a code signs its member in once, within a day', () => {
  let now = 5;
  const codes = createSignInCodes(() => now);
  const [first, second, third] = [codes.issue(UUID), codes.issue('another'), codes.issue(UUID)];
  expect([first, second, third].every((code) => /^[0-9a-f]{32}$/.test(code))).toBe(true);
  expect(new Set([first, second, third]).size).toBe(3);
  expect([codes.redeem(first), codes.redeem(first)]).toEqual([UUID, undefined]);
  now += DAY_MS - 1;
  expect([codes.redeem(second), codes.redeem(''), codes.redeem(`${third} `)]).toEqual([
    'another',
    undefined,
    undefined,
  ]);
  now += 1;
  expect(codes.redeem(third)).toBeUndefined();
});
