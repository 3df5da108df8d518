import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantile } from '../../src/bench/race.ts';
import { STEP_MS_MAX } from '../../src/core/event-loop-watchdog.ts';
import { BINARY, FROM_SOURCE, type Server, startServer, withFolder } from '../support/process.ts';
import { StolenTime } from '../support/stolen-time.ts';
import type { AttackName, Orders } from './members/attacks.ts';
import { type MarketSize, storeMarket, TAPED } from './members/data.ts';

/** An index, a chain close to the maximum size, and a tape of a million prints. */
export const FULL_SIZE: MarketSize = { prints: 1_000_000, indexContracts: 30_000, wideContracts: 190_000 };
const MEMBERS = 8;
const CHECK_MS = 5;
/** The requests beside the attacks: the liveness check, and an honest member's requests for the universe and levels. */
const HONEST_PATHS = ['/health', '/api/v1/universe', `/api/v1/nodes/gex/${TAPED}`] as const;

export interface Battle {
  readonly server: Server;
  readonly honestKey: string;
  readonly keys: readonly string[];
  /** Runs an attack by members, or random attacks by all, in a separate process. Measures the answers to honest clients. */
  attack(orders: Partial<Omit<Orders, 'url'>> & { readonly seconds: number }): Promise<Figures>;
}

export interface Figures {
  /** Count of each status, by attack. */
  readonly seen: Readonly<Record<AttackName, Readonly<Record<string, number>>>>;
  /** Answers to honest clients: times in ms and failures, by path. */
  readonly honest: Readonly<Record<string, ProbeFigures>>;
  /** The longest time for which the hypervisor kept one processor from running, ms in all. */
  readonly stolenMs: number;
  /** The longest step that the server's watchdog reported, by its CPU time in ms. */
  readonly longestStep: { readonly name: string | undefined; readonly cpuMs: number };
  /** Resident memory in MiB: before, and at its peak. NaN if the system has no /proc. */
  readonly memory: { readonly before: number; readonly peak: number };
  /** Answers with a status of 5xx other than 503. */
  readonly defects: number;
}

/** Times of answers, ms. `worst` leaves out the time for which the hypervisor kept a processor from running, and `slowest` has it. */
interface ProbeFigures {
  readonly p95: number;
  readonly worst: number;
  readonly slowest: number;
  readonly failures: number;
}

/** Runs a server over a generated market while `work` runs. */
export function withBattle<T>(
  { size, command, limits = [] }: { size: MarketSize; command: readonly string[]; limits?: readonly string[] },
  work: (battle: Battle) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const [dataDir, drop] = [join(folder, 'data'), join(folder, 'drop')];
    mkdirSync(drop);
    const [honestKey = '', ...keys] = await storeMarket(dataDir, size, 1 + MEMBERS);
    const args = [
      'serve',
      '--port',
      '0',
      '--slow-step',
      String(STEP_MS_MAX),
      '--data-dir',
      dataDir,
      '--feed',
      `files:${drop}`,
      ...limits,
    ];
    const server = await startServer(command, args);
    await server.loaded;
    try {
      return await work({
        ...{ server, honestKey, keys },
        attack: (orders) => measured(server, honestKey, { keys, seed: 1, ...orders, url: server.url }),
      });
    } finally {
      await server.stop('SIGTERM');
    }
  });
}

async function measured(server: Server, honestKey: string, orders: Orders): Promise<Figures> {
  const before = residentMib(server.pid, 'VmRSS');
  const logged = server.log().length;
  resetPeak(server.pid);
  let isOver = false;
  const stolen = new StolenTime();
  const probes = HONEST_PATHS.map((path) => probe(server.url + path, honestKey, stolen, () => isOver));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'members/attacks.ts'), JSON.stringify(orders)], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const seen = JSON.parse(await new Response(child.stdout).text()) as Figures['seen'];
  await child.exited;
  const peak = residentMib(server.pid, 'VmHWM');
  isOver = true;
  const honest = Object.fromEntries((await Promise.all(probes)).map((each, i) => [HONEST_PATHS[i], each]));
  stolen.stop();
  const statuses = Object.values(seen).flatMap((counts) => Object.entries(counts));
  const defects = statuses
    .filter(([status]) => /^5(?!03)\d\d$/.test(status))
    .reduce((sum, [, count]) => sum + count, 0);
  const longestStep = longestStepOf(server.log().slice(logged));
  return { seen, honest, stolenMs: stolen.total(), longestStep, memory: { before, peak }, defects };
}

