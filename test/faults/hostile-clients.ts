import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAccess, openData } from '../../src/server/stored-data.ts';
import { beginStreamable, openSseStream, type Target } from '../support/mcp-wire.ts';
import { FROM_SOURCE, startServer } from '../support/process.ts';
import { Wire } from '../support/wire.ts';
import { callOn, connect, HONEST, type Honest, type HonestFigures } from './hostile/honest.ts';

export interface HostileFigures {
  readonly honest: readonly HonestFigures[];
  readonly attacks: readonly AttackFigures[];
  /**
   * Resident memory of the server in bytes: before the attacks, at its peak, and after all clients left. NaN if the system has no /proc.
   */
  readonly memory: { readonly before: number; readonly peak: number; readonly after: number };
  /** Descriptors that the server has open after all clients left, beyond those before. NaN if the system has no /proc. */
  readonly socketsLeft: number;
  readonly exitCode: number;
  /** Streams that the server closed, by reason. */
  readonly closed: Readonly<Record<string, number>>;
  /** Log lines at level error. */
  readonly errors: readonly string[];
}

export interface AttackFigures {
  readonly name: string;
  /** Answers by status, and other outcomes (`closed`, `refused`). */
  readonly seen: Readonly<Record<string, number>>;
}

/** The input of an attack: its keys, and a counter. */
export interface Battle {
  readonly url: string;
  readonly keys: readonly string[];
  /** The sessions of a member who is not an attacker, one on each transport: the address `/messages?…` and the id for `/mcp`. */
  readonly victim: { readonly endpoint: string; readonly sessionId: string };
  /** Revokes the keys of the attack's members. */
  revoke(): void;
  count(what: string | number): void;
  readonly isOver: () => boolean;
}

/** Runs every attack at once for this many seconds, beside honest clients, against a server in a separate process. */
export async function measureHostile(seconds: number, command: readonly string[]): Promise<HostileFigures> {
  const dataDir = mkdtempSync(join(tmpdir(), 'zomma-hostile-'));
  const server = await startServer(command, ['serve', '--port', '0', '--data-dir', dataDir, '--log-level', 'debug']);
  await server.loaded;
  const store = openData(dataDir);
  const access = openAccess(store, dataDir);
  let members = 0;
  const admit = async (): Promise<Target> => {
    const uuid = `00000000-0000-4000-8000-${String(++members).padStart(12, '0')}`;
    return { url: server.url, key: (await access.addMember({ uuid })).apiKey };
  };
  const measure = () => ({ memory: residentBytes(server.pid), sockets: descriptors(server.pid) });
  try {
    const honest: Honest[] = [];
    for (const name of HONEST) honest.push(await connect(name, await admit()));
    for (const each of honest) for (let call = 0; call < WARM_CALLS; call++) await each.call();
    const victim = await openVictim(await admit());
    const before = measure();
    let peak = 0;
    const watching = setInterval(() => {
      peak = Math.max(peak, residentBytes(server.pid));
    }, CHECK_MS);
    const endsAt = performance.now() + 1_000 * seconds;
    const attackers = Bun.spawn([process.execPath, ATTACKERS, server.url, dataDir, String(seconds), ...victim], {
      stdout: 'pipe',
      stderr: 'inherit',
    });
    const calls = await Promise.all(honest.map((each) => callOn(each, () => performance.now() >= endsAt)));
    const attacks = (await new Response(attackers.stdout).json()) as AttackFigures[];
    clearInterval(watching);
    const after = await measureWhenBack(measure, before);
    for (const { close } of honest) await close();
    const { code, stderr } = await server.stop('SIGTERM');
    const log = stderr.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    return {
      honest: calls,
      attacks,
      memory: { before: before.memory, peak, after: after.memory },
      socketsLeft: after.sockets - before.sockets,
      exitCode: code,
      closed: countBy(log.filter((each) => each.message === 'stream_closed').map((each) => each.reason)),
      errors: log.filter((each) => each.level === 'ERROR').map((each) => JSON.stringify(each)),
    };
  } finally {
    store.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const ATTACKERS = join(import.meta.dir, 'hostile/attackers.ts');
const WARM_CALLS = 20;
const CHECK_MS = 100;
/** Sockets that the honest clients keep open between their calls, beyond those of their first calls. */
export const POOLED_MAX = 10;
/** The part of the taken memory that may remain: compiled code, and sessions that their clients may return to. */
export const GROWTH_BYTES_MAX = 64 * 1024 * 1024;
/** A client that left must be gone from the server within this time. */
const LEFT_MS = 30_000;

/** Opens the sessions that attackers look for. Returns the address for posts and the id for `/mcp`. */
async function openVictim(target: Target): Promise<[endpoint: string, sessionId: string]> {
  const { endpoint } = await openSseStream(target);
  const headers = await beginStreamable(await Wire.open(target.url), target);
  return [endpoint, headers['Mcp-Session-Id']!];
}

/** Waits until the sockets of all clients that left are closed and the memory is back, or until the time limit. */
async function measureWhenBack<Usage extends { memory: number; sockets: number }>(
  measure: () => Usage,
  before: Usage,
): Promise<Usage> {
  const isBack = ({ memory, sockets }: Usage) =>
    !(sockets > before.sockets + POOLED_MAX) && !(memory > before.memory + GROWTH_BYTES_MAX);
  const deadline = performance.now() + LEFT_MS;
  while (!isBack(measure()) && performance.now() < deadline) await Bun.sleep(CHECK_MS);
  return measure();
}

function residentBytes(pid: number): number {
  try {
    return 4096 * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
  } catch {
    return Number.NaN;
  }
}

function descriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

function tableOf({ honest, attacks, memory, socketsLeft, exitCode, closed, errors }: HostileFigures): string {
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const said = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .map(([what, count]) => `${what}: ${count}`)
      .join(', ');
  return [
    '| honest | calls | failed | p50 ms | p99 ms | worst ms |',
    '|---|---|---|---|---|---|',
    ...honest.map(
      (each) =>
        `| ${each.name} | ${each.calls} | ${each.failures.length} ${each.failures[0]?.slice(0, 80) ?? ''} | ${each.p50.toFixed(1)} | ${each.p99.toFixed(1)} | ${each.max.toFixed(1)} |`,
    ),
    '',
    '| attack | seen |',
    '|---|---|',
    ...attacks.map(({ name, seen }) => `| ${name} | ${said(seen)} |`),
    '',
    `memory ${mib(memory.before)} before, ${mib(memory.peak)} at its peak, ${mib(memory.after)} after; sockets left ${socketsLeft}; exit code ${exitCode}`,
    `streams closed: ${said(closed)}; errors: ${errors.length} ${errors[0] ?? ''}`,
  ].join('\n');
}

/** `bun test/faults/hostile-clients.ts [SECONDS]` runs all attacks against a separate server and prints a table of the results. */
if (import.meta.main) {
  const figures = await measureHostile(Number(process.argv[2] ?? 60), FROM_SOURCE);
  console.log(tableOf(figures));
  process.exit(0);
}
