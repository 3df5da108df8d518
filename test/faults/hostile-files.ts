import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, type Server, startServer } from '../support/process.ts';
import { StolenTime } from '../support/stolen-time.ts';
import { Chance } from './hostile/chance.ts';
import { answerOf, type Bomb, bombOf } from './hostile/file-bombs.ts';

/** Limits for the server and its child processes, whatever they read. */
export const MEMORY_MAX_BYTES = 512 * 1024 * 1024;
export const HEALTH_MS_MAX = 250;
export const STOP_MS_MAX = 5_000;

/** How a server coped with hostile data. */
export interface FileFigures {
  /** Peak resident memory of the server with its children, in bytes. NaN if the system has no /proc. */
  readonly peakBytes: number;
  readonly slowestHealthMs: number;
  readonly stopMs: number;
  readonly exitCode: number;
  /** The reasons of rejections, by origin. */
  readonly refused: Readonly<Record<string, string>>;
  /** Log lines at level error. */
  readonly errors: readonly string[];
}

/** Starts a server on a folder with these files, lets it read them, and stops it. */
export function measureFiles(bombs: readonly Pick<Bomb, 'name' | 'content'>[], command: readonly string[]) {
  return inFolder(async (folder) => {
    const drop = join(folder, 'drop');
    mkdirSync(drop);
    for (const { name, content } of bombs) writeFileSync(join(drop, name), content);
    return watched(command, folder, [`--feed=files:${drop}`], ({ loaded }) => loaded);
  });
}

/** Starts a server with a provider that sends these bodies, and waits until the server has requests for each and stored or refused data. */
export async function measureAnswers(bodies: readonly Uint8Array[], isChunked: boolean, command: readonly string[]) {
  let requests = 0;
  const provider = Bun.serve({
    port: 0,
    fetch() {
      const packed = Bun.gzipSync(Buffer.from(bodies[requests++ % bodies.length]!));
      const body = isChunked ? new Blob([packed]).stream() : packed;
      return new Response(body, { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } });
    },
  });
  try {
    return await inFolder((folder) => {
      const universe = join(folder, 'universe.json');
      writeFileSync(universe, JSON.stringify({ themes: { one: ['SPY'] } }));
      const feed = [
        '--feed=cboe',
        `--cboe-url=${provider.url.origin}`,
        '--feed-every=1',
        '--feed-hours=always',
        '--feed-rate=600',
      ];
      return watched(command, folder, [...feed, `--universe=${universe}`], async (server) => {
        while (requests < bodies.length || !/data_refused|chain_stored/.test(server.log())) await Bun.sleep(CHECK_MS);
      });
    });
  } finally {
    await provider.stop(true);
  }
}

const CHECK_MS = 10;
const PROBE = join(ROOT, 'bench/health-probe.ts');

async function watched(
  command: readonly string[],
  folder: string,
  args: readonly string[],
  until: (server: Server) => Promise<unknown>,
): Promise<FileFigures> {
  const common = ['serve', '--port=0', `--data-dir=${join(folder, 'data')}`, '--log-level=debug'];
  const server = await startServer(command, [...common, ...args]);
  const probe = Bun.spawn([process.execPath, PROBE, server.url], { stdin: 'pipe', stdout: 'pipe' });
  let peakBytes = Number.NaN;
  const watch = setInterval(() => {
    peakBytes = Math.max(residentBytes(server.pid), peakBytes || 0);
  }, CHECK_MS);
  try {
    await Promise.race([until(server), Bun.sleep(LOADED_MS_MAX)]);
    probe.stdin.end();
    const latencies = (await new Response(probe.stdout).json()) as number[];
    const { code, durationMs, stderr } = await server.stop('SIGTERM');
    const log = stderr.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const rejections = log.filter(({ message }) => message === 'data_refused');
    return {
      peakBytes,
      slowestHealthMs: Math.max(...latencies),
      stopMs: durationMs,
      exitCode: code,
      refused: Object.fromEntries(rejections.map(({ origin, reason }) => [origin, reason])),
      errors: log.filter(({ level }) => level === 'ERROR').map((line) => JSON.stringify(line)),
    };
  } finally {
    clearInterval(watch);
    probe.kill();
  }
}

