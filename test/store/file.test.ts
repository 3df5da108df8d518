import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { chmodSync, existsSync, statSync, writeFileSync } from 'node:fs';
import type { Member } from '../../src/access/members.ts';
import { ClientError, OperatorError } from '../../src/core/errors.ts';
import { migrate } from '../../src/store/migrations.ts';
import { openStore } from '../../src/store/sqlite.ts';
import { withFolder } from '../support/process.ts';
import { errorOf } from '../support/thrown.ts';
import { chainOf, MONDAY_MS, outputOf, spawnOnStore, withStore, withStoreFile } from './samples.ts';

const UUID = '6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b';
const MEMBER: Member = {
  ...{ uuid: UUID, tier: 'pro', status: 'active', expiresAt: null },
  ...{ accountId: 'a1', generation: 0, keyDigest: 'aa', previousDigest: null, previousUntil: null },
};

const LINK = { telegramId: '@ann', routing1dte: true, routingRadar: false, lastPingAt: null };

test('members and links are read back, replaced ones as last saved', () =>
  withStore((store) => {
    const uuid = '00000000-0000-0000-0000-000000000000';
    const other: Member = { ...MEMBER, uuid, keyDigest: 'bb', expiresAt: MONDAY_MS };
    store.saveMember(MEMBER);
    store.saveMember(other);
    expect(store.member(UUID)).toEqual(MEMBER);
    expect(store.memberByKeyDigest('bb')).toEqual(other);
    expect(store.members()).toEqual([other, MEMBER]);
    expect(store.member('none')).toBeUndefined();
    expect(store.memberByKeyDigest('none')).toBeUndefined();

    expect(store.telegramLink(UUID)).toBeUndefined();
    for (const link of [LINK, { ...LINK, routingRadar: true, lastPingAt: 5 }]) {
      store.saveTelegramLink(UUID, link);
      expect(store.telegramLink(UUID)).toEqual(link);
    }

    const revoked: Member = { ...MEMBER, status: 'revoked', expiresAt: 7 };
    store.saveMember(revoked);
    expect(store.memberByKeyDigest('aa')).toEqual(revoked);
    expect(store.telegramLink(UUID)).toBeDefined();
  }));

test('rejects a link for an unknown member without naming the member', () =>
  withStore((store) => {
    const error = errorOf(ClientError, () => store.saveTelegramLink(UUID, LINK));
    expect(error).toMatchObject({ code: 'not_found' });
    expect(String(error)).not.toContain(UUID);
  }));

test('another process sees a member and a snapshot at once, and a changed version within 50 ms', () =>
  withStoreFile(async (store, path) => {
    const reader = spawnOnStore(
      path,
      `
      for await (const _ of console) {
        const id = store.latestChainId('SPX', true);
        console.log(JSON.stringify([store.members().length, id && store.chain(id).spot, store.version()]));
      }`,
    );
    const lines = reader.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const ask = async () => {
      reader.stdin.write('?\n');
      reader.stdin.flush();
      return JSON.parse((await lines.read()).value ?? '');
    };
    const [none, , before] = await ask();
    expect(none).toBe(0);
    expect((await ask())[2]).toBe(before);
    store.saveMember(MEMBER);
    store.saveChain(chainOf({ spot: 4321 }));
    const writtenAt = performance.now();
    let [members, spot, after] = await ask();
    expect([members, spot]).toEqual([1, 4321]);
    while (after === before && performance.now() - writtenAt < 50) [members, spot, after] = await ask();
    expect(after).not.toBe(before);
    const version = store.version();
    store.saveMember({ ...MEMBER, tier: 'none' });
    expect(store.version()).not.toBe(version);
    reader.stdin.end();
    await reader.exited;
  }));

test('processes that create the database at the same time all succeed', () =>
  withFolder(async (folder) => {
    // Many synchronized rounds, because in a single round the processes may not collide.
    const rounds = 12;
    const start = Date.now() + 150;
    const program = (n: number) =>
      `store.close();
       for (let round = 0; round < ${rounds}; round++) {
         while (Date.now() < ${start} + 20 * round);
         const store = openStore(${JSON.stringify(folder)} + '/' + round + '/z.db', Date.now);
         store.saveCloses([{ ticker: 'SPX', date: '2026-01-0${n}', close: ${n}, volume: null, simulated: false }]);
         store.close();
       }`;
    const racers = [1, 2, 3].map((n) => spawnOnStore(`${folder}/own${n}.db`, program(n)));
    for (const racer of racers) expect([await racer.exited, await new Response(racer.stderr).text()]).toEqual([0, '']);
    for (let round = 0; round < rounds; round++) {
      const store = openStore(`${folder}/${round}/z.db`, Date.now);
      expect(store.closes('SPX', '2026-12-31', 9, false).map((close) => close.close)).toEqual([1, 2, 3]);
      store.close();
    }
  }));

