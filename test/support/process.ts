import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dir, '../..');
export const FROM_SOURCE = [process.execPath, join(ROOT, 'src/main.ts')];
/** The program from source with an invented migration after the last one, so that it upgrades the databases of `FROM_SOURCE`. */
export const NEXT_VERSION = [
  process.execPath,
  '--preload',
  join(ROOT, 'test/support/next-version.ts'),
  join(ROOT, 'src/main.ts'),
];
/** Eight tickers of the standard universe. */
export const SMALL_UNIVERSE = join(ROOT, 'test/fixtures/universe.json');
/** An environment for `startServer` in which a server has the standard universe. */
export const ALL_TICKERS = { ZOMMA_UNIVERSE: '' };
export const BINARY = [join(ROOT, 'build/zomma')];
/**
 * The binary if the runner of the tests (scripts/test.ts) has built it, because it starts in a third of the processor time. In a single file
 * of tests, the program from source.
 */
export const PROGRAM = process.env.ZOMMA_TESTS_BUILT === 'true' ? BINARY : FROM_SOURCE;

let built: Promise<unknown> | undefined;

/** Builds the binary once per process, unless the runner of the tests (scripts/test.ts) has built it. Rejects if the build fails. */
export function buildBinary(): Promise<unknown> {
  if (process.env.ZOMMA_TESTS_BUILT === 'true') return Promise.resolve();
  built ??= run([process.execPath], [join(ROOT, 'build.ts')]).then(({ code, stderr }) => {
    if (code !== 0) throw new Error(stderr);
  });
  return built;
}

export interface Run {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, from a folder outside of the project, with this input and these variables. */
export async function run(
  command: readonly string[],
  args: readonly string[],
  stdin?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const child = Bun.spawn([...command, ...args], {
    cwd: tmpdir(),
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: stdin === undefined ? 'ignore' : Buffer.from(stdin),
    env: { ...cleanEnv(), ...env },
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** A process that serves. Its disposal ends it with SIGTERM. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** The output before the ready line. */
  readonly before: readonly string[];
  /** Resolves when the local data is loaded, according to the log. */
  readonly loaded: Promise<void>;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<number>;
  /** The log so far. */
  log(): string;
  /** Sends the signal and waits for the end. */
  stop(signal: 'SIGTERM' | 'SIGINT'): Promise<{ code: number; durationMs: number; stderr: string }>;
}

/** Starts a server and waits for its ready line. `env` is added to the environment. */
export async function startServer(
  command: readonly string[],
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const child = Bun.spawn([...command, ...args], {
    cwd: tmpdir(),
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
    env: { ...cleanEnv(), ...env },
  });
  const { text: stderr, loaded, log } = readLog(child.stderr);
  const lines: string[] = [];
  let buffer = '';
  const reader = child.stdout
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`ended before it was ready: ${await stderr}`);
    buffer += value;
    lines.push(...buffer.split('\n').slice(0, -1));
    buffer = buffer.slice(buffer.lastIndexOf('\n') + 1);
    const ready = lines.find((line) => line.startsWith('listening on '));
    if (ready === undefined) continue;
    return {
      url: ready.slice('listening on '.length),
      pid: child.pid,
      before: lines.slice(0, lines.indexOf(ready)),
      loaded,
      ended: child.exited,
      log,
      async stop(signal) {
        const startedAt = performance.now();
        child.kill(signal);
        const code = await child.exited;
        return { code, durationMs: performance.now() - startedAt, stderr: await stderr };
      },
      async [Symbol.asyncDispose]() {
        child.kill('SIGTERM');
        await child.exited;
      },
    };
  }
}

/** Starts a server and waits until its local data is loaded. */
export async function startLoaded(...given: Parameters<typeof startServer>): Promise<Server> {
  const server = await startServer(...given);
  await server.loaded;
  return server;
}

/** Adds a member with a process of its own. Returns the member's key. */
export async function addMember(command: readonly string[], dataDir: string, uuid: string): Promise<string> {
  const { stdout } = await run(command, ['members', 'add', '--uuid', uuid, '--json', '--data-dir', dataDir]);
  return JSON.parse(stdout).api_key;
}

/** Returns an object with the members of a value that exists only when a test runs. */
export function membersOf<Value extends object>(current: () => Value): Value {
  return new Proxy({} as Value, {
    get: (_, name) => Reflect.get(current(), name),
    set: (_, name, value) => Reflect.set(current(), name, value),
  });
}

/** Returns the demo key that `zomma start` has printed. */
export function keyOf({ before }: Pick<Server, 'before'>): string {
  return /ZOMMA_\w{16}/.exec(before.join('\n'))![0];
}

/** Reads the log of a server to its end. Resolves `loaded` when its line comes, or never. */
export function readLog(stderr: ReadableStream<Uint8Array>) {
  const loaded = Promise.withResolvers<void>();
  let read = '';
  const text = (async () => {
    for await (const piece of stderr.pipeThrough(
      new TextDecoderStream() as never,
    ) as unknown as AsyncIterable<string>) {
      read += piece;
      if (read.includes('"message":"loaded"')) loaded.resolve();
    }
    return read;
  })();
  return { text, loaded: loaded.promise, log: () => read };
}

/** Runs work with a new folder, and removes the folder afterwards. */
export async function withFolder<T>(work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-test-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The environment without the settings of the machine that runs the tests. Servers simulate the eight tickers of `SMALL_UNIVERSE`, unless
 * `env` is `ALL_TICKERS`, and fill no past unless `--past on` says so: the market of all tickers takes a second of a core at each start,
 * and its past takes a minute.
 */
export function cleanEnv(): Record<string, string> {
  const own = Object.entries(process.env).filter(([name]) => !OF_THE_MACHINE.test(name));
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    ZOMMA_PAST: 'off',
    ZOMMA_UNIVERSE: SMALL_UNIVERSE,
  };
}

const OF_THE_MACHINE = /^(?:ZOMMA_|OTEL_|NOTIFY_SOCKET$|WATCHDOG_|JOURNAL_STREAM$)/;