async function probe(url: string, key: string, stolen: StolenTime, isOver: () => boolean): Promise<ProbeFigures> {
  const times: number[] = [];
  let worst = 0;
  let failures = 0;
  while (!isOver()) {
    const askedAt = performance.now();
    const answer = await fetch(url, { headers: { 'X-API-Key': key } });
    await answer.arrayBuffer();
    const now = performance.now();
    times.push(now - askedAt);
    if (now - askedAt > worst) worst = Math.max(worst, now - askedAt - stolen.between(askedAt, now));
    // The probe may reach its own rate limit: it sends some hundred requests per second.
    if (answer.status !== 200 && answer.status !== 429) failures++;
    await Bun.sleep(CHECK_MS);
  }
  return {
    p95: quantile(
      times.toSorted((a, b) => a - b),
      0.95,
    ),
    worst,
    slowest: Math.max(...times),
    failures,
  };
}

function longestStepOf(log: string): Figures['longestStep'] {
  let longest: Figures['longestStep'] = { name: undefined, cpuMs: 0 };
  for (const line of log.split('\n')) {
    if (!line.includes('"event_loop_blocked"')) continue;
    const { step, cpu_ms, duration_ms } = JSON.parse(line);
    // CPU time above the duration belongs to other threads.
    const cpuMs = Math.min(cpu_ms, duration_ms);
    if (cpuMs > longest.cpuMs) longest = { name: step, cpuMs };
  }
  return longest;
}

/** Returns the memory of a process in MiB, or NaN if the system has no /proc. */
export function residentMib(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

function resetPeak(pid: number): void {
  try {
    // Resets the peak.
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch {}
}

/** The largest share of a processor's time that the hypervisor may take for a failed round to count. */
const STOLEN_SHARE_MAX = 0.1;
const ATTEMPTS_MAX = 4;

/**
 * `bun test/faults/hostile-members.ts [SECONDS] [SEED]` runs each attack for 5 s, and then random attacks for SECONDS, against the compiled
 * binary without a rate limit. Exits with 1 if an honest client waited too long or the service failed. The seed repeats a run.
 * A round that failed is repeated if the hypervisor took the processor away meanwhile.
 */
if (import.meta.main) {
  const seconds = Number(process.argv[2] ?? 60);
  const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const command = process.env.ZOMMA_FROM_SOURCE ? FROM_SOURCE : BINARY;
  await withBattle({ size: FULL_SIZE, command, limits: ['--rate-limit', 'off'] }, async ({ attack, keys }) => {
    const { ATTACKS } = await import('./members/attacks.ts');
    let isGood = true;
    const isFine = ({ honest, defects }: Figures) =>
      defects === 0 &&
      Object.values(honest).every(({ p95, worst, failures }) => worst < 250 && p95 < 100 && failures === 0);
    const describe = ({ honest, stolenMs, longestStep, memory, seen }: Figures) => {
      const most = (of: (each: ProbeFigures) => number) => Math.max(...Object.values(honest).map(of)).toFixed(1);
      return (
        `honest p95 ${most(({ p95 }) => p95)} worst ${most(({ worst }) => worst)} ms, ${most(({ failures }) => failures)} failures; ` +
        `slowest ${most(({ slowest }) => slowest)} ms with ${stolenMs} ms stolen by the hypervisor; ` +
        `longest step ${longestStep.cpuMs} ms (${longestStep.name}); memory ${memory.before.toFixed(0)} to ${memory.peak.toFixed(0)} MiB; ` +
        JSON.stringify(seen)
      );
    };
    /** Repeats a round that failed while the hypervisor often kept a processor from running: such a round says nothing. */
    const round = async (what: string, orders: Parameters<typeof attack>[0]) => {
      for (let attempt = 1; ; attempt++) {
        const figures = await attack(orders);
        const isVoid = figures.stolenMs > STOLEN_SHARE_MAX * 1_000 * orders.seconds && attempt < ATTEMPTS_MAX;
        const verdict = isFine(figures) ? 'ok  ' : isVoid ? 'void' : 'FAIL';
        console.log(`${verdict} ${what}: ${describe(figures)}`);
        if (verdict === 'void') continue;
        isGood &&= verdict === 'ok  ';
        return;
      }
    };
    for (const name of Object.keys(ATTACKS) as AttackName[]) {
      await round(name, { name, keys: keys.slice(0, 1), seconds: 5, seed });
    }
    // In pieces of 20 s, so that the seed of a failure reproduces it soon.
    for (let s = 0; s < seconds; s += 20) {
      await round(`at random, seed ${seed + s}`, { seconds: Math.min(20, seconds - s), seed: seed + s });
    }
    process.exitCode = isGood ? 0 : 1;
  });
  process.exit();
}
