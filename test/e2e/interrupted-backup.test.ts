import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COPIER_COMMAND } from '../../src/settings/config.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { PROGRAM, run } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';
import { until } from '../support/until.ts';

/** Backups that end in the middle: nothing of them is ever taken for a backup. */
const at = testFolder();

const draftsIn = (folder: string) =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.partial')) : [];
/** The processes that copy into this test's folder. */
const copiers = () =>
  readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return command.includes(COPIER_COMMAND) && command.some((each) => each.startsWith(`${at('series')}/`));
    } catch {
      return false;
    }
  });

/** Starts a backup, and resolves when its copy begins. */
async function startBackup(...args: string[]) {
  const command = ['backup', ...args, '--data-dir', makeDataFolder(at('data'))];
  const child = Bun.spawn([...PROGRAM, ...command], { stdout: 'pipe', stderr: 'pipe' });
  await until(() => copiers().length > 0);
  return child;
}

test.each([
  ['a single backup', 'SIGTERM', [], 143],
  ['a single backup', 'SIGINT', [], 130],
  ['repeated backups', 'SIGTERM', ['--every', '1d'], 0],
] as const)(
  'of %s ended by %s, nothing remains',
  async (_, signal, flags, code) => {
    mkdirSync(at('series'));
    const child = await startBackup(flags.length > 0 ? at('series') : at('series', 'monday'), ...flags);
    // However long the copy takes.
    for (const pid of copiers()) process.kill(Number(pid), 'SIGSTOP');
    child.kill(signal);
    expect(await child.exited).toBe(code);
    expect(readdirSync(at('series')).filter((name) => name !== 'lock')).toEqual([]);
    expect(copiers()).toEqual([]);
    expect(await new Response(child.stdout).text()).toBe('');
  },
  30_000,
);

test('of one that is killed, the draft is no backup, and the next round removes it', async () => {
  mkdirSync(at('series'));
  const killed = await startBackup(at('series'), '--every', '1d');
  killed.kill('SIGKILL');
  await killed.exited;
  // The child of the killed process may go on, but makes no backup.
  await until(() => copiers().length === 0);
  const [draft] = draftsIn(at('series'));
  const refused = await run(PROGRAM, ['restore', at('series'), '--data-dir', at('restored')]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is no backup') });
  expect(existsSync(at('restored', 'zomma.sqlite'))).toBe(false);
  const next = Bun.spawn([...PROGRAM, 'backup', at('series'), '--every', '1d', '--data-dir', at('data')], {
    stdout: 'pipe',
  });
  const line = new TextDecoder().decode((await next.stdout.getReader().read()).value);
  next.kill('SIGTERM');
  expect(await next.exited).toBe(0);
  expect([line, draftsIn(at('series'))]).toEqual([expect.stringContaining('checked'), []]);
  expect(existsSync(join(at('series'), draft!))).toBe(false);
  const restored = await run(PROGRAM, ['restore', at('series'), '--unverified', '--data-dir', at('restored')]);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(`restored ${at('series')}/`) });
}, 30_000);
