import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { writeChain } from '../test/support/chain-file.ts';
import { PostgresServer } from '../test/support/postgres.ts';
import { addMember, PROGRAM, run, type Server, startLoaded } from '../test/support/process.ts';
import { SharedStoreUsers } from '../test/support/shared-store.ts';
import { openSocketLoad, type SocketLoad } from './socket-load.ts';

/**
 * Measures the processor time of a request on a server alone, and on a follower of a shared database. The servers have the same files, and take
 * turns. Usage: bun run build && ZOMMA_TESTS_BUILT=true bun bench/shared-requests.ts [ROUNDS]
 */
const ROUNDS = Number(process.argv[2] ?? 40);
const TURN_MS = 2_000;
const CONNECTIONS = 8;
const UUID = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const TICKERS = ['AAPL', 'IWM', 'NVDA', 'QQQ', 'SPY', 'TSLA'];
const GREEKS = JSON.stringify({ spot: 100, strike: 105, tte: 0.1, iv: 0.3, put_call: 'C' });

const folder = mkdtempSync(join(tmpdir(), 'zomma-requests-'));
const drop = join(folder, 'drop');
mkdirSync(drop);
for (const ticker of TICKERS) writeChain(join(drop, `${ticker}.csv`), ticker);
const flags = ['--feed', `files:${drop}`, '--rate-limit', 'off'];

await using postgres = await PostgresServer.start();
const users = new SharedStoreUsers(postgres);
await using _leader = await users.serve(join(folder, 'leader'), ...flags);
const following = join(folder, 'follower');
mkdirSync(following, { mode: 0o700 });
copyFileSync(join(folder, 'leader', 'secret'), join(following, 'secret'));
await using follower = await users.serve(following, ...flags);
await users.untilCopied(following, (store) => store.snapshotCount() >= TICKERS.length);
const { stdout } = await run(
  PROGRAM,
  ['members', 'add', '--uuid', UUID, '--json', '--data-dir', following],
  undefined,
  users.env,
);
const data = join(folder, 'alone');
await using alone = await startLoaded(PROGRAM, ['serve', '--port', '0', '--data-dir', data, ...flags]);

/** Half the requests have an answer in the response cache, the others compute one. */
function loadOn({ url }: Server, key: string): Promise<SocketLoad> {
  const { host } = new URL(url);
  const head = `Host: ${host}\r\nX-API-Key: ${key}\r\n`;
  const get = (path: string) => Buffer.from(`GET ${path} HTTP/1.1\r\n${head}\r\n`);
  const cached = TICKERS.flatMap((ticker) => ['', '/strikes'].map((view) => get(`/api/v1/nodes/gex/${ticker}${view}`)));
  const computed = Buffer.from(
    `POST /api/v1/physics/greeks HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: ${GREEKS.length}\r\n\r\n${GREEKS}`,
  );
  return openSocketLoad(
    url,
    Array.from({ length: CONNECTIONS }, (_, i) => {
      let sent = i;
      return () => (++sent % 2 === 0 ? computed : cached[(sent >> 1) % cached.length]!);
    }),
    200,
  );
}

/** The processor time of a process so far, ns: that of all its threads, to the nanosecond. A thread can end meanwhile. */
function cpuNs(pid: number): number {
  const timeOf = (thread: string): number => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    } catch {
      return 0;
    }
  };
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + timeOf(thread), 0);
}

const sides = [
  { ...sideOf(alone), load: await loadOn(alone, await addMember(PROGRAM, data, UUID)) },
  { ...sideOf(follower), load: await loadOn(follower, JSON.parse(stdout).api_key) },
] as const;
function sideOf({ pid }: Server) {
  return { pid, costs: [] as number[] };
}

for (let round = -2; round < ROUNDS; round++) {
  for (const { pid, load, costs } of round % 2 === 0 ? sides : sides.toReversed()) {
    const beforeNs = cpuNs(pid);
    const { requests, unexpected } = await load.run(TURN_MS);
    if (unexpected > 0) throw new Error(`${unexpected} of ${requests} answers are not 200`);
    if (round >= 0) costs.push((cpuNs(pid) - beforeNs) / requests / 1_000);
  }
}
for (const { load } of sides) load.close();
const [one, shared] = sides.map(({ costs }) => costs) as [number[], number[]];
const ratios = shared.map((cost, round) => Math.log(cost / one[round]!));
const mean = ratios.reduce((sum, each) => sum + each, 0) / ROUNDS;
const error = Math.sqrt(ratios.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (ROUNDS - 1) / ROUNDS);
console.log(
  `processor time of a request, µs: alone ${quantile(one, 0.5).toFixed(1)}, with a shared database ${quantile(shared, 0.5).toFixed(1)}`,
);
console.log(
  `ratio ${Math.exp(mean).toFixed(3)}, 95 % ${Math.exp(mean - 2 * error).toFixed(3)} to ${Math.exp(mean + 2 * error).toFixed(3)}, ${ROUNDS} rounds`,
);
rmSync(folder, { recursive: true });
