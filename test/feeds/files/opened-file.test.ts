import { afterEach, beforeEach, expect, test } from 'bun:test';
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openNamed, openWithin } from '../../../src/feeds/files/opened-file.ts';

let root: string;
let elsewhere: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'zomma-within-')));
  elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'zomma-elsewhere-')));
  mkdirSync(join(root, 'sub'));
  writeFileSync(join(root, 'sub/a.csv'), 'inside');
  writeFileSync(join(elsewhere, 'a.csv'), 'outside');
});
afterEach(() => {
  for (const dir of [root, elsewhere]) rmSync(dir, { recursive: true });
});

async function readWithin(origin: string): Promise<string | undefined> {
  await using file = await openWithin(root, origin);
  return file && (await file.content.slice(0, 100)).toString();
}

test('reads a file, and a link to a file in the folder', async () => {
  symlinkSync('sub/a.csv', join(root, 'link.csv'));
  symlinkSync('link.csv', join(root, 'twice.csv'));
  for (const origin of ['sub/a.csv', 'link.csv', 'twice.csv'])
    expect([origin, await readWithin(origin)]).toEqual([origin, 'inside']);
});

test.each<[string, () => string]>([
  [
    'a link that leads out of the folder',
    () => {
      symlinkSync(join(elsewhere, 'a.csv'), join(root, 'x'));
      return 'x';
    },
  ],
  [
    'a file in a folder that became a link',
    () => {
      symlinkSync(elsewhere, join(root, 'x'));
      return 'x/a.csv';
    },
  ],
  ['a path that leads out of the folder', () => `../${elsewhere.split('/').at(-1)}/a.csv`],
  ['a folder', () => 'sub'],
  [
    'a link to itself',
    () => {
      symlinkSync('x', join(root, 'x'));
      return 'x';
    },
  ],
  ['a missing file', () => 'x'],
  ['a file as a folder', () => 'sub/a.csv/b'],
])('does not read %s', async (_name, make) => {
  expect(await readWithin(make())).toBeUndefined();
});

test('does not wait for a FIFO', async () => {
  expect(Bun.spawnSync(['mkfifo', join(root, 'x.csv')]).exitCode).toBe(0);
  expect(await readWithin('x.csv')).toBeUndefined();
  expect(await openNamed(join(root, 'x.csv'), 'x.csv')).toBeUndefined();
});

test('reads a file that the caller names by a link', async () => {
  symlinkSync(join(elsewhere, 'a.csv'), join(root, 'x'));
  await using file = await openNamed(join(root, 'x'), 'x');
  expect((await file!.content.slice(3, 100)).toString()).toBe('side');
});

test('reads the opened file even if another file takes its path', async () => {
  await using file = await openWithin(root, 'sub/a.csv');
  rmSync(join(root, 'sub/a.csv'));
  linkSync(join(elsewhere, 'a.csv'), join(root, 'sub/a.csv'));
  let read = '';
  for await (const piece of file!.content.pieces()) read += piece;
  expect(read).toBe('inside');
});
