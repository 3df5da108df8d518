import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeChain } from '../support/chain-file.ts';
import { FAKETIME, testWithFaketime } from '../support/faketime.ts';
import { freePort, PASSWORD, postgresForTests, testWithPostgres, USER } from '../support/postgres.ts';
import { PROGRAM, type Server, startServer } from '../support/process.ts';
import { damageFile, smallDisk } from '../support/small-disk.ts';
import { folderForTests } from '../support/test-folder.ts';

/** Two servers that share a database. Something happens to the one that leads, and the other one leads instead. */
const folder = folderForTests();
const { at: onSmallDisk, fill, free, isMounted } = smallDisk();
const secret = crypto.getRandomValues(new Uint8Array(32));
const postgres = await postgresForTests();

interface Here {
  readonly data: string;
  readonly drops: string;
  readonly start: (env?: Record<string, string>) => Promise<Server>;
}

/** Makes the folders of a server. Each machine has a drop folder of its own, with the same files. */
function machine(name: string, data: string): Here {
  const drops = join(folder, `${name}-drops`);
  for (const each of [data, drops]) mkdirSync(each, { mode: 0o700 });
  writeFileSync(join(data, 'secret'), secret, { mode: 0o600 });
  writeChain(join(drops, 'SPY.csv'), 'SPY');
  const start = async (env: Record<string, string> = {}): Promise<Server> => {
    const store = `postgres://${USER}@${postgres.address}/${USER}`;
    const args = ['--port', '0', '--ops', `127.0.0.1:${await freePort()}`, '--data-dir', data, '--replica', name];
    const shared = ['--feed', `files:${drops}`, '--store', store];
    return await startServer(PROGRAM, ['serve', ...args, ...shared], { ZOMMA_STORE_PASSWORD: PASSWORD, ...env });
  };
  return { data, drops, start };
}

const status = async (server: Server, path: string) => (await fetch(server.url + path)).status;
/** Waits for a condition. The time limit of the test bounds the wait. */
async function holds(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await Bun.sleep(20);
}
async function leads(name: string): Promise<boolean> {
  const text = `select split_part(holder, ' ', 1) = '${name}' as holds from zomma.leases where until > clock_timestamp()`;
  return (await postgres.query(text, USER))[0]?.holds === true;
}

async function hasStored(ticker: string): Promise<boolean> {
  const text = `select count(*) > 0 as holds from zomma.snapshots where underlying = '${ticker}'`;
  return (await postgres.query(text, USER))[0]!.holds === true;
}

interface Mishap {
  readonly what: string;
  readonly happen: (here: Here) => void;
  /** Undefined if the server has to be restarted. */
  readonly undo?: (here: Here) => void;
  /** What the log says of it. */
  readonly says: RegExp;
  readonly isReady: boolean;
}

const mirror = ({ data }: Here) => join(data, 'mirror.sqlite');
const MISHAPS: readonly Mishap[] = [
  {
    what: 'its drop folder is missing',
    happen: ({ drops }) => renameSync(drops, `${drops}-away`),
    undo: ({ drops }) => renameSync(`${drops}-away`, drops),
    says: /The drop folder \S+ is missing on this machine/,
    isReady: true,
  },
  {
    what: 'its disk is full',
    happen: fill,
    undo: free,
    says: /Nothing more is stored until there is room/,
    isReady: true,
  },
  {
    what: 'its copy of the data is removed',
    happen: (here) => rmSync(mirror(here)),
    says: /The database was removed or replaced. Restart the server/,
    isReady: false,
  },
  {
    what: 'its copy of the data is damaged',
    happen: (here) => {
      const db = new Database(mirror(here));
      db.run('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      damageFile(mirror(here));
    },
    says: /(copy of the data (is damaged|takes no changes)|removed or replaced)/,
    isReady: false,
  },
];

MISHAPS.forEach(({ what, happen, undo, says, isReady }, i) => {
  const name = `a server answers on and another one leads, when ${what}`;
  const body = async () => {
    const here = machine(`a${i}`, what.includes('disk') ? onSmallDisk(`a${i}`) : join(folder, `a${i}`));
    const there = machine(`b${i}`, join(folder, `b${i}`));
    let a = await here.start();
    try {
      await holds(() => leads(`a${i}`));
      await using b = await there.start();
      await holds(async () => (await status(a, '/ready')) === 200);
      happen(here);
      // The folder of the other one has a file more.
      writeChain(join(there.drops, 'OTHER.csv'), `NEW${'ABCD'[i]}`);
      await holds(() => leads(`b${i}`));
      await holds(() => hasStored(`NEW${'ABCD'[i]}`));
      await holds(() => says.test(a.log()));
      await holds(async () => (await status(a, '/ready')) === (isReady ? 200 : 503));
      expect(await status(a, '/health')).toBe(200);
      if (undo) undo(here);
      else {
        await a[Symbol.asyncDispose]();
        a = await here.start();
      }
      // Afterwards it has what the other one has stored meanwhile, and can lead.
      await holds(async () => (await status(a, '/ready')) === 200);
      await b.stop('SIGTERM');
      await holds(() => leads(`a${i}`));
    } finally {
      await a[Symbol.asyncDispose]();
    }
  };
  if (what.includes('disk') && !isMounted) return;
  testWithPostgres(name, body, 60_000);
});

testWithFaketime('a server whose clock is wrong is not ready and does not lead', async () => {
  await using wrong = await machine('wrong', join(folder, 'wrong')).start({ LD_PRELOAD: FAKETIME!, FAKETIME: '+5s' });
  await holds(() => wrong.log().includes('The clock of this machine differs from that of the database.'));
  expect(await status(wrong, '/ready')).toBe(503);
  await using right = await machine('right', join(folder, 'right')).start();
  await holds(() => leads('right'));
  await holds(async () => (await status(right, '/ready')) === 200);
});
