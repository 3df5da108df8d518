import { Database } from 'bun:sqlite';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { createSimulatedFeed } from '../src/feeds/simulated/simulated-feed.ts';
import type { Chain } from '../src/market/chain.ts';
import { STANDARD_UNIVERSE } from '../src/market/universe.ts';
import { BINARY, ROOT, run, startServer, withFolder } from '../test/support/process.ts';
import { sectionUnder, writeSection } from './page.ts';
import { writeTape } from './tape.ts';

const HEADING = '## What holds the event loop';
/** Target: the longest step, and the 99th percentile of the time of a request to /health, ms. */
const STEP_MS_MAX = 25;
const KEY = /ZOMMA_[0-9A-HJKMNP-TV-Z]{16}/;
const FULL: StallOptions = { tapeRows: 420_000, tickers: 59, everyMs: 15_000, rounds: 4, batchRows: 20_000, calls: 20 };

export interface StallOptions {
  /** Number of prints of the tape that is moved to the drop folder. A million prints are a file of 250 MB. */
  readonly tapeRows: number;
  /** Number of tickers whose chains arrive. */
  readonly tickers: number;
  /** Time between two rounds, ms. In each round, the chains of all tickers arrive. */
  readonly everyMs: number;
  readonly rounds: number;
  /** Number of options in a batch. */
  readonly batchRows: number;
  /** Number of batches. */
  readonly calls: number;
}

export interface Stalls {
  /** The work of the service, as the table names it. */
  readonly load: string;
  /** Median, 99th percentile and longest time of a request to /health, ms. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Steps of more than 25 ms that the server's watchdog has logged, with their duration and CPU time, ms. */
  readonly reported: readonly { readonly step: string; readonly ms: number; readonly cpuMs: number }[];
}

/**
 * `bun bench/stalls.ts [--write]` takes three minutes. `--write` writes the section to docs/benchmarks.md. `bun run bench --write` leaves
 * this section unchanged.
 */
if (import.meta.main) {
  const { code, stderr } = await run([process.execPath], [join(ROOT, 'build.ts')]);
  if (code !== 0) throw new Error(stderr);
  const section = sectionOf(await measureStalls(BINARY, FULL), FULL);
  console.log(section);
  if (process.argv.includes('--write')) await writeSection(HEADING, section);
  process.exit(0);
}

/** Returns this benchmark's section of a page. Returns an empty text if the page does not have the section. */
export function stallsSection(page: string): string {
  return sectionUnder(HEADING, page);
}

/**
 * Requests /health from a service under load. The loads follow one after the other: no load, a tape, chains, batches of options, and two
 * tools whose extended answers take long. `command` starts the service.
 */
export function measureStalls(command: readonly string[], options: StallOptions): Promise<Stalls[]> {
  return withFolder(async (folder) => {
    const drop = join(folder, 'drop');
    mkdirSync(drop);
    const put = (name: string, write: (path: string) => void) => {
      write(join(folder, name));
      renameSync(join(folder, name), join(drop, name));
    };
    const chains = await simulatedChains(options.tickers);
    const flags = ['--feed', `files:${drop}`, '--data-dir', join(folder, 'data'), '--rate-limit', 'off'];
    const server = await startServer(command, ['start', '--port', '0', '--slow-step', String(STEP_MS_MAX), ...flags]);
    try {
      const measured: Stalls[] = [];
      const measure = async (load: string, work: () => Promise<unknown>) => {
        const before = server.log().length;
        const latencies = await probeDuring(server.url, work);
        measured.push({ load, ...quantiles(latencies), reported: reportedIn(server.log().slice(before)) });
      };
      await server.loaded;
      await measure('none', () => Bun.sleep(1_000));
      put('tape.csv', (path) => writeTape(path, options.tapeRows));
      await measure(`a tape of ${options.tapeRows.toLocaleString('en-US')} prints is loaded`, () =>
        waitUntilRead(join(folder, 'data'), 'tape.csv'),
      );
      await measure(`${options.tickers} chains arrive every ${options.everyMs / 1000} s`, async () => {
        for (let round = 0; round < options.rounds; round++) {
          for (const chain of chains) {
            put(`${chain.underlying}.csv`, (path) => writeFileSync(path, csvOf(chain, Date.now())));
          }
          await Bun.sleep(options.everyMs);
        }
        await waitUntilRead(join(folder, 'data'), `${chains.at(-1)!.underlying}.csv`);
      });
      const headers = { 'X-API-Key': KEY.exec(server.before.join(''))![0], 'Content-Type': 'application/json' };
      const post = async (path: string, body: object) => {
        const response = await fetch(`${server.url}/api/v1/${path}`, {
          method: 'POST',
          headers,
          body: JSON.stringify(body),
        });
        if (response.status !== 200) throw new Error(await response.text());
        await response.arrayBuffer();
      };
      const batch = batchOf(options.batchRows);
      await measure(`batches of ${options.batchRows.toLocaleString('en-US')} options`, async () => {
        for (let call = 0; call < options.calls; call++) await post('physics/greeks/batch', batch);
      });
      // Each ticker is requested only once, because the service caches the results of a snapshot.
      const tickers = chains.map(({ underlying }) => underlying);
      for (const [tool, offset] of [
        ['run_strategic_omni_radar', 0],
        ['detect_lethal_nodes', 1],
      ] as const) {
        await measure(`\`${tool}\`, extended, of a new snapshot each time`, async () => {
          for (let i = offset; i < tickers.length; i += 2)
            await post(`tools/${tool}?extended=true`, { ticker: tickers[i] });
        });
      }
      return measured;
    } finally {
      await server.stop('SIGTERM');
    }
  });
}

