import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BINARY, withFolder } from '../test/support/process.ts';
import { missingPeers, startPeerWorker } from './peer-process.ts';
import { writeTape } from './tape.ts';
import { generatedBy, inTurns, type Median, medianOf, medianText, ratioOf, runSection, targetLine } from './turns.ts';

const HEADING = '## Ingest of a tape of option prints, 28 columns';
/** Targets: CPU time of a row, µs; CPU time over that of DuckDB; more memory for four times the rows, MiB; time onto a full day over time onto none. */
const TARGETS = { row: 4, duckdb: 2, memoryMib: 32, onto: 1.15 } as const;
const LOOK_MS = 50;
const MIB = 1024 * 1024;

export interface TapeOptions {
  readonly rows: number;
  readonly rounds: number;
}

export interface TapeFigures {
  readonly missing: readonly string[];
  /** CPU time of `zomma ingest` of a tape into a new store, and of DuckDB's copy of the same file to a table, ms. */
  readonly ours: Median;
  readonly duckdb: Median;
  readonly ratio: Median;
  /** Rows a second of the last ingest. */
  readonly perSecond: number;
  /** Peak memory of the ingest of the tape, and of a tape four times as long, bytes. */
  readonly peaks: readonly [number, number];
  /** CPU time of the tape that is four times as long, ms, and of as many rows as before onto the same day. */
  readonly longMs: number;
  readonly ontoMs: number;
}

/** Measures `zomma ingest` beside DuckDB, then the memory and the time of a day that already has four times as many prints. */
export function measureTapes(command: readonly string[], { rows, rounds }: TapeOptions): Promise<TapeFigures> {
  const missing = missingPeers([], ['@duckdb/node-api']);
  return withFolder(async (folder) => {
    const [short, long, more, data] = ['short.csv', 'long.csv', 'more.csv', 'data'].map((name) =>
      join(folder, name),
    ) as [string, string, string, string];
    writeTape(short, rows);
    const runs: Loaded[] = [];
    const ours = async () => {
      rmSync(data, { recursive: true, force: true });
      runs.push(await ingest(command, short, data, rows));
      return runs.at(-1)!.cpuMs;
    };
    const figures =
      missing.length > 0
        ? await inTurns(rounds, [ours])
        : await besideDuckdb(short, join(folder, 'tape.duckdb'), rounds, ours);
    rmSync(data, { recursive: true, force: true });
    writeTape(long, 4 * rows, 8);
    const longRun = await ingest(command, long, data, 4 * rows);
    rmSync(long);
    writeTape(more, rows, 9);
    const onto = await ingest(command, more, data, rows);
    return {
      missing,
      ours: medianOf(figures[0]!),
      duckdb: medianOf(figures[1] ?? []),
      ratio: ratioOf(figures[0]!, figures[1] ?? []),
      perSecond: runs.at(-1)!.perSecond,
      peaks: [medianOf(runs.map(({ peakBytes }) => peakBytes))[1], longRun.peakBytes],
      longMs: longRun.cpuMs,
      ontoMs: onto.cpuMs,
    };
  });
}

async function besideDuckdb(
  path: string,
  database: string,
  rounds: number,
  ours: () => Promise<number>,
): Promise<number[][]> {
  using worker = startPeerWorker();
  const peer = async () => (await worker.ask<{ cpuMs: number }>({ do: 'tape', path, database })).cpuMs;
  return await inTurns(rounds, [ours, peer]);
}

interface Loaded {
  readonly cpuMs: number;
  readonly perSecond: number;
  readonly peakBytes: number;
}

/** Loads a tape in a process of its own, because the system measures the peak memory of a process. */
async function ingest(command: readonly string[], tape: string, dataDir: string, rows: number): Promise<Loaded> {
  const args = ['ingest', tape, '--json', '--data-dir', dataDir];
  const child = Bun.spawn([...command, ...args], { stdout: 'pipe', stderr: 'inherit', stdin: 'ignore' });
  let peakBytes = 0;
  const watch = setInterval(() => {
    peakBytes = Math.max(peakBytes, peakOf(child.pid));
  }, LOOK_MS);
  const { kept, rows_per_second: perSecond } = (await new Response(child.stdout).json()) as {
    kept: number;
    rows_per_second: number;
  };
  clearInterval(watch);
  await child.exited;
  if (kept !== rows) throw new Error(`zomma ingest stored ${kept} of ${rows} prints`);
  return { cpuMs: Number(child.resourceUsage()!.cpuTime.total) / 1e3, perSecond, peakBytes };
}

/**
 * Returns the peak of a process's resident memory so far, bytes. Returns 0 if the system has no /proc, or if the process has ended.
 * `getrusage` would also count the memory of the parent process when it started the child.
 */
function peakOf(pid: number): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return 1024 * Number(kilobytes ?? 0);
  } catch {
    return 0;
  }
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf(figures: TapeFigures, { rows }: TapeOptions): string {
  const { missing, ours, duckdb, ratio, perSecond, peaks, longMs, ontoMs } = figures;
  const each = (ms: Median, count: number) => medianText(ms.map((value) => (1e3 * value) / count) as unknown as Median);
  const count = (value: number) => value.toLocaleString('en-US');
  const mib = (bytes: number) => Math.round(bytes / MIB).toString();
  const [isJudged, none] = [rows >= 100_000, Number.NaN];
  const more = (peaks[1] - peaks[0]) / MIB;
  return `${HEADING}

${generatedBy('bun bench/tape-ingest.ts')}

\`zomma ingest\` loads an artificial tape of one ticker-day into a new store, in turns with DuckDB, which copies the same file to a table with typed
columns of a new file, on one thread. CPU times are of all threads of a process, medians with their 95 % interval. DuckDB finds no duplicates, no
corrections and no aggressors. The longer tape, and the prints onto the same day, are loaded once.
${missing.length > 0 ? `\nNot installed: ${missing.join(', ')}. On another machine, DuckDB took 1.8 to 2.3 s for 1,000,000 rows.\n` : ''}
| | CPU µs a row | peak memory, MiB |
|---|---|---|
| \`zomma ingest\`, ${count(rows)} rows, ${count(perSecond)} a second | ${each(ours, rows)} | ${mib(peaks[0])} |
| DuckDB, the same file | ${each(duckdb, rows)} | |
| \`zomma ingest\`, ${count(4 * rows)} rows | ${((1e3 * longMs) / 4 / rows).toPrecision(3)} | ${mib(peaks[1])} |
| ${count(rows)} rows onto these | ${((1e3 * ontoMs) / rows).toPrecision(3)} | |

${targetLine('CPU of a row, µs', isJudged ? (1e3 * ours[1]) / rows : none, TARGETS.row)}${targetLine(`CPU over DuckDB's, here ${medianText(ratio)}`, isJudged ? ratio[1] : none, TARGETS.duckdb)}${targetLine('more memory for a tape four times as long, MiB', isJudged ? more : none, TARGETS.memoryMib)}${targetLine('time onto a day of four times as many prints, over the time onto none', isJudged ? ontoMs / ours[1] : none, TARGETS.onto)}`;
}

/** `bun bench/tape-ingest.ts [--write]` takes three minutes. */
if (import.meta.main) {
  const options = { rows: 1_000_000, rounds: 3 };
  await runSection(HEADING, async () => sectionOf(await measureTapes(BINARY, options), options));
}
