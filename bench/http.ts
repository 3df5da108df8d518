import { readFileSync } from 'node:fs';
import { arch, cpus, platform } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { BINARY, FROM_SOURCE, ROOT, run } from '../test/support/process.ts';
import { type Contest, type HttpTarget, RATE_LIMIT, type Runner, withContests } from './http-contests.ts';
import { keepSection, sectionUnder } from './page.ts';

const HEADING = '## Requests over sockets, beside other servers';

export interface HttpOptions {
  readonly connections: number;
  /** Rows of a batch. */
  readonly rows: number;
  readonly rounds: number;
  /** How long each server is asked in a round, ms. */
  readonly sliceMs: number;
}

const FULL: HttpOptions = { connections: 32, rows: 4_096, rounds: 21, sliceMs: 400 };
const TINY: HttpOptions = { connections: 4, rows: 64, rounds: 1, sliceMs: 20 };

/** Lower quartile, median and upper quartile over the rounds. */
export type Quartiles = readonly [low: number, median: number, high: number];

export interface Row {
  readonly name: string;
  /** Requests a second, median. */
  readonly rate: number;
  /** CPU time of the main thread a request, µs, median; NaN where the system does not tell. */
  readonly cpu: number;
  /** The contest's first row beside this one: its rate over this one's, and this one's CPU time over its. More is better for the first. */
  readonly rateRatio: Quartiles;
  readonly cpuRatio: Quartiles;
  /** Requests, all rounds together. */
  readonly requests: number;
}

export interface Table {
  readonly contest: Contest;
  readonly rows: readonly Row[];
}

export interface HttpFigures {
  readonly tables: readonly Table[];
  /** CPU time of the load generator a request, µs. */
  readonly clientCpu: number;
}

/** Measures a server that a command starts, in turns with its peers. */
export function measureHttp(command: readonly string[], options: HttpOptions): Promise<HttpFigures> {
  return withContests(command, options, async (contests) => {
    const slices = contests.map(({ runners }) => runners.map(() => [] as Slice[]));
    // The first round warms up: the compilers have climbed their tiers by its end.
    for (let round = -1; round < options.rounds; round++) {
      process.stderr.write(`round ${round + 1} of ${options.rounds} …\n`);
      for (const [at, { runners }] of contests.entries()) {
        for (let turn = 0; turn < runners.length; turn++) {
          const whose = (Math.max(0, round) + turn) % runners.length;
          const slice = await sliceOf(runners[whose]!, options.sliceMs);
          if (round >= 0) slices[at]![whose]!.push(slice);
        }
      }
    }
    return {
      tables: contests.map((contest, at) => ({ contest, rows: rowsOf(contest, slices[at]!) })),
      clientCpu: quantile(
        slices[0]!.flat().map(({ clientCpu }) => clientCpu),
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

/** A market that moves within a slice changes tags: such a slice is taken again. */
const TRIES = 3;

async function sliceOf(runner: Runner, ms: number): Promise<Slice> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const load = await runner.open();
    try {
      // One request on each connection: what it takes to accept them is no part of the slice.
      await load.run(0);
      const [server, client] = [mainThreadNs(runner.pid), mainThreadNs(process.pid)];
      const { requests, seconds, unexpected } = await load.run(ms);
      if (unexpected > 0) continue;
      return {
        requests,
        rate: requests / seconds,
        cpu: (mainThreadNs(runner.pid) - server) / requests / 1e3,
        clientCpu: (mainThreadNs(process.pid) - client) / requests / 1e3,
      };
    } finally {
      load.close();
    }
  }
  throw new Error(`${runner.name} answers with a status that is not expected`);
}

/** CPU time of a process's main thread so far; NaN where the system does not tell. */
function mainThreadNs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[0]);
  } catch {
    return Number.NaN;
  }
}

function rowsOf({ runners }: Contest, slices: readonly (readonly Slice[])[]): Row[] {
  const first = slices[0]!;
  return runners.map(({ name }, at) => {
    const own = slices[at]!;
    const median = (values: number[]) => quantile(values, 0.5);
    return {
      name,
      rate: median(own.map(({ rate }) => rate)),
      cpu: median(own.map(({ cpu }) => cpu)),
      rateRatio: quartiles(own.map(({ rate }, round) => first[round]!.rate / rate)),
      cpuRatio: quartiles(own.map(({ cpu }, round) => cpu / first[round]!.cpu)),
      requests: own.reduce((sum, { requests }) => sum + requests, 0),
    };
  });
}

function quartiles(values: readonly number[]): Quartiles {
  return [quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)];
}

