import { expect, test } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecretFile, isOpenToGroup, loadSecret } from '../../src/access/secret.ts';
import { OperatorError } from '../../src/core/errors.ts';
import { withFolder } from '../support/process.ts';
import { errorOf } from '../support/thrown.ts';

const refusalOf = (folder: string) => errorOf(OperatorError, () => loadSecret(folder));

test('the first call creates the secret, and later calls read it', () =>
  withFolder((folder) => {
    const dataDir = join(folder, 'deep', 'data');
    const secret = Buffer.from(loadSecret(dataDir));
    expect(secret).toHaveLength(32);
    expect(Buffer.from(loadSecret(dataDir)).equals(secret)).toBe(true);
    expect(readFileSync(join(dataDir, 'secret')).equals(secret)).toBe(true);
    expect(readdirSync(dataDir)).toEqual(['secret']);
    expect(Buffer.from(loadSecret(join(folder, 'other'))).equals(secret)).toBe(false);
  }));

test.skipIf(process.platform === 'win32')('only the owner can read the secret and its folder', () =>
  withFolder((folder) => {
    const dataDir = join(folder, 'data');
    loadSecret(dataDir);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'secret')).mode & 0o777).toBe(0o600);
  }),
);

test.skipIf(process.platform === 'win32').each([0o640, 0o604, 0o620, 0o601])(
  'rejects a secret file of mode %o',
  (mode) =>
    withFolder((folder) => {
      loadSecret(folder);
      chmodSync(join(folder, 'secret'), mode);
      expect(refusalOf(folder).hint).toContain('chmod 600');
      chmodSync(join(folder, 'secret'), 0o600);
      expect(loadSecret(folder)).toHaveLength(32);
    }),
);

test.skipIf(process.platform === 'win32').each<[number, boolean | 'refused']>([
  [0o700, false],
  [0o755, false],
  [0o770, true],
  [0o2775, true],
  [0o777, 'refused'],
  [0o1777, 'refused'],
  [0o702, 'refused'],
])('isOpenToGroup on a data folder of mode %o: %p', (mode, expected) =>
  withFolder((folder) => {
    chmodSync(folder, mode);
    if (expected === 'refused') expect(() => isOpenToGroup(folder)).toThrow(/every user of this machine may write/);
    else expect(isOpenToGroup(folder)).toBe(expected);
  }),
);

// Only the superuser can change the owner of a file.
test.skipIf(process.platform === 'win32' || process.geteuid?.() !== 0)(
  'rejects a secret that belongs to another user',
  () =>
    withFolder((folder) => {
      loadSecret(folder);
      chownSync(join(folder, 'secret'), 12_345, 12_345);
      expect(refusalOf(folder).message).toContain('belongs to another user');
      // Root may read the secret if it belongs to the owner of the data folder: an administrator maintains the service's folder.
      chownSync(folder, 12_345, 12_345);
      expect(loadSecret(folder)).toHaveLength(32);
    }),
);

test.each([0, 1, 31])('rejects a secret file of %d bytes without changing it or revealing its content', (length) =>
  withFolder((folder) => {
    writeFileSync(join(folder, 'secret'), 'k'.repeat(length), { mode: 0o600 });
    const refusal = refusalOf(folder);
    expect(refusal.message).toContain(`holds ${length} bytes`);
    expect(refusal.message).not.toContain('kkk');
    expect(readFileSync(join(folder, 'secret'))).toHaveLength(length);
  }),
);

test('an error about an unreadable or uncreatable secret contains its path', () =>
  withFolder((folder) => {
    mkdirSync(join(folder, 'secret'));
    expect(refusalOf(folder).message).toContain(join(folder, 'secret'));
    writeFileSync(join(folder, 'file'), '');
    expect(refusalOf(join(folder, 'file')).message).toContain(join(folder, 'file'));
  }));

test('a new secret is only beside the old one until it replaces the old one in one step', () =>
  withFolder((folder) => {
    const file = createSecretFile(
      folder,
      () => 0,
      () => {},
    );
    const [secret] = file.read();
    const read = () => file.read().map((bytes) => Buffer.from(bytes!).toString('hex'));
    const [old] = read();
    file.writeNext();
    const next = Buffer.from(file.writeNext()).toString('hex');
    expect(read()).toEqual([old!, next]);
    expect([next.length, next === old, statSync(join(folder, 'secret.next')).mode & 0o777]).toEqual([64, false, 0o600]);
    file.removeNext();
    expect(read()).toEqual([old!]);
    const adopted = Buffer.from(file.writeNext()).toString('hex');
    file.adoptNext();
    expect([read(), readdirSync(folder), secret.length]).toEqual([[adopted], ['secret'], 32]);
    file.writeNext();
    chmodSync(join(folder, 'secret.next'), 0o644);
    expect(errorOf(OperatorError, () => file.read()).message).toContain('secret.next is open to other users');
  }));

test('processes that create the secret concurrently all get the same one', () =>
  withFolder(async (folder) => {
    const module = new URL('../../src/access/secret.ts', import.meta.url).href;
    // Many synchronized rounds, because in a single round the processes may not collide.
    const rounds = 25;
    const start = Date.now() + 100;
    const program = `const { loadSecret } = await import(${JSON.stringify(module)});
      for (let n = 0; n < ${rounds}; n++) {
        while (Date.now() < ${start} + 5 * n);
        console.log(Buffer.from(loadSecret(process.argv[1] + n)).toString('hex'));
      }`;
    const racers = Array.from({ length: 3 }, () =>
      Bun.spawn([process.execPath, '-e', program, join(folder, 'data')], { stdout: 'pipe', stderr: 'inherit' }),
    );
    const seen = await Promise.all(racers.map((racer) => new Response(racer.stdout).text()));
    const folders = Array.from({ length: rounds }, (_, n) => join(folder, `data${n}`));
    const kept = folders.map((dataDir) => `${readFileSync(join(dataDir, 'secret')).toString('hex')}\n`).join('');
    expect(seen).toEqual([kept, kept, kept]);
    for (const dataDir of folders) expect(readdirSync(dataDir)).toEqual(['secret']);
  }));
