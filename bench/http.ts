import { mkdtempSync, readdirSync } from 'node:fs';
import { arch, cpus, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { BINARY, FROM_SOURCE, ROOT, run } from '../test/support/process.ts';
import { type Contest, type HttpTarget, RATE_LIMIT, withContests, ZOMMA } from './http-contests.ts';
import type { Runner } from './http-runners.ts';
import { writeSection } from './page.ts';
import { cpuOf } from './turns.ts';

const HEADING = '## Requests over sockets, beside other servers';

export interface HttpOptions {
  readonly connections: number;
  /** Number of options in a batch. */
  readonly rows: number;
  /** Number of rounds that are measured. One more round before them is a warm-up. */
  readonly rounds: number;
  /** Time for which each runner is measured in a round, ms. */
  readonly sliceMs: number;
  /** Measures only the contests whose title contains this word. */
  readonly only?: string | undefined;
}

const FULL: HttpOptions = { connections: 32, rows: 20_000, rounds: 21, sliceMs: 400 };
const TINY: HttpOptions = { connections: 4, rows: 64, rounds: 1, sliceMs: 20 };

/** Lower quartile, median and upper quartile over the rounds. */
export type Quartiles = readonly [low: number, median: number, high: number];

export interface Row {
  readonly name: string;
  /** Requests a second, median. */
  readonly rate: number;
  /** CPU time of the contest's threads for each request, µs, median. NaN if the system has no /proc. */
  readonly cpu: number;
  /** Zomma's rate divided by this runner's. A larger value is better for Zomma. NaN if Zomma is not in the contest. */
  readonly rateRatio: Quartiles;
  /** This runner's CPU time divided by Zomma's. A larger value is better for Zomma. NaN if Zomma is not in the contest. */
  readonly cpuRatio: Quartiles;
  /** Number of requests in all rounds. */
  readonly requests: number;
}

export interface Table {
  readonly contest: Contest;
  readonly rows: readonly Row[];
}

export interface HttpFigures {
  readonly tables: readonly Table[];
  /** CPU time of the load generator for each request of the first contest, µs, median. */
  readonly clientCpu: number;
}

/** Measures Zomma, which `command` starts, and the other servers. The servers of a contest take turns. */
export function measureHttp(command: readonly string[], options: HttpOptions): Promise<HttpFigures> {
  return withContests(command, options, async (all) => {
    const contests = all.filter(({ title }) => title.toLowerCase().includes((options.only ?? '').toLowerCase()));
    const slices = contests.map(({ runners }) => runners.map(() => [] as Slice[]));
    // The first round is a warm-up. When it ends, the JIT compilers have optimised the code that runs often.
    for (let round = -1; round < options.rounds; round++) {
      process.stderr.write(`round ${round + 1} of ${options.rounds} …\n`);
      for (const [i, { runners, threads }] of contests.entries()) {
        for (let turn = 0; turn < runners.length; turn++) {
          const whose = (Math.max(0, round) + turn) % runners.length;
          const slice = await sliceOf(runners[whose]!, options.sliceMs, threads);
          if (round >= 0) slices[i]![whose]!.push(slice);
        }
      }
    }
    return {
      tables: contests.map((contest, i) => ({ contest, rows: rowsOf(contest, slices[i]!) })),
      clientCpu: quantile(
        (slices[0] ?? []).flat().map(({ clientCpu }) => clientCpu),
        0.5,
      ),
    };
  });
}

interface Slice {
  readonly rate: number;
  readonly cpu: number;
  readonly clientCpu: number;
  readonly requests: number;
}

/** Limit on the measurements of a slice. If the simulated market moves during a slice, the ETag changes, and the slice is measured again. */
const TRIES = 3;

async function sliceOf(runner: Runner, ms: number, threads: 'main' | 'all' = 'main'): Promise<Slice> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const load = await runner.open();
    try {
      // The first request of each connection is not measured, because the server accepts the connection with it.
      await load.run(0);
      const [server, client] = [cpuOf(runner.pid)[threads], cpuOf(process.pid).main];
      const { requests, seconds, unexpected } = await load.run(ms);
      if (unexpected > 0) continue;
      return {
        requests,
        rate: requests / seconds,
        cpu: (1e3 * (cpuOf(runner.pid)[threads] - server)) / requests,
        clientCpu: (1e3 * (cpuOf(process.pid).main - client)) / requests,
      };
    } finally {
      load.close();
    }
  }
  throw new Error(`${runner.name} answers with an unexpected status`);
}