/** What is measured of a target: undefined where it cannot be. */
function measured({ against, by }: HttpTarget, { rows }: Table): number | undefined {
  const row = rows.find(({ name }) => name === against);
  const value =
    by === 'rate' ? row?.rateRatio[1] : by === 'cpu' ? row?.cpuRatio[1] : 1 / (row?.cpuRatio[1] ?? Number.NaN);
  // Where Zomma is missing, the first row is another's.
  return rows[0]?.name.startsWith('Zomma') && Number.isFinite(value) ? value : undefined;
}

function isReached(target: HttpTarget, value: number): boolean {
  return target.by === 'time' ? value <= target.bound : value >= target.bound;
}

/** Targets that were measured and missed. */
export function missedTargets({ tables }: HttpFigures): HttpTarget[] {
  return tables.flatMap((table) =>
    table.contest.targets.filter((target) => {
      const value = measured(target, table);
      return value !== undefined && !isReached(target, value);
    }),
  );
}

/** The section as it stands on a page, to its end; empty where there is none. */
export function httpSection(page: string): string {
  return sectionUnder(HEADING, page);
}

export function sectionOf({ tables, clientCpu }: HttpFigures, { rounds, sliceMs }: HttpOptions): string {
  return `${HEADING}

Generated by \`bun bench/http.ts --write\` on ${cpus()[0]?.model ?? 'an unknown processor'}, ${platform()} ${arch()}, Bun ${Bun.version}.

Each server is a process of its own: Zomma the compiled binary on its simulated market, with keys, limits and logging as shipped (only the rate
is ${RATE_LIMIT}, so that the limiter, which counts all the same, refuses none); raw \`Bun.serve\` with a constant answer; raw \`Bun.serve\` that does the same work by hand (key looked
up, body parsed, the same kernel, the same header fields; kept answers and tags for GET); Elysia and Hono on Bun and Fastify on Node as their users write
them, without keys or limits, Elysia and Fastify with schemas, all by the same kernel. All give the same answers before anything is timed.
A load generator in another process keeps one request under way on each keep-alive connection; it needs ${figure(clientCpu)} µs of CPU a
\`POST\`, so a server that needs less is held back by it: its CPU time tells, its rate does not. Servers of a table take turns in slices of ${sliceMs} ms, ${rounds} rounds in
turning order; figures are medians, ratios are taken within each round (with their quartiles). CPU is that of the server's main thread.
${tables.map(tableText).join('')}`;
}

function tableText(table: Table): string {
  const { title, connections, missing, targets } = table.contest;
  const lines = table.rows.map(
    ({ name, rate, cpu, rateRatio, cpuRatio }) =>
      `| ${name} | ${Math.round(rate).toLocaleString('en-US')} | ${figure(cpu)} | ${ratio(rateRatio)} | ${ratio(cpuRatio)} |`,
  );
  const held = targets.map((target) => {
    const value = measured(target, table);
    const bound = `${target.by === 'time' ? '<=' : '>='} ${target.bound}`;
    const judged =
      value === undefined ? 'not measured' : `${isReached(target, value) ? 'reached' : 'missed'} (${value.toFixed(2)})`;
    return `- ${target.text} ${bound}: ${judged}\n`;
  });
  return `
| ${title}, ${connections === 1 ? 'one connection' : `${connections} connections`} | requests a second | CPU µs a request | rate of the first over it | its CPU over the first's |
|---|---|---|---|---|
${lines.join('\n')}
${missing.length > 0 ? `\nNot here: ${missing.join(', ')}.\n` : ''}${held.length > 0 ? `\n${held.join('')}` : ''}`;
}

function ratio([low, median, high]: Quartiles): string {
  return Number.isNaN(median) ? 'not measured' : `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

function figure(value: number): string {
  return Number.isNaN(value) ? 'not measured' : value.toPrecision(3);
}

/**
 * `bun bench/http.ts [--tiny] [--write]`: four minutes; `--write` puts the section into the page, where the other benches leave it. Ends
 * with 1 where a target is missed. `--tiny`: one short round from source, whose figures say nothing.
 */
if (import.meta.main) {
  const isTiny = process.argv.includes('--tiny');
  if (!isTiny) {
    const { code, stderr } = await run([process.execPath], [join(ROOT, 'build.ts')]);
    if (code !== 0) throw new Error(stderr);
  }
  const options = isTiny ? TINY : FULL;
  const figures = await measureHttp(isTiny ? FROM_SOURCE : BINARY, options);
  const section = sectionOf(figures, options);
  console.log(section);
  if (process.argv.includes('--write')) await keepSection(HEADING, section);
  process.exit(!isTiny && missedTargets(figures).length > 0 ? 1 : 0);
}