test('every row acknowledged before a kill -9 is stored', () =>
  withFolder(async (folder) => {
    const path = `${folder}/z.db`;
    const writer = spawnOnStore(
      path,
      `for (let n = 1; ; n++) {
         store.saveMember({ ...${JSON.stringify(MEMBER)}, uuid: 'u' + n, keyDigest: 'd' + n });
         require('node:fs').writeSync(1, n + '\\n');
       }`,
    );
    const text = await outputOf(writer, (output) => output.length > 500);
    // The last line counts only if it is complete.
    const acknowledged = Number(text.slice(0, text.lastIndexOf('\n')).split('\n').at(-1));
    expect(acknowledged).toBeGreaterThan(50);
    const store = openStore(path, Date.now);
    expect(store.members().length).toBeGreaterThanOrEqual(acknowledged);
    expect(store.member(`u${acknowledged}`)).toBeDefined();
    store.close();
  }));

test.skipIf(process.platform === 'win32')('only the owner can read the files', () =>
  withFolder((folder) => {
    const modeOf = (path: string) => statSync(path).mode & 0o777;
    const path = `${folder}/data/z.db`;
    const store = openStore(path, Date.now);
    store.saveMember(MEMBER);
    expect(modeOf(`${folder}/data`)).toBe(0o700);
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(modeOf(file)).toBe(0o600);
    store.close();
    chmodSync(path, 0o644);
    openStore(path, Date.now).close();
    expect(modeOf(path)).toBe(0o600);
  }),
);

test('close() merges the write-ahead log into the file, and a second close does nothing', () =>
  withStoreFile((store, path) => {
    store.saveMember(MEMBER);
    expect(existsSync(`${path}-wal`)).toBe(true);
    store.close();
    store.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    expect(() => store.saveMember(MEMBER)).toThrow();
  }));

test('rejects a database of a newer version without changing it', () =>
  withStoreFile((store, path) => {
    store.close();
    const db = new Database(path);
    db.run('PRAGMA user_version = 999');
    db.close();
    const error = errorOf(OperatorError, () => openStore(path, Date.now));
    expect(error.message).toContain('999');
    const after = new Database(path);
    expect(after.query('PRAGMA user_version').get()).toEqual({ user_version: 999 });
    after.close();
  }));

test.each([
  ['a file that is not a database', 'x'.repeat(5000), 'backup'],
  ['a truncated header', 'SQLite format 3\0', 'backup'],
])('rejects %s with a hint', (_, content, hint) =>
  withFolder((folder) => {
    const path = `${folder}/z.db`;
    writeFileSync(path, content);
    expect(errorOf(OperatorError, () => openStore(path, Date.now)).hint).toContain(hint);
  }),
);

test('rejects an impossible path with a hint', () =>
  withFolder((folder) => {
    writeFileSync(`${folder}/file`, '');
    for (const path of [`${folder}/file/z.db`, folder]) expect(() => openStore(path, Date.now)).toThrow(OperatorError);
  }));

test('migrations run in order from any version, once each, and a failed one is rolled back', () => {
  const db = new Database(':memory:');
  const first = 'CREATE TABLE a (x); INSERT INTO a VALUES (1);';
  const second = 'INSERT INTO a VALUES (2);';
  const rows = () => db.query('SELECT x FROM a').values().flat();
  migrate(db, [first]);
  expect(rows()).toEqual([1]);
  expect(() => migrate(db, [first, `${second} INSERT INTO missing VALUES (3);`])).toThrow('missing');
  expect(rows()).toEqual([1]);
  migrate(db, [first, second]);
  migrate(db, [first, second]);
  expect(rows()).toEqual([1, 2]);
  expect(() => migrate(db, [first])).toThrow('schema 14');
  db.close();
});

test('a damaged snapshot is named in the error, and the others stay readable', () =>
  withStoreFile((store, path) => {
    const whole = chainOf({ underlying: 'OK' });
    store.saveChain(whole);
    const db = new Database(path);
    for (const damage of [
      "x''",
      "x'00'",
      'zeroblob(8)',
      'zeroblob(length(columns))',
      'substr(columns, 1, length(columns) - 1)',
      "columns || x'00'",
      "substr(columns, 1, 40) || x'ff' || substr(columns, 42)",
    ]) {
      store.saveChain(chainOf());
      db.run(`UPDATE snapshots SET columns = CAST(${damage} AS BLOB) WHERE underlying = 'SPX'`);
      const id = store.latestChainId('SPX', true)!;
      const { message } = errorOf(OperatorError, () => store.chain(id));
      expect(message).toContain(`snapshot ${id} of SPX`);
    }
    db.close();
    expect(store.chain(store.latestChainId('OK', true)!)?.strike).toEqual(whole.strike);
  }));
