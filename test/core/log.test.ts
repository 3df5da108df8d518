import { expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, ROOT } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** Lines of the log, as processes write them to a file in place of the journal. */
const folder = folderForTests();

const SCRIPT = `
import { createLog } from ${JSON.stringify(join(ROOT, 'src/core/log.ts'))};
const log = createLog('debug');
log({ kind: 'ingest_failed', error: new Error('first line\\nsecond line') });
log({ kind: 'data_full', reason: 'the disk is full' });
log({ kind: 'data_has_room' });
log({ kind: 'ingest_polled', chains: 1, prints: 2, refusals: 0, duration_ms: 3 });
`;

/** Writes four lines to a file, with JOURNAL_STREAM made from the file. Returns the lines. */
async function linesWith(journalStream: (file: string) => string | undefined): Promise<string[]> {
  const [file, script] = [join(folder, `${crypto.randomUUID()}.log`), join(folder, 'script.ts')];
  writeFileSync(script, SCRIPT);
  const descriptor = openSync(file, 'w');
  const stream = journalStream(file);
  const env = { ...cleanEnv(), ...(stream !== undefined && { JOURNAL_STREAM: stream }) };
  const child = Bun.spawn([process.execPath, script], { env, stdin: 'ignore', stdout: 'ignore', stderr: descriptor });
  expect(await child.exited).toBe(0);
  closeSync(descriptor);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

test('each line for the journal begins with its priority', async () => {
  const lines = await linesWith((file) => {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  });
  expect(lines.map((line) => line.slice(0, 3))).toEqual(['<3>', '<4>', '<6>', '<7>']);
  expect(lines.map((line) => JSON.parse(line.slice(3)).message)).toEqual([
    'ingest_failed',
    'data_full',
    'data_has_room',
    'ingest_polled',
  ]);
});

test.each<[string, (file: string) => string | undefined]>([
  ['no journal', () => undefined],
  ['an empty name', () => ''],
  ['the stream of another file', (file) => `${statSync(file).dev}:1`],
])('with %s, lines are JSON', async (_, stream) => {
  const lines = await linesWith(stream);
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['ERROR', 'WARN', 'INFO', 'DEBUG']);
});
