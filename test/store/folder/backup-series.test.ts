import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkBackup, copyChecked, makeBackup } from '../../../src/store/folder/backup.ts';
import { backupName, chooseBackup, removeDrafts, removeOldBackups } from '../../../src/store/folder/backup-series.ts';
import { makeDataFolder } from '../../support/data-folder.ts';
import { testFolder } from '../../support/test-folder.ts';

const at = testFolder();
const [OWN, FOREIGN] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const MONDAY = Date.UTC(2026, 7, 17, 14);
const MINUTE = 60_000;
/** Where the header of a database has the number of its free pages. */
const FREE_PAGES_AT = 36;

/** Makes a backup of `minutes` after Monday's opening. Returns its path. */
async function backUp(minutes: number, { name, secret = OWN }: { name?: string; secret?: Uint8Array } = {}) {
  const nowMs = MONDAY + minutes * MINUTE;
  const path = at(name ?? backupName(nowMs));
  const database = join(makeDataFolder(at('data')), 'zomma.sqlite');
  await makeBackup(database, path, { version: '1', nowMs, copy: copyChecked, secret });
  return path;
}

const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  'without its database, as rsync leaves it at first': (path) => rmSync(join(path, 'zomma.sqlite')),
  'cut short': (path) => truncateSync(join(path, 'zomma.sqlite'), 8_192),
  'with other bytes': (path) =>
    writeFileSync(join(path, 'zomma.sqlite'), Buffer.alloc(statSync(join(path, 'zomma.sqlite')).size)),
  'with half a manifest': (path) => truncateSync(join(path, 'manifest.json'), 40),
};

test.each(Object.entries(DAMAGES))('a newest backup %s is skipped and named', async (_, damage) => {
  await backUp(0);
  const older = await backUp(5, { name: 'by-hand' });
  const newest = await backUp(10);
  expect((await chooseBackup(at(), { onSkipped: () => {} })).path).toBe(newest);
  damage(newest);
  const skipped: string[] = [];
  expect((await chooseBackup(at(), { onSkipped: ({ message }) => skipped.push(message) })).path).toBe(older);
  expect(skipped).toEqual([expect.stringContaining(newest)]);
  // Without a callback, as for a rehearsal, the newest one must be whole.
  await expect(chooseBackup(at(), {})).rejects.toThrow(newest);
  await expect(chooseBackup(newest, { onSkipped: () => {} })).rejects.toThrow(newest);
});

test('drafts are no backups, and a folder of none is an error', async () => {
  mkdirSync(at(`${backupName(MONDAY)}.partial`));
  writeFileSync(at(`${backupName(MONDAY)}.partial`, 'manifest.json'), '{}');
  const choose = () => chooseBackup(at(), { onSkipped: () => {} });
  await expect(choose()).rejects.toThrow('is no backup');
  const only = await backUp(0);
  expect((await choose()).path).toBe(only);
  rmSync(join(only, 'zomma.sqlite'));
  await expect(choose()).rejects.toThrow('no backup in');
});

test('a backup of another secret or of a newer version is never skipped', async () => {
  await backUp(0);
  const foreign = await backUp(5, { secret: FOREIGN });
  expect((await chooseBackup(at(), { secret: OWN, onSkipped: () => {} })).path).toBe(foreign);
  const manifest = join(foreign, 'manifest.json');
  writeFileSync(manifest, JSON.stringify({ ...(await Bun.file(manifest).json()), schema: 9_999 }));
  await expect(chooseBackup(at(), { onSkipped: () => {} })).rejects.toThrow('9999');
});

test('the secret that signed a backup stands for the check of its pages, and another one does not', async () => {
  makeDataFolder(at('data'));
  // Damage that was there when the backup was made, so that the digests of the manifest include it.
  await makeBackup(at('data/zomma.sqlite'), at('backup'), {
    ...{ version: '1', nowMs: MONDAY, secret: OWN },
    copy(from, to) {
      const contents = copyChecked(from, to);
      const bytes = Buffer.from(readFileSync(to));
      bytes.writeUInt32BE(5, FREE_PAGES_AT);
      writeFileSync(to, bytes);
      return contents;
    },
  });
  expect((await checkBackup(at('backup'), OWN)).made_at).toBe(new Date(MONDAY).toISOString());
  for (const secret of [undefined, FOREIGN])
    await expect(checkBackup(at('backup'), secret)).rejects.toThrow('is damaged');
});

test('tables of Litestream are no reason to refuse a backup', async () => {
  const database = join(makeDataFolder(at('data')), 'zomma.sqlite');
  const db = new Database(database);
  db.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
  db.run('CREATE TABLE _litestream_lock (id INTEGER)');
  db.close(true);
  await checkBackup(await backUp(0), FOREIGN);
  const other = new Database(database);
  other.run('CREATE TABLE _litestream_other (id INTEGER)');
  other.close(true);
  await expect(backUp(5)).rejects.toThrow('table _litestream_other');
});

test('only backups of the series are removed, the oldest first, and never the one just made', async () => {
  await backUp(-100, { name: 'zomma-monday' });
  const [first, second, third] = [await backUp(0), await backUp(5), await backUp(10)];
  expect([...removeOldBackups(at(), 2, third)]).toEqual([first]);
  // The clock was set back, so the newest has the earliest name.
  expect([...removeOldBackups(at(), 1, second)]).toEqual([]);
  expect(readdirSync(at()).toSorted()).toEqual(
    ['data', backupName(MONDAY + 5 * MINUTE), backupName(MONDAY + 10 * MINUTE), 'zomma-monday'].toSorted(),
  );
});

test('what an interrupted backup or removal has left is removed, and nothing else', async () => {
  const name = backupName(MONDAY);
  for (const each of [`${name}.partial`, `${name}.removed.partial`, 'other.partial', 'zomma-monday'])
    mkdirSync(at(each, 'deep'), { recursive: true });
  await backUp(0);
  removeDrafts(at());
  expect(readdirSync(at()).toSorted()).toEqual([name, 'data', 'other.partial', 'zomma-monday']);
});
