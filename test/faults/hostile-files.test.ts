import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BINARY, buildBinary, PROGRAM, startServer } from '../support/process.ts';
import { FAULT_SECONDS, FAULT_SEED } from '../support/size.ts';
import { KNOWN_BOMBS } from './hostile/file-bombs.ts';
import { brokenPromises, fuzzFiles, measureAnswers, measuredFairly, measureFiles } from './hostile-files.ts';

/** Files and answers that try to fill the memory of the service or to block it. They run against the executable, as it is deployed. */
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zomma-bombs-'));
  await buildBinary();
}, 240_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const REASONS = Object.fromEntries(KNOWN_BOMBS.map(([name, , reason]) => [name, expect.stringMatching(reason)]));
const HONEST = 'date,ticker,close\n2026-08-20,SPY,640.5\n';

const CGROUPS = '/sys/fs/cgroup/memory';
const mayBound = (() => {
  try {
    accessSync(join(CGROUPS, 'memory.limit_in_bytes'));
    accessSync(CGROUPS, constants.W_OK);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
})();
const bound = mayBound ? 'within 1 GiB of the system' : 'within its memory (memory cgroups cannot be made here)';

test(`the service refuses each known bomb by name, ${bound}, and keeps answering requests`, async () => {
  const group = mayBound ? mkdtempSync(join(CGROUPS, 'zomma-')) : undefined;
  try {
    if (group) writeFileSync(join(group, 'memory.limit_in_bytes'), String(2 ** 30));
    const inGroup = ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$0" "$@"`, ...BINARY];
    const files = KNOWN_BOMBS.map(([name, content]) => ({ name, content: content() }));
    const figures = await measuredFairly(() =>
      measureFiles([...files, { name: 'zz-honest.csv', content: Buffer.from(HONEST) }], group ? inGroup : BINARY),
    );
    expect(figures.refused).toEqual(REASONS);
    expect(brokenPromises(figures)).toEqual([]);
    expect(figures.exitCode).toBe(0);
  } finally {
    if (group) rmdirSync(group);
  }
}, 120_000);

test.each([
  ['as one body', false],
  ['in chunks', true],
])(
  'a provider that answers with 60 MB of brackets, compressed, %s',
  async (_name, isChunked) => {
    const figures = await measuredFairly(() => measureAnswers([Buffer.alloc(60e6, '[')], isChunked, BINARY));
    expect(figures.refused).toEqual({
      'cboe:SPY': expect.stringMatching(/unpacks to more than 200 times|more than 41943040 bytes/),
    });
    expect(brokenPromises(figures)).toEqual([]);
  },
  60_000,
);

test('an answer within all size limits that has only brackets', async () => {
  // Text that compresses badly, so that it does not unpack to more than 200 times its size.
  const noise = randomBytes(60_000).toString('base64');
  const brackets = `{"a":"${noise}"},${'['.repeat(400_000)}`;
  const figures = await measuredFairly(() =>
    measureAnswers([Buffer.from(`{"data":[${brackets.repeat(60)}`)], true, BINARY),
  );
  expect(figures.refused).toEqual({ 'cboe:SPY': 'JSON of more than 600000 objects and arrays' });
  expect(brokenPromises(figures)).toEqual([]);
}, 240_000);

/** Reading it takes some seconds. */
const longTape = () =>
  gzipSync(
    `executed_at,option_chain_id,price,size,id\n${Array.from({ length: 300_000 }, (_, i) => `2026-08-17T13:30:01Z,SPY260918C00500000,1.${i},1,a${i}\n`).join('')}`,
  );

test('skips and names a file if the service died twice while reading it, but not if it was stopped', async () => {
  const [drop, dataDir] = ['drop', 'data'].map((name) => join(folder, name)) as [string, string];
  mkdirSync(drop);
  writeFileSync(join(drop, 'tape.csv.gz'), longTape());
  writeFileSync(join(drop, 'zz.csv'), HONEST);
  const args = ['serve', '--port=0', `--data-dir=${dataDir}`, `--feed=files:${drop}`];
  const journal = join(dataDir, 'reading.json');
  const startReading = async (crashes: number) => {
    const server = await startServer(PROGRAM, args);
    const until = performance.now() + 20_000;
    const isReading = () => {
      const text = existsSync(journal) ? readFileSync(journal, 'utf8') : '';
      // The journal of an earlier process does not match.
      return (
        text.includes('"reading":{"origin":"tape.csv.gz"') && (crashes === 0 || text.includes(`"times":${crashes}`))
      );
    };
    while (!isReading()) {
      if (performance.now() > until) throw new Error(`it does not read: ${server.log()}`);
      await Bun.sleep(2);
    }
    return server;
  };
  for (let stop = 0; stop < 3; stop++) {
    const { code, durationMs } = await (await startReading(0)).stop('SIGTERM');
    expect([code, durationMs < 5_000]).toEqual([0, true]);
  }
  for (let crash = 0; crash < 2; crash++) {
    const server = await startReading(crash);
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
  }
  const server = await startServer(PROGRAM, args);
  await server.loaded;
  const { stderr } = await server.stop('SIGTERM');
  expect(stderr).toContain(
    '"origin":"tape.csv.gz","reason":"the process that read the file has ended 2 times. To have the file read again, change or replace it"',
  );
}, 240_000);

test(
  'random files and answers: the promises hold',
  async () => {
    expect(await fuzzFiles(FAULT_SECONDS, FAULT_SEED, BINARY)).toEqual([]);
  },
  60_000 + 2_000 * FAULT_SECONDS,
);
