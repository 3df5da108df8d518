import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { newYorkDate } from '../src/market/calendar.ts';
import { STANDARD_UNIVERSE } from '../src/market/universe.ts';
import { eventsOf } from '../test/support/event-stream.ts';

/**
 * `bun bench/soak.ts [MINUTES]` serves 59 tickers, each with a new snapshot every 15 s, to 100 streams and some requests a second. Fits the
 * memory of the server after a forced collection, from the eleventh minute on, and fails if the upper bound of its slope is above 4 MiB an hour.
 */
const MINUTES = Number(process.argv[2] ?? 60);
const SETTLED_MINUTES = Math.min(10, MINUTES / 3);
const STREAMS = 100;
const MEMBERS = 10;
const SNAPSHOT_EVERY_MS = 15_000;
const SAMPLE_EVERY_MS = 20_000;
const REQUEST_EVERY_MS = 200;
const SLOPE_MAX = 4;
const MIB = 1024 * 1024;

interface Sample {
  readonly at: number;
  readonly heapSize: number;
  readonly extraMemorySize: number;
  readonly objectCount: number;
  readonly rss: number;
}

const folder = mkdtempSync(join(tmpdir(), 'zomma-soak-'));
const drop = join(folder, 'drop');
mkdirSync(drop);
const TICKERS = [...STANDARD_UNIVERSE.tickers].slice(0, 59);
writeSnapshots(0);
const server = Bun.spawn(
  [
    process.execPath,
    join(import.meta.dir, 'soak-server.ts'),
    join(folder, 'data'),
    drop,
    String(MEMBERS),
    String(SAMPLE_EVERY_MS),
  ],
  { stdout: 'pipe', stderr: 'pipe', stdin: 'ignore' },
);
const samples: Sample[] = [];
const counts = { events: 0, requests: 0, failures: 0, snapshots: TICKERS.length };
let keys: string[] = [];
const listening = Promise.withResolvers<string>();
void readLines(server.stdout, (line) => {
  if (line.startsWith('listening on ')) listening.resolve(line.slice('listening on '.length));
  else if (line.startsWith('{"keys"')) ({ keys } = JSON.parse(line));
  else if (line.startsWith('{"at"')) {
    samples.push(JSON.parse(line));
    const { heapSize, rss } = samples.at(-1)!;
    console.error(
      `${samples.length}: heap ${(heapSize / MIB).toFixed(1)} MiB, resident ${(rss / MIB).toFixed(0)} MiB, ${counts.events} events`,
    );
  }
});
const warnings: string[] = [];
void readLines(server.stderr, (line) => void warnings.push(line));
const url = await listening.promise;
const stop = new AbortController();
const streams = Array.from({ length: STREAMS }, (_, i) => follow(keys[i % MEMBERS]!, TICKERS[i % TICKERS.length]!));
let round = 0;
const writing = setInterval(() => writeSnapshots(++round), SNAPSHOT_EVERY_MS);
const asking = setInterval(() => void request(), REQUEST_EVERY_MS);
await Bun.sleep(MINUTES * 60_000);
clearInterval(writing);
clearInterval(asking);
stop.abort();
await Promise.allSettled(streams);
server.kill('SIGTERM');
await server.exited;
rmSync(folder, { recursive: true, force: true });
report();

