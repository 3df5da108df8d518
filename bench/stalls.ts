import { Database } from 'bun:sqlite';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { createSimulatedFeed } from '../src/feeds/simulated/simulated-feed.ts';
import type { Chain } from '../src/market/chain.ts';
import { STANDARD_UNIVERSE } from '../src/market/universe.ts';
import { BINARY, startServer, withFolder } from '../test/support/process.ts';
import { CHAINS, CHAINS_ARE, csvOf, putChain } from './chain-files.ts';
import { batchOf } from './http-servers/batch.ts';
import { dropQuotes, listMarket } from './market-files.ts';
import { writeTape } from './tape.ts';
import { generatedBy, runSection, untilIdle } from './turns.ts';

const HEADING = '## What holds the event loop';
/** Target: the longest step, and the 99th percentile of the time of a request to /health, ms. */
const STEP_MS_MAX = 25;
/** Paths of answers of the index. */
const ANSWERS = [
  ...['view', 'profile', 'strikes', 'expiries', 'matrix', 'hedging'].map((each) => `nodes/gex/${CHAINS.index}/${each}`),
  ...[`surface/${CHAINS.index}?detail=grid`, 'screen'],
];
const KEY = /ZOMMA_[0-9A-HJKMNP-TV-Z]{16}/;
const FULL: StallOptions = {
  ...{ tapeRows: 420_000, tickers: 59, everyMs: 15_000, rounds: 4 },
  ...{ names: 600, batchRows: 20_000, calls: 20 },
};

export interface StallOptions {
  /** Number of prints of the tape that is moved to the drop folder. A million prints are a file of 250 MB. */
  readonly tapeRows: number;
  /** Number of tickers whose chains arrive. */
  readonly tickers: number;
  /** Time between two rounds, ms. In each round, the chains of all tickers arrive. */
  readonly everyMs: number;
  readonly rounds: number;
  /** Number of names whose chains of 250 contracts arrive at once, with the chain of an index beside. */
  readonly names: number;
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
 * Requests /health from a service under load. The loads follow one after the other: no load, a tape, chains, many names and an index, the
 * answers of the index, batches of options, and two tools whose extended answers take long. `command` starts the service.
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
      await measure(`${options.names} names and the chain of an index (${CHAINS.index}) arrive at once`, async () => {
        putChain(folder, 'index');
        put(`${CHAINS.index}.csv`, () => {});
        const now = Date.now();
        const market = listMarket(options.names, now, 5, () => 25);
        for (const [i, each] of market.entries()) {
          dropQuotes(folder, drop, each, 1, now);
          // The writing of the files leaves the probe and the service time.
          if (i % 20 === 0) await Bun.sleep(1);
        }
        await waitUntilRead(join(folder, 'data'), `${market.at(-1)!.ticker}.csv`);
        await waitUntilRead(join(folder, 'data'), `${CHAINS.index}.csv`);
        await untilIdle(server.pid);
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
      await measure(
        `first answers of ${CHAINS.index} on ${ANSWERS.length} routes, view and surface grid among them`,
        async () => {
          for (const path of ANSWERS) {
            const response = await fetch(`${server.url}/api/v1/${path}`, { headers });
            if (response.status !== 200) throw new Error(await response.text());
            await response.arrayBuffer();
          }
        },
      );
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
export function reportedIn(log: string): Stalls['reported'] {
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
  for await (const delivery of createSimulatedFeed({ seed: 1, universe: STANDARD_UNIVERSE, clock: 'real' }).poll(
    Date.now(),
  )) {
    if (delivery.kind === 'chain') chains.push(delivery.chain);
    if (chains.length === count) break;
  }
  return chains;
}

/** Returns the section of docs/benchmarks.md with these figures. */
export function sectionOf(stalls: readonly Stalls[], options: StallOptions): string {
  const line = ({ load, p50, p99, max, reported }: Stalls) => {
    const worst = reported.toSorted((a, b) => b.cpuMs - a.cpuMs)[0];
    const steps = worst ? `${reported.length}, most CPU ${worst.cpuMs} of ${worst.ms} ms (${worst.step})` : '0';
    return `| ${load} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${max.toFixed(1)} | ${steps} |\n`;
  };
  const reached = (holds: boolean) => (holds ? 'reached' : 'missed');
  const loads = stalls.slice(1, 3);
  return `${HEADING}

${generatedBy('bun bench/stalls.ts')}

The service reads a drop folder, or computes the requests that a row names. Meanwhile another process requests \`/health\` every 5 ms over a
loopback socket. A time begins when the request is sent. A request does not wait for the answer to an earlier one. A tape of
${options.tapeRows.toLocaleString('en-US')} prints is a file of some ${Math.round((options.tapeRows * 250) / 1e6)} MB. The last column is
the number of steps of more than ${STEP_MS_MAX} ms that the service's own watchdog has logged, with their CPU time, which is that of all threads.
\`${CHAINS.index}\` is one of the ${CHAINS_ARE}.

| load | p50, ms | p99, ms | worst, ms | steps over ${STEP_MS_MAX} ms |
|---|---|---|---|---|
${stalls.map(line).join('')}
- \`/health\` within ${STEP_MS_MAX} ms (p99) while tapes and chains are loaded: ${reached(loads.every(({ p99 }) => p99 <= STEP_MS_MAX))}
- no step of more than ${STEP_MS_MAX} ms of its own CPU: ${reached(stalls.every(({ reported }) => reported.every(({ cpuMs }) => cpuMs <= STEP_MS_MAX)))}
`;
}

/** `bun bench/stalls.ts [--write]` takes four minutes. */
if (import.meta.main) await runSection(HEADING, async () => sectionOf(await measureStalls(BINARY, FULL), FULL));
