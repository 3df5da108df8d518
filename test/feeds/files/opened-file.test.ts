import { beforeEach, expect, test } from 'bun:test';
import { linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { openNamed, openWithin } from '../../../src/feeds/files/opened-file.ts';
import { testWithProgram } from '../../support/needs.ts';
import { testFolder } from '../../support/test-folder.ts';

const root = testFolder();
const elsewhere = testFolder();
beforeEach(() => {
  mkdirSync(root('sub'));
  writeFileSync(root('sub/a.csv'), 'inside');
  writeFileSync(elsewhere('a.csv'), 'outside');
});

async function readWithin(origin: string): Promise<string | undefined> {
  await using file = await openWithin(root(), origin);
  return file && (await file.content.slice(0, 100)).toString();
}

test('reads a file, and a link to a file in the folder', async () => {
  symlinkSync('sub/a.csv', root('link.csv'));
  symlinkSync('link.csv', root('twice.csv'));
  for (const origin of ['sub/a.csv', 'link.csv', 'twice.csv'])
    expect([origin, await readWithin(origin)]).toEqual([origin, 'inside']);
});

const linked = (target: string) => {
  symlinkSync(target, root('x'));
  return 'x';
};
test.each<[string, () => string]>([
  ['a link that leads out of the folder', () => linked(elsewhere('a.csv'))],
  ['a file in a folder that became a link', () => `${linked(elsewhere())}/a.csv`],
  ['a path that leads out of the folder', () => `../${elsewhere().split('/').at(-1)}/a.csv`],
  ['a folder', () => 'sub'],
  ['a link to itself', () => linked('x')],
  ['a missing file', () => 'x'],
  ['a file as a folder', () => 'sub/a.csv/b'],
])('does not read %s', async (_name, make) => {
  expect(await readWithin(make())).toBeUndefined();
});

testWithProgram('mkfifo')('does not wait for a FIFO', async () => {
  expect(Bun.spawnSync(['mkfifo', root('x.csv')]).exitCode).toBe(0);
  expect(await readWithin('x.csv')).toBeUndefined();
  expect(await openNamed(root('x.csv'), 'x.csv')).toBeUndefined();
});

test('reads a file that the caller names by a link', async () => {
  symlinkSync(elsewhere('a.csv'), root('x'));
  await using file = await openNamed(root('x'), 'x');
  expect((await file!.content.slice(3, 100)).toString()).toBe('side');
});

test('reads the opened file even if another file takes its path', async () => {
  await using file = await openWithin(root(), 'sub/a.csv');
  rmSync(root('sub/a.csv'));
  linkSync(elsewhere('a.csv'), root('sub/a.csv'));
  let read = '';
  for await (const piece of file!.content.pieces()) read += piece;
  expect(read).toBe('inside');
});
