import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { PROGRAM, run } from '../../support/process.ts';
import { testFolder } from '../../support/test-folder.ts';
import { VALID } from '../connect.ts';
import { type Message, OPENING } from './line-client.ts';
import { type ScriptedServer, scriptedServer } from './scripted-server.ts';

/** How the process `zomma mcp` ends. */
const at = testFolder();
let server: ScriptedServer;
beforeEach(() => {
  server = scriptedServer();
});
afterEach(() => server.stop());

const WAYS: [string, () => string[], RegExp][] = [
  ['without a server', () => ['--data-dir', at('data')], /^zomma: nothing is stored in .*simulated market\n$/],
  ['in front of a server', () => ['--url', server.url.href, '--key', 'ZOMMA_0000000000000000'], /^$/],
];

describe.each(WAYS)('%s', (_name, args, notice) => {
  test('answers all piped input, writes nothing else, and ends', async () => {
    const calls = Object.entries(VALID).filter(([, given]) => !('target_expiry' in given));
    const requests = [
      OPENING,
      ...calls.map(([name, given], i) => ({ ...CALL, id: i + 1, params: { name, arguments: given } })),
    ];
    const { code, stdout, stderr } = await run([...PROGRAM, 'mcp'], args(), lines(requests));
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Message);
    expect(answers.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(requests.map(({ id }) => id));
    expect(code).toBe(0);
    expect(stderr).toMatch(notice);
  });

  test('refuses JSON that is not a message, and continues', async () => {
    const requests = `{"id":1.5}\n[]\nno JSON at all\n${lines([PING])}`;
    const { stdout } = await run([...PROGRAM, 'mcp'], args(), requests);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.filter(({ error }) => error?.code === -32600)).toHaveLength(2);
    expect(answers).toHaveLength(3);
  });

  test('ends when its reader is gone', async () => {
    const child = await started(args(), ['sh', '-c', '"$@" | head -n 1', 'sh']);
    // The pipe may take one more answer before it breaks.
    while (child.exitCode === null) {
      say(child, lines([PING]));
      // Write no faster than the process reads: a full pipe does not show that its other end is gone.
      await Promise.race([child.exited, Bun.sleep(10)]);
    }
    expect(child.exitCode).toBe(0);
    expect(await new Response(child.stderr).text()).toMatch(notice);
  });

  test('ends after a line that is too long', async () => {
    const child = await started(args());
    say(child, 'x'.repeat(11 * 1024 * 1024));
    expect(await child.exited).toBe(0);
    expect(await new Response(child.stderr).text()).toMatch(/zomma: .*buffer.*\n$/i);
  });
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends the process while its input is open', async (signal) => {
  const child = await started(['--data-dir', at('data')]);
  child.kill(signal);
  expect(await child.exited).toBe(0);
});

const CALL = { method: 'tools/call' };
const PING = { id: 1, method: 'ping' };

function lines(messages: readonly Message[]): string {
  return messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
}

/** Starts a process that has answered once and whose input stays open. */
async function started(args: readonly string[], through: readonly string[] = []) {
  const child = Bun.spawn([...through, ...PROGRAM, 'mcp', ...args], {
    ...{ cwd: tmpdir(), stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
  });
  say(child, lines([PING]));
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return child;
}

/** Writes to the process. It does not matter whether the process reads all of the text. */
function say({ stdin }: { readonly stdin: Bun.FileSink }, text: string): void {
  try {
    void Promise.allSettled([stdin.write(text), stdin.flush()]);
  } catch {
    // The process ended before the first byte.
  }
}
