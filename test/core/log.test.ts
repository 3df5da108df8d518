import { expect, test } from 'bun:test';
import { closeSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanEnv, ROOT } from '../support/process.ts';
import { folderForTests } from '../support/test-folder.ts';

/** Lines of the log, as processes write them to a file in place of the journal. */
const folder = folderForTests();

const SCRIPT = `
if (process.env.TERMINAL) Object.defineProperty(process.stderr, 'isTTY', { value: true });
import { createLog } from ${JSON.stringify(join(ROOT, 'src/core/log.ts'))};
const log = createLog('debug');
log({ kind: 'ingest_failed', error: new Error('first line\\nsecond line') });
log({ kind: 'data_full', reason: 'the disk is full' });
log({ kind: 'data_has_room' });
log({ kind: 'ingest_polled', chains: 1, prints: 2, refusals: 0, duration_ms: 3 });
log({ kind: 'data_refused', origin: 'a\\u202e\\x1b[2Jb.csv', reason: 'no rows' });
`;

/** Writes five entries to a file, with JOURNAL_STREAM made from the file. Returns the lines. */
async function linesWith(
  journalStream: (file: string) => string | undefined,
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const [file, script] = [join(folder, `${crypto.randomUUID()}.log`), join(folder, 'script.ts')];
  writeFileSync(script, SCRIPT);
  const descriptor = openSync(file, 'w');
  const stream = journalStream(file);
  const env = { ...cleanEnv(), ...(stream !== undefined && { JOURNAL_STREAM: stream }), ...more };
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
  expect(lines.map((line) => line.slice(0, 3))).toEqual(['<3>', '<4>', '<6>', '<7>', '<4>']);
  expect(lines.map((line) => JSON.parse(line.slice(3)).message)).toEqual([
    'ingest_failed',
    'data_full',
    'data_has_room',
    'ingest_polled',
    'data_refused',
  ]);
});

test.each<[string, (file: string) => string | undefined]>([
  ['no journal', () => undefined],
  ['an empty name', () => ''],
  ['the stream of another file', (file) => `${statSync(file).dev}:1`],
])('with %s, lines are JSON', async (_, stream) => {
  const lines = await linesWith(stream);
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['ERROR', 'WARN', 'INFO', 'DEBUG', 'WARN']);
  // The name of a file cannot change the terminal or the direction of the text.
  expect(lines[4]).toContain('a\\u202e\\u001b[2Jb.csv');
});

test('on a terminal, lines are for people', async () => {
  const lines = await linesWith(() => undefined, { TERMINAL: '1' });
  const [first, second, ...rest] = lines.map((line) => line.replace(/^\d\d:\d\d:\d\d/, 'TIME'));
  expect([first, second]).toEqual(['TIME  ERROR  ingest failed', '  Error: first line']);
  expect(rest.filter((line) => !/^ {2}at /.test(line))).toEqual([
    '  second line',
    'TIME  WARNING  data full  reason=the disk is full',
    'TIME  data has room',
    'TIME  DEBUG  ingest polled  chains=1  prints=2  refusals=0  duration_ms=3',
    'TIME  WARNING  data refused  origin=a [2Jb.csv  reason=no rows',
  ]);
});