/** Writes a file with a new snapshot of each ticker, as an operator's job does: under another name first. Removes the files before. */
function writeSnapshots(at: number): void {
  const asOf = new Date(Math.floor(Date.now() / 1000) * 1000);
  const lines = [
    'underlying,as_of,spot,symbol,expiry,put_call,strike,bid,ask,last,volume,open_interest,iv,delta,gamma',
  ];
  for (const [i, ticker] of TICKERS.entries()) {
    const spot = (100 + i) * (1 + 0.01 * Math.sin(at / 7 + i));
    for (const days of [7, 30, 60, 120]) {
      const expiry = newYorkDate(asOf.getTime() + days * 86_400_000);
      for (let k = -15; k <= 15; k++) {
        const strike = Math.round((100 + i) * (1 + k / 50) * 2) / 2;
        for (const side of ['C', 'P']) {
          const openInterest = 100 + ((k * k * 37 + days * 11 + at) % 900);
          lines.push(
            `${ticker},${asOf.toISOString()},${spot.toFixed(2)},,${expiry},${side},${strike},,,,10,${openInterest},0.${20 + (Math.abs(k) % 15)},,`,
          );
        }
      }
    }
  }
  const name = `chains-${at}.csv`;
  for (const old of readdirSync(drop)) if (Number(/\d+/.exec(old)![0]) < at - 2) rmSync(join(drop, old));
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`);
  renameSync(join(folder, name), join(drop, name));
  if (at > 0) counts.snapshots += TICKERS.length;
}

/** Reads a stream, and opens it again when the server ends it. */
async function follow(key: string, ticker: string): Promise<void> {
  while (!stop.signal.aborted) {
    try {
      const response = await fetch(`${url}/api/v1/stream/gex/${ticker}`, {
        headers: { 'X-API-Key': key },
        signal: stop.signal,
      });
      if (response.status !== 200) {
        await response.body?.cancel();
        await Bun.sleep(1_000);
        continue;
      }
      const events = eventsOf(response.body!);
      while ((await events.next()) !== undefined) counts.events++;
    } catch {
      if (stop.signal.aborted) return;
      counts.failures++;
      await Bun.sleep(1_000);
    }
  }
}

async function request(): Promise<void> {
  const i = counts.requests++;
  const ticker = TICKERS[i % TICKERS.length]!;
  const path = [
    `nodes/gex/${ticker}`,
    `nodes/gex/${ticker}/view`,
    `nodes/gex/${ticker}/history`,
    `surface/${ticker}`,
    'feeds',
  ][i % 5]!;
  try {
    const response = await fetch(`${url}/api/v1/${path}`, { headers: { 'X-API-Key': keys[i % MEMBERS]! } });
    await response.arrayBuffer();
    if (response.status !== 200) counts.failures++;
  } catch {
    counts.failures++;
  }
}

function report(): void {
  const from = samples[0]!.at + SETTLED_MINUTES * 60_000;
  const settled = samples.filter(({ at }) => at >= from);
  const heap = fit(settled.map(({ at, heapSize }) => [at / 3_600_000, heapSize / MIB]));
  const resident = fit(settled.map(({ at, rss }) => [at / 3_600_000, rss / MIB]));
  const [first, last] = [settled[0]!, settled.at(-1)!];
  const mib = (bytes: number) => (bytes / MIB).toFixed(1);
  console.log(`${cpus()[0]?.model}, ${platform()} ${arch()}, Bun ${Bun.version}, ${MINUTES} minutes`);
  console.log(JSON.stringify({ ...counts, warnings: warnings.length }));
  console.log(
    `heap after a collection: ${mib(first.heapSize)} to ${mib(last.heapSize)} MiB, slope ${heap.slope.toFixed(2)} MiB/h, upper 95 % bound ${heap.upper.toFixed(2)}`,
  );
  console.log(
    `resident: ${mib(first.rss)} to ${mib(last.rss)} MiB, slope ${resident.slope.toFixed(1)} MiB/h, upper 95 % bound ${resident.upper.toFixed(1)}`,
  );
  console.log(
    [...new Set(warnings.map((line) => /"message":"(\w+)"/.exec(line)?.[1] ?? line.slice(0, 80)))].join(', '),
  );
  if (heap.upper > SLOPE_MAX) process.exitCode = 1;
}

/** Least squares of a line. Returns its slope, and the upper 95 % bound of the slope. */
function fit(points: readonly (readonly [x: number, y: number])[]): { slope: number; upper: number } {
  const n = points.length;
  const [meanX, meanY] = [0, 1].map((k) => points.reduce((sum, point) => sum + point[k]!, 0) / n) as [number, number];
  const sxx = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / sxx;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, upper: slope + 1.645 * Math.sqrt(rest / (n - 2) / sxx) };
}

async function readLines(stream: ReadableStream<Uint8Array>, take: (line: string) => void): Promise<void> {
  let rest = '';
  for await (const piece of stream.pipeThrough(new TextDecoderStream() as never) as unknown as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop()!;
    for (const line of lines) take(line);
  }
}
