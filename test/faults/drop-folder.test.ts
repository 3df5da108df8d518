import { beforeEach, expect, test } from 'bun:test';
import { appendFileSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROGRAM, readLog, run } from '../support/process.ts';
import { testFolder } from '../support/test-folder.ts';
import { contentsOf, snapshotsIn } from './contents.ts';

/**
 * The drop folder under faults, against the real process. Whatever happens on the way, the data stored at the end equals that of a clean
 * load of the folder. Set `ZOMMA_FAULT_FILES=10000` or
 * `ZOMMA_FAULT_KILLS=100` for a long run.
 */
const FILES = Number(process.env.ZOMMA_FAULT_FILES ?? 200);
const KILLS = Number(process.env.ZOMMA_FAULT_KILLS ?? 3);
const PATIENCE_MS = 20_000 + 20 * FILES + 2_000 * KILLS;

const at = testFolder();
let drop: string;
beforeEach(() => {
  drop = at('drop');
  mkdirSync(join(drop, 'deep'), { recursive: true });
});

const put = (name: string, text: string) => writeFileSync(join(drop, name), text);
const replace = (name: string, text: string) => {
  writeFileSync(join(drop, `.${name}`), text);
  renameSync(join(drop, `.${name}`), join(drop, name));
};

/** Each file has a different moment. `bid` distinguishes its versions. */
function chainAt(minute: number, bid: number): string {
  const at = new Date(Date.UTC(2026, 7, 3, 14) + minute * 60_000).toISOString();
  const rows = [95, 100, 105].flatMap((strike) =>
    ['C', 'P'].map((side) => `TEST,${at},100,2026-09-18,${side},${strike},${bid},${bid + 1},100`),
  );
  return `underlying,as_of,spot,expiry,put_call,strike,bid,ask,open_interest\n${rows.join('\n')}\n`;
}

const TAPE = 'executed_at,option_chain_id,price,size,canceled,upstream_condition_detail\n';
/** In each ten rows two are equal. In each fifty rows one of an equal pair cancels the other, so that neither counts. */
function trade(i: number): string {
  const row = i % 10 === 9 ? i - 1 : i;
  const time = new Date(Date.UTC(2026, 7, 3, 14) + row * 10).toISOString();
  return `${time},TEST260918C00100000,2.5,5,${i % 50 === 49 ? 't' : 'f'},auto\n`;
}

/** Starts the service on the folder. `loaded` resolves when the service has read the present files once. */
function serve(dataDir: string, ...more: string[]) {
  const args = ['serve', '--feed', `files:${drop}`, '--data-dir', dataDir, '--port', '0', ...more];
  const child = Bun.spawn([...PROGRAM, ...args], { cwd: at(), stdout: 'ignore', stderr: 'pipe' });
  return {
    loaded: readLog(child.stderr).loaded,
    async end(signal: 'SIGKILL' | 'SIGTERM') {
      child.kill(signal);
      await child.exited;
    },
  };
}

/** Serves a folder until the present files are read. Returns the data that is stored then. */
async function serveOnce(dataDir: string, ...more: string[]) {
  const service = serve(dataDir, ...more);
  await service.loaded;
  await service.end('SIGTERM');
  return contentsOf(dataDir);
}

async function eventually(holds: () => boolean): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > until) throw new Error('it has not come to be in time');
    await Bun.sleep(20);
  }
}

test(
  'killed repeatedly while files arrive, grow and change: the data equals that of a clean load',
  async () => {
    const data = at('data');
    const rows = Array.from({ length: 10 * FILES }, (_, i) => trade(i)).join('');
    const third = Math.floor(rows.length / 3);
    for (let each = 0; each < FILES; each++) put(`${each % 2 ? 'deep/' : ''}${each}.csv`, chainAt(each, 1));
    put('tape.csv', TAPE + rows.slice(0, third));
    put('bad.json', '{"timestamp":"2026-08-03 14:00:00","data":{"options":[{"opt');
    put('notes.md', 'nothing');

    const lateFiles = new Set<number>();
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = snapshotsIn(data);
      const service = serve(data);
      // During its first read: some of the files are stored, and more follow.
      await eventually(() => snapshotsIn(data) > Math.min(before, FILES - 1));
      for (let each = kill; each < FILES; each += 7) {
        replace(`${each}-late.csv`, chainAt(FILES + each, kill + 1));
        lateFiles.add(each);
      }
      put(`${kill}-cut.csv`, chainAt(3 * FILES + kill, 1).slice(0, 150));
      await service.end('SIGKILL');
      // Two kills may meet the same file. The service would skip it, because it counts them as crashes that the file has caused.
      rmSync(join(data, 'reading.json'), { force: true });
    }

    const service = serve(data);
    await service.loaded;
    // In pieces cut at any byte, while the service watches.
    appendFileSync(join(drop, 'tape.csv'), rows.slice(third, 2 * third));
    for (let kill = 1; kill <= KILLS; kill++) put(`${kill}-cut.csv`, chainAt(3 * FILES + kill, 1));
    replace('0.csv', chainAt(0, 9));
    copyFileSync(join(drop, 'deep/1.csv'), join(drop, 'twin.csv'));
    const bidsOfFirst = () => contentsOf(data)?.snapshots[0]?.bid ?? '';
    await eventually(() => bidsOfFirst().includes('9') && contentsOf(data).snapshots.length >= FILES + KILLS);
    await service.end('SIGKILL');
    rmSync(join(data, 'reading.json'), { force: true });
    appendFileSync(join(drop, 'tape.csv'), rows.slice(2 * third));
    const found = await serveOnce(data);

    const expected = await serveOnce(at('clean'));
    expect(expected).toMatchObject({ prints: { length: 10 * FILES * (48 / 50) } });
    expect(found).toEqual(expected);
  },
  3 * PATIENCE_MS,
);

test('a restart reads no file again: a forgotten snapshot stays forgotten until its file changes', async () => {
  const data = at('data');
  put('a.csv', chainAt(0, 1));
  put('b.csv', chainAt(1, 1));
  const restart = async () => (await serveOnce(data)).snapshots.map(({ bid = '' }) => bid[0]);
  expect(await restart()).toEqual(['1', '1']);
  const forget = ['chains', 'forget', '--ticker', 'TEST', '--as-of', '2026-08-03T14:00:00.000Z', '--data-dir', data];
  Bun.spawnSync([...PROGRAM, ...forget], { cwd: at() });
  expect(await restart()).toEqual(['1']);
  put('a.csv', chainAt(0, 22));
  expect(await restart()).toEqual(['2', '1']);
});

test('the service sets a bad file aside only if it is configured to', async () => {
  const data = at('data');
  const aside = at('aside');
  put('bad.json', '{"data":{"current_price":1}}');
  const places = () => [drop, aside].filter((folder) => existsSync(join(folder, 'bad.json')));
  await serveOnce(data);
  expect(places()).toEqual([drop]);
  await serveOnce(data, '--set-aside', aside);
  expect(places()).toEqual([aside]);
  const nested = ['serve', '--feed', `files:${drop}`, '--set-aside', join(drop, 'in'), '--data-dir', data];
  const { code, stderr } = await run(PROGRAM, nested);
  expect([code, stderr]).toEqual([78, expect.stringContaining('overlap')]);
});
