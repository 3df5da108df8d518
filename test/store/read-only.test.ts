import { expect, test } from 'bun:test';
import { openToRead } from '../../src/store/read-only.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { testFolder } from '../support/test-folder.ts';

const at = testFolder();
/** Holds a database as a process does that closes it last. */
const HOLDER = `
  const { Database } = require('bun:sqlite');
  const db = new Database(process.argv[1]);
  db.run('PRAGMA locking_mode = EXCLUSIVE');
  db.run('BEGIN IMMEDIATE');
  db.run('COMMIT');
  console.log('held');
  Bun.sleepSync(300);
  db.close(true);`;

test('a reader waits for another process that moves its log into the file', async () => {
  const path = at('data.sqlite');
  openStore(path, Date.now).close();
  const holder = Bun.spawn([process.execPath, '-e', HOLDER, path], { stdout: 'pipe' });
  await holder.stdout.getReader().read();
  const startedAt = performance.now();
  openToRead(path).close(true);
  expect(performance.now() - startedAt).toBeGreaterThan(50);
  expect(await holder.exited).toBe(0);
});
