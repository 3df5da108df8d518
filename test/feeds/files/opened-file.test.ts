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

test('a file and a link to one within the folder are read', async () => {
  symlinkSync('sub/a.csv', join(root, 'link.csv'));
  symlinkSync('link.csv', join(root, 'twice.csv'));
  for (const origin of ['sub/a.csv', 'link.csv', 'twice.csv'])
    expect([origin, await readWithin(origin)]).toEqual([origin, 'inside']);
});

test.each<[string, () => string]>([
  [
    'a link that leads out',
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
  ['a path that climbs out', () => `../${elsewhere.split('/').at(-1)}/a.csv`],
  ['a folder', () => 'sub'],
  [
    'a link to itself',
    () => {
      symlinkSync('x', join(root, 'x'));
      return 'x';
    },
  ],
  ['nothing', () => 'x'],
  ['a file as a folder', () => 'sub/a.csv/b'],
])('%s is not', async (_name, make) => {
  expect(await readWithin(make())).toBeUndefined();
});

test('a FIFO is not waited for', async () => {
  expect(Bun.spawnSync(['mkfifo', join(root, 'x.csv')]).exitCode).toBe(0);
  expect(await readWithin('x.csv')).toBeUndefined();
  expect(await openNamed(join(root, 'x.csv'), 'x.csv')).toBeUndefined();
});

test('who names a file by a link means the file', async () => {
  symlinkSync(join(elsewhere, 'a.csv'), join(root, 'x'));
  await using file = await openNamed(join(root, 'x'), 'x');
  expect((await file!.content.slice(3, 100)).toString()).toBe('side');
});

test('what is open is read, whatever takes its path meanwhile', async () => {
  await using file = await openWithin(root, 'sub/a.csv');
  rmSync(join(root, 'sub/a.csv'));
  linkSync(join(elsewhere, 'a.csv'), join(root, 'sub/a.csv'));
  let read = '';
  for await (const piece of file!.content.pieces()) read += piece;
  expect(read).toBe('inside');
});
