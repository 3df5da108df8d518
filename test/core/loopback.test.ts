import { expect, test } from 'bun:test';
import { isLoopback } from '../../src/core/loopback.ts';

test.each([
  ['localhost', true],
  ['::1', true],
  ['127.0.0.1', true],
  ['127.255.0.3', true],
  ['127.999.0.1', false],
  ['127.0.0.1.example', false],
  ['127.1', false],
  ['0.0.0.0', false],
  ['::', false],
  ['localhost.example', false],
  ['', false],
])('%p is loopback: %p', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
