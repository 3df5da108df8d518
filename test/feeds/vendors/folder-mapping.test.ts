import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createFilesFeed } from '../../../src/feeds/files/files-feed.ts';
import { folderMappings } from '../../../src/feeds/vendors/folder-mapping.ts';
import { PROGRAM, run } from '../../support/process.ts';
import { testFolder } from '../../support/test-folder.ts';

const path = testFolder();
const mapping = (strike: string) =>
  `[columns]\nunderlying = "Sym"\nas_of = "When"\nexpiry = "Exp"\nput_call = "CP"\nstrike = "${strike}"\n`;
const table = (strike: string) =>
  `Sym,When,Exp,CP,${strike},Bid,Ask,OI\nABC,2026-08-21,2026-09-18,C,100,3,3.2,10\nABC,2026-08-21,2026-09-18,P,100,2.5,2.7,20\n`;

/** A folder with a mapping, and a sub-folder with another. */
function write(): void {
  mkdirSync(path('sub/deep'), { recursive: true });
  mkdirSync(path('other'));
  writeFileSync(path('zomma-map.toml'), mapping('K'));
  writeFileSync(path('sub/zomma-map.toml'), mapping('L'));
  for (const [name, strike] of [
    ['a.csv', 'K'],
    ['other/b.csv', 'K'],
    ['sub/c.csv', 'L'],
    ['sub/deep/d.csv', 'L'],
    ['sub/e.csv', 'K'],
  ] as const)
    writeFileSync(path(name), table(strike));
}

const poll = async () => {
  const feed = createFilesFeed(path(), { pause: async () => {}, checkpoints: () => new Map() });
  const found: Record<string, string> = {};
  for await (const delivery of feed.poll(Date.now())) {
    if (delivery.kind === 'chain') found[delivery.chain.source] = String(delivery.chain.count);
    if (delivery.kind === 'rejection') found[delivery.origin] = delivery.reason;
  }
  return found;
};

test('the nearest mapping in or above a file counts', async () => {
  write();
  expect(await poll()).toEqual({
    ...{ 'files:a.csv': '2', 'files:other/b.csv': '2', 'files:sub/c.csv': '2', 'files:sub/deep/d.csv': '2' },
    'sub/e.csv': expect.stringMatching(/no column L .*which mapping sub\/zomma-map.toml names/),
  });
  const { stdout } = await run(PROGRAM, ['ingest', path(), '--data-dir', path('data')]);
  expect(stdout).toContain('sub/deep/d.csv: 2 rows: ');
  expect(stdout).toEndWith('4 of 5 files stored; 1 refused\n');
});

test('an error of a mapping concerns the files for which it counts', async () => {
  write();
  writeFileSync(path('sub/zomma-map.toml'), 'colums = 1');
  expect(await poll()).toEqual({
    ...{ 'files:a.csv': '2', 'files:other/b.csv': '2' },
    'sub/zomma-map.toml': expect.stringMatching(/colums is not a key.* no file for which it counts is read/),
  });
});

test('the mapping beside a named file counts, unless --map names another', async () => {
  write();
  const gex = async (...args: string[]) => (await run(PROGRAM, ['gex', ...args])).stderr;
  expect(await gex(path('sub/c.csv'))).not.toContain('column');
  expect(await gex(path('sub/e.csv'))).toContain('which mapping zomma-map.toml names');
  expect(await gex(path('sub/e.csv'), '--map', path('zomma-map.toml'))).not.toContain('column');
});

test('the text of the mappings changes with each of them, and is that of the only one', async () => {
  write();
  const origins = ['sub/zomma-map.toml'];
  const { text } = await folderMappings(path(), origins);
  expect((await folderMappings(path(), [])).text).toBe(mapping('K'));
  writeFileSync(path('sub/zomma-map.toml'), mapping('M'));
  expect((await folderMappings(path(), origins)).text).not.toBe(text);
});