function rowsOf({ runners }: Contest, slices: readonly (readonly Slice[])[]): Row[] {
  const zomma = slices[runners.findIndex(({ name }) => name.startsWith(ZOMMA))];
  return runners.map(({ name }, i) => {
    const own = slices[i]!;
    const median = (of: (slice: Slice) => number) => quantile(own.map(of), 0.5);
    return {
      name,
      rate: median(({ rate }) => rate),
      cpu: median(({ cpu }) => cpu),
      rateRatio: quartiles(own.map(({ rate }, round) => (zomma?.[round]?.rate ?? Number.NaN) / rate)),
      cpuRatio: quartiles(own.map(({ cpu }, round) => cpu / (zomma?.[round]?.cpu ?? Number.NaN))),
      requests: own.reduce((sum, { requests }) => sum + requests, 0),
    };
  });
}

function quartiles(values: readonly number[]): Quartiles {
  return [quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)];
}

/** Returns the figure that is compared with a target's bound. Returns `undefined` if one of the two runners was not measured. */
function measured({ against, by }: HttpTarget, { rows }: Table): number | undefined {
  const row = rows.find(({ name }) => name === against);
  if (!row) return undefined;
  const value = by === 'rate' ? row.rateRatio[1] : by === 'cpu' ? row.cpuRatio[1] : 1 / row.cpuRatio[1];
  return Number.isNaN(value) ? undefined : value;
}

function isReached(target: HttpTarget, value: number): boolean {
  return target.by === 'time' ? value <= target.bound : value >= target.bound;
}

