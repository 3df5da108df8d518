import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { copyFileSync, cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { contentsOf, snapshotsIn } from '../faults/contents.ts';
import { writeChain } from '../support/chain-file.ts';
import { addMember, PROGRAM, run, startLoaded } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';

/**
 * The second machine of docs/scaling.md: backups of a server that reads files, its death, a restore in another folder with the same secret,
 * and a second server on the same files.
 */
const at = testFolder();
const START_MS = Date.UTC(2026, 7, 21, 14);
const EVERY = '1s';
/** Backups before the death of the first server. */
const BACKUPS = 3;
const MEMBERS = {
  stays: '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90',
  revokedBefore: '0b9f5a3c-6d1e-4c7a-8f2b-1a2b3c4d5e6f',
  revokedAfter: '6f1c2a34-5b6d-4e7f-8a9b-000000000001',
} as const;

const zomma = async (folder: string, ...args: string[]) => {
  const { code, stdout, stderr } = await run(PROGRAM, [...args, '--data-dir', at(folder)]);
  expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
  return stdout;
};

let minute = 0;
/** Puts a snapshot of the next minute, and ten prints of it, into the drop folder. */
function feed(): void {
  const instant = START_MS + minute++ * 60_000;
  const put = (name: string, write: (path: string) => void) => {
    write(at(name));
    renameSync(at(name), at('drop', name));
  };
  put(`chain-${minute}.csv`, (path) => writeChain(path, 'TEST', new Date(instant).toISOString()));
  const prints = Array.from(
    { length: 10 },
    (_, i) => `${new Date(instant + i).toISOString()},TEST260918C00100000,${1 + minute / 100},5,f,auto`,
  );
  const head = 'executed_at,option_chain_id,price,size,canceled,upstream_condition_detail';
  put(`tape-${minute}.csv`, (path) => writeFileSync(path, `${[head, ...prints].join('\n')}\n`));
}

/** The stored levels, without the numbers of their rows. */
function levelsIn(folder: string): unknown[] {
  using db = new Database(at(folder, 'zomma.sqlite'), { readonly: true });
  return db
    .query('SELECT underlying, as_of, spot, net_gex, call_wall, put_wall FROM levels ORDER BY underlying, as_of')
    .all();
}

const waitFor = async (holds: () => boolean) => {
  while (!holds()) await Bun.sleep(20);
};

const serve = (folder: string) =>
  startLoaded(PROGRAM, ['serve', '--port', '0', '--feed', `files:${at('drop')}`, '--data-dir', at(folder)]);

test('a second machine goes on from the newest backup and the files: keys work, nothing is lost or doubled', async () => {
  for (const name of ['drop', 'backups']) mkdirSync(at(name));
  feed();
  const first = await serve('first');
  const keys: Record<string, string> = {};
  for (const [name, uuid] of Object.entries(MEMBERS)) keys[name] = await addMember(PROGRAM, at('first'), uuid);
  await zomma('first', 'members', 'revoke', '--uuid', MEMBERS.revokedBefore);

  const backups = Bun.spawn([...PROGRAM, 'backup', at('backups'), '--every', EVERY, '--data-dir', at('first')], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  // The number of snapshots at the end of each backup. The next backup begins later, so it has at least as many.
  const storedAfter: number[] = [];
  const reading = (async () => {
    for await (const piece of backups.stdout)
      if (new TextDecoder().decode(piece).includes('checked')) storedAfter.push(snapshotsIn(at('first')));
  })();
  const isFed = () => storedAfter.length >= BACKUPS && snapshotsIn(at('first')) > storedAfter.at(-1)!;
  for (; !isFed(); await Bun.sleep(50)) feed();

  // After the last backup: a member is revoked, and the list of members travels with the backups.
  await waitFor(() => storedAfter.length > BACKUPS);
  await zomma('first', 'members', 'revoke', '--uuid', MEMBERS.revokedAfter);
  await zomma('first', 'members', 'export', at('backups', 'members.zomma'));
  first[Symbol.asyncDispose] = async () => {};
  process.kill(first.pid, 'SIGKILL');
  backups.kill('SIGKILL');
  const died = Date.now();
  await Promise.all([first.ended, backups.exited, reading]);
  // Files arrive while no server runs.
  for (let i = 0; i < 3; i++) feed();

  // The second machine has the backups, and the secret from the day on which it was set up.
  cpSync(at('backups'), at('arrived'), { recursive: true });
  mkdirSync(at('second'), { mode: 0o700 });
  copyFileSync(at('first', 'secret'), at('second', 'secret'));
  const restored = await zomma('second', 'restore', at('arrived'));
  await zomma('second', 'members', 'import', at('arrived', 'members.zomma'));
  const newest = readdirSync(at('arrived'))
    .filter((name) => name.endsWith('Z'))
    .toSorted()
    .at(-1)!;
  expect(restored).toContain(`restored ${at('arrived', newest)}. `);
  expect(snapshotsIn(at('second'))).toBeGreaterThanOrEqual(storedAfter.at(-2)!);
  const { made_at } = await Bun.file(at('arrived', newest, 'manifest.json')).json();
  const [before, lost] = [levelsIn('second'), snapshotsIn(at('first')) - snapshotsIn(at('second'))];
  expect(before.length).toBeGreaterThan(0);
  expect(levelsIn('first')).toEqual(expect.arrayContaining(before));

  await using second = await serve('second');
  const servedAfterMs = Date.now() - died;
  await using _clean = await serve('clean');
  const status = async (key: string | undefined) =>
    (await fetch(`${second.url}/api/v1/nodes/gex/TEST`, { headers: { 'X-API-Key': key! } })).status;
  expect([await status(keys.stays), await status(keys.revokedBefore), await status(keys.revokedAfter)]).toEqual([
    200, 403, 403,
  ]);
  // A file that arrives now is read too. The stored data equal those of a server that has read all files once.
  feed();
  await waitFor(() => [levelsIn('second'), levelsIn('clean')].every((levels) => levels.length === minute));
  expect(contentsOf(at('second'))).toEqual(contentsOf(at('clean')));
  expect(contentsOf(at('second')).prints).toHaveLength(10 * minute);
  expect(levelsIn('second')).toEqual(levelsIn('clean'));
  expect(levelsIn('second').slice(0, before.length)).toEqual(before);
  expect((await zomma('second', 'audit')).includes('restored')).toBe(true);
  console.log(
    `--every ${EVERY}: the data of the last ${died - Date.parse(made_at)} ms and ${lost} snapshots were only in the files, and the second server was ready ${servedAfterMs} ms after the death of the first one`,
  );
}, 60_000);
