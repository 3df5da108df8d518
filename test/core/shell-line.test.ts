import { expect, test } from 'bun:test';
import { shellLine } from '../../src/core/shell-line.ts';
import { run } from '../support/process.ts';

test.each([
  [['a/b.c', 'd-e'], 'a/b.c d-e'],
  [['/my data/x'], '"/my data/x"'],
  [['$HOME'], "'$HOME'"],
  [['it\'s "so"'], `'it'\\''s "so"'`],
  [[''], '""'],
])('the words %j are the line %s', async (words, line) => {
  expect(shellLine(...words)).toBe(line);
  const { stdout } = await run(['sh'], ['-c', `printf '%s\\n' ${line}`]);
  expect(stdout).toBe(words.map((word) => `${word}\n`).join(''));
});