/** By this time the server has read all files. */
const LOADED_MS_MAX = 60_000;

function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-hostile-files-'));
  return work(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

/** Returns the resident memory of a process and its children in bytes, or 0 if the process does not exist. */
function residentBytes(pid: number): number {
  try {
    const resident = 4096 * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean),
    );
    return children.reduce((sum, child) => sum + residentBytes(Number(child)), resident);
  } catch {
    return 0;
  }
}

/** Describes the broken promises. Returns an empty list if all promises hold. */
export function brokenPromises({ peakBytes, slowestHealthMs, stopMs, exitCode, errors }: FileFigures): string[] {
  const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return [
    ...(peakBytes > MEMORY_MAX_BYTES ? [`${mib(peakBytes)} of memory`] : []),
    ...(slowestHealthMs > HEALTH_MS_MAX ? [`/health after ${Math.round(slowestHealthMs)} ms`] : []),
    ...(stopMs > STOP_MS_MAX ? [`it stopped after ${Math.round(stopMs)} ms`] : []),
    ...(exitCode !== 0 ? [`exit code ${exitCode}`] : []),
    ...errors,
  ];
}

/**
 * Returns the figures of a measurement. Measures again if only /health was slow: once, because another process may have used the processor,
 * and up to ATTEMPTS_MAX times if the hypervisor kept a processor of this virtual machine from running meanwhile.
 */
export async function measuredFairly(measure: () => Promise<FileFigures>): Promise<FileFigures> {
  for (let attempt = 1; ; attempt++) {
    const stolen = new StolenTime();
    const figures = await measure();
    stolen.stop();
    const attemptsMax = stolen.total() >= STOLEN_MS_MIN ? ATTEMPTS_MAX : 2;
    if (figures.slowestHealthMs <= HEALTH_MS_MAX || attempt >= attemptsMax) return figures;
  }
}

const ATTEMPTS_MAX = 5;
/** A shorter standstill does not make an answer slow. */
const STOLEN_MS_MIN = 50;

/** Feeds random files and answers for this many seconds. Returns the broken promises, each with a description of the input. */
export async function fuzzFiles(
  seconds: number,
  seed: number,
  command: readonly string[],
  tell = (_line: string) => {},
) {
  const chance = new Chance(seed);
  const endsAt = performance.now() + 1_000 * seconds;
  const broken: string[] = [];
  for (let round = 0; performance.now() < endsAt; round++) {
    const isAnswers = round % 3 === 2;
    const bombs = isAnswers ? [] : Array.from({ length: 4 }, (_, i) => bombOf(chance, i));
    const answers = isAnswers ? [answerOf(chance), answerOf(chance)] : [];
    const isChunked = chance.below(2) === 0;
    const bodies = answers.map(({ body }) => body);
    const figures = await measuredFairly(() =>
      isAnswers ? measureAnswers(bodies, isChunked, command) : measureFiles(bombs, command),
    );
    const faults = brokenPromises(figures);
    const about = [...bombs, ...answers].map((each) => each.about).join(' | ');
    if (faults.length > 0) broken.push(`seed ${seed}, round ${round}: ${faults.join('; ')} (${about})`);
    const { peakBytes, slowestHealthMs, refused } = figures;
    tell(
      `${round} ${Math.round(peakBytes / 2 ** 20)} MiB ${Math.round(slowestHealthMs)} ms ${faults.join('; ')} ${about} -> ${JSON.stringify(refused)}`,
    );
  }
  return broken;
}

/** `bun test/faults/hostile-files.ts SECONDS [SEED]` runs against build/zomma if it exists, otherwise against the sources. */
if (import.meta.main) {
  const { BINARY, FROM_SOURCE } = await import('../support/process.ts');
  const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  const command = (await Bun.file(BINARY[0]!).exists()) ? BINARY : FROM_SOURCE;
  const broken = await fuzzFiles(Number(process.argv[2] ?? 60), seed, command, console.log);
  console.log(broken.length === 0 ? 'all promises held' : broken.join('\n'));
  process.exit(broken.length === 0 ? 0 : 1);
}