/** Runs `work` while another process requests /health. Returns the times of the answers, ms. */
async function probeDuring(url: string, work: () => Promise<unknown>): Promise<number[]> {
  const probe = Bun.spawn([process.execPath, join(import.meta.dir, 'health-probe.ts'), url], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  await work();
  await probe.stdin.end();
  return (await new Response(probe.stdout).json()) as number[];
}

function quantiles(latencies: readonly number[]): Pick<Stalls, 'p50' | 'p99' | 'max'> {
  const sorted = latencies.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1)! };
}

/** Returns the steps that the watchdog has logged. */
function reportedIn(log: string): Stalls['reported'] {
  return log.split('\n').flatMap((line) => {
    if (!line.includes('"message":"event_loop_blocked"')) return [];
    const { step = 'step not named', duration_ms: ms, cpu_ms: cpuMs } = JSON.parse(line);
    return [{ step, ms, cpuMs }];
  });
}

/** Waits until the feed has read a file of the drop folder to its end. */
async function waitUntilRead(dataDir: string, name: string): Promise<void> {
  const db = new Database(join(dataDir, 'zomma.sqlite'), { readonly: true });
  const select = db.prepare('SELECT 1 FROM feed_marks WHERE key LIKE ?');
  while (select.get(`% ${name}`) === null) await Bun.sleep(50);
  db.close();
}

/** Returns the first chains of the simulated market. */
async function simulatedChains(count: number): Promise<Chain[]> {
  const chains: Chain[] = [];
  for await (const delivery of createSimulatedFeed({ seed: 1, universe: STANDARD_UNIVERSE }).poll(Date.now())) {
    if (delivery.kind === 'chain') chains.push(delivery.chain);
    if (chains.length === count) break;
  }
  return chains;
}

/** Returns a chain as the text of a CSV file, with `at` as the moment of its quotes. */
function csvOf(chain: Chain, at: number): string {
  const head = `${chain.underlying},${new Date(at).toISOString()},${chain.spot}`;
  const lines = ['underlying,as_of,spot,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma'];
  const text = (value: number) => (Number.isNaN(value) ? '' : String(value));
  for (let row = 0; row < chain.count; row++) {
    const { expiry } = chain.series[chain.seriesIndex[row]!]!;
    const columns = [
      chain.bid,
      chain.ask,
      chain.last,
      chain.volume,
      chain.openInterest,
      chain.iv,
      chain.delta,
      chain.gamma,
    ];
    const cells = columns.map((column) => text(column[row]!));
    lines.push([head, expiry, chain.callPut[row] === 1 ? 'C' : 'P', chain.strike[row], ...cells].join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the body of a batch of options. */
function batchOf(rows: number) {
  const column = (from: number, to: number) => Array.from({ length: rows }, (_, i) => from + ((to - from) * i) / rows);
  return {
    put_call: Array.from({ length: rows }, (_, i) => (i % 2 === 0 ? 'C' : 'P')),
    spot: 100,
    strike: column(60, 140),
    tte: column(0.01, 2),
    iv: column(0.1, 0.8),
  };
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf(stalls: readonly Stalls[], options: StallOptions): string {
  const line = ({ load, p50, p99, max, reported }: Stalls) => {
    const worst = reported.toSorted((a, b) => b.ms - a.ms)[0];
    const steps = worst ? `${reported.length}, longest ${worst.ms} ms (${worst.step})` : '0';
    return `| ${load} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${max.toFixed(1)} | ${steps} |\n`;
  };
  const reached = (holds: boolean) => (holds ? 'reached' : 'missed');
  const loads = stalls.slice(1, 3);
  return `${HEADING}

Generated by \`bun bench/stalls.ts --write\` on ${cpus()[0]?.model ?? 'an unknown processor'}, ${platform()} ${arch()}, Bun ${Bun.version}.

The service reads a drop folder, or computes the requests that a row names. Meanwhile another process requests \`/health\` every 5 ms over a
loopback socket. A time begins when the request is sent. A request does not wait for the answer to an earlier one. A tape of
${options.tapeRows.toLocaleString('en-US')} prints is a file of some ${Math.round((options.tapeRows * 250) / 1e6)} MB. The last column is
the number of steps of more than ${STEP_MS_MAX} ms that the service's own watchdog has logged.

| load | p50, ms | p99, ms | worst, ms | steps over ${STEP_MS_MAX} ms |
|---|---|---|---|---|
${stalls.map(line).join('')}
- \`/health\` within ${STEP_MS_MAX} ms (p99) while tapes and chains are loaded: ${reached(loads.every(({ p99 }) => p99 <= STEP_MS_MAX))}
- no step over ${STEP_MS_MAX} ms: ${reached(stalls.every(({ reported }) => reported.length === 0))}
`;
}