/** Returns the targets that were measured and missed. */
export function missedTargets({ tables }: HttpFigures): HttpTarget[] {
  return tables.flatMap((table) =>
    table.contest.targets.filter((target) => {
      const value = measured(target, table);
      return value !== undefined && !isReached(target, value);
    }),
  );
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf({ tables, clientCpu }: HttpFigures, { rounds, sliceMs }: HttpOptions): string {
  const processor = cpus()[0]?.model ?? 'an unknown processor';
  return `${HEADING}

Generated by \`bun bench/http.ts --write\` on ${processor}, ${platform()} ${arch()}, Bun ${Bun.version}.

Each server runs in its own process on a loopback port: Zomma as compiled, on its simulated market, with a limit of ${RATE_LIMIT} and everything
else as by default; raw \`Bun.serve\` with the same work (key, body, kernel, header fields, ETags); Elysia, Hono and Fastify on ${nodeVersion()},
without keys and limits. A server is timed only if its answer equals Zomma's.

A load generator always has one request in progress on each connection. It takes ${figure(clientCpu)} µs of CPU time for each request, so it
bounds the rate of faster servers. CPU is that of the server's main thread, or of all threads for batches as JSON. Servers take turns in slices of ${sliceMs} ms, in ${rounds} rounds.
Figures are medians, and ratios are computed within each round, with quartiles in parentheses. Batches are sent one after the other, and compared
with the same work without any server.

\`bun bench/http.ts --profile gex\` profiles Zomma from source with the requests of the tables whose title contains \`gex\`.
${tables.map(tableText).join('')}`;
}

function tableText(table: Table): string {
  const { title, connections, missing, targets } = table.contest;
  const lines = table.rows.map(
    ({ name, rate, cpu, rateRatio, cpuRatio }) =>
      `| ${name} | ${figure(rate)} | ${figure(cpu)} | ${ratio(rateRatio)} | ${ratio(cpuRatio)} |`,
  );
  const judged = targets.map((target) => {
    const value = measured(target, table);
    const verdict = value === undefined ? 'not measured' : isReached(target, value) ? 'reached' : 'missed';
    const shown = value === undefined ? '' : ` (${value.toFixed(2)})`;
    return `- ${target.text} ${target.by === 'time' ? '<=' : '>='} ${target.bound}: ${verdict}${shown}\n`;
  });
  const asked = connections === 1 ? 'one connection' : `${connections} connections`;
  return `
| ${title}, ${asked} | requests a second | CPU µs a request | Zomma's rate over this row's | this row's CPU over Zomma's |
|---|---|---|---|---|
${lines.join('\n')}
${missing.length > 0 ? `\nNot measured: ${missing.join(', ')}.\n` : ''}${judged.length > 0 ? '\n' : ''}${judged.join('')}`;
}

function ratio([low, median, high]: Quartiles): string {
  return Number.isNaN(median) ? 'not measured' : `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

function figure(value: number): string {
  if (Number.isNaN(value)) return 'not measured';
  return value < 1_000 ? value.toPrecision(3) : Math.round(value).toLocaleString('en-US');
}

function nodeVersion(): string {
  return Bun.which('node') ? `Node ${Bun.spawnSync(['node', '--version']).stdout.toString().trim().slice(1)}` : 'Node';
}

/**
 * Runs Zomma from source with Bun's profiler, and sends the requests of the first contest whose title contains the word. Returns the first
 * lines of the profile and the name of its file. Throws an error if no title contains the word.
 */
async function profile(word: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-profile-'));
  const [bun, ...main] = FROM_SOURCE;
  const command = [bun!, '--cpu-prof-md', '--cpu-prof-dir', folder, '--cpu-prof-interval', '250', ...main];
  await withContests(command, FULL, async (contests) => {
    const contest = contests.find(({ title }) => title.toLowerCase().includes(word.toLowerCase()));
    if (!contest)
      throw new Error(
        `no table has a title with "${word}". The titles are: ${contests.map(({ title }) => title).join(', ')}`,
      );
    await sliceOf(contest.runners[0]!, PROFILE_MS);
  });
  const file = join(folder, readdirSync(folder)[0]!);
  const lines = (await Bun.file(file).text()).split('\n');
  return [...lines.slice(0, PROFILE_LINES), '', file].join('\n');
}

/** Time for which a profile is taken, ms. */
const PROFILE_MS = 10_000;
/** Lines of the profile that are printed. The functions that take the most time themselves come first. */
const PROFILE_LINES = 60;

/**
 * `bun bench/http.ts [--tiny] [--write] [--only WORD] [--profile [WORD]]` takes three minutes, and exits with 1 if a target is missed.
 * `--only` measures the tables whose title contains the word. `--write` writes the section to docs/benchmarks.md. `--tiny` runs one short round from source, whose figures mean nothing, and never writes them.
 * `--profile` profiles Zomma instead.
 */
if (import.meta.main) {
  const isTiny = process.argv.includes('--tiny');
  const profileAt = process.argv.indexOf('--profile');
  if (profileAt > 0) {
    console.log(await profile(process.argv[profileAt + 1] ?? 'greeks'));
    process.exit(0);
  }
  if (!isTiny) {
    const { code, stderr } = await run([process.execPath], [join(ROOT, 'build.ts')]);
    if (code !== 0) throw new Error(stderr);
  }
  const onlyAt = process.argv.indexOf('--only');
  const options = { ...(isTiny ? TINY : FULL), ...(onlyAt > 0 && { only: process.argv[onlyAt + 1] }) };
  const figures = await measureHttp(isTiny ? FROM_SOURCE : BINARY, options);
  const section = sectionOf(figures, options);
  console.log(section);
  if (!isTiny && onlyAt < 0 && process.argv.includes('--write')) await writeSection(HEADING, section);
  process.exit(!isTiny && missedTargets(figures).length > 0 ? 1 : 0);
}
