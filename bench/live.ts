import { Database } from 'bun:sqlite';
import { connect } from 'node:net';
import { join } from 'node:path';
import { quantile } from '../src/bench/race.ts';
import { listen } from '../src/http/listen.ts';
import type { Chain } from '../src/market/chain.ts';
import { createLevelRecorder } from '../src/operations/history/level-recorder.ts';
import { type Service, startService } from '../test/support/service.ts';

export interface LiveOptions {
  /** Number of clients that read their streams. */
  readonly subscribers: number;
  readonly tickers: number;
  readonly seconds: number;
  /** Time between two moves, ms. With each move, all tickers get a new snapshot. */
  readonly moveMs: number;
  /** Number of random clients that are disconnected each second. */
  readonly dropsPerS: number;
  /** Number of clients that request many past events and never read them. */
  readonly slow: number;
  /** Number of these past events. */
  readonly logged: number;
}

export interface LiveFigures {
  /** Time from before a snapshot was stored until a client had read its event, ms. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Number of snapshots that each ticker got during the run. */
  readonly snapshots: number;
  /** Number of events that all clients read together. The first event of a ticker in a stream has the levels at the start of the stream. */
  readonly events: number;
  /** Number of disconnections. */
  readonly drops: number;
  /** Number of events that clients did not get. */
  readonly lost: number;
  /** Number of events that clients got twice or out of order. */
  readonly doubled: number;
  /** Number of clients that the server disconnected because they were behind. */
  readonly evicted: number;
  /** Resident memory of the server's process, which is this one, after a third of the run and at the end, MB. */
  readonly memory: readonly [early: number, late: number];
}

/**
 * Starts a complete service, and stores new snapshots of its tickers again and again. Clients in another process read streams of all
 * tickers, and random clients are disconnected.
 */
export async function measureLive(options: LiveOptions): Promise<LiveFigures> {
  const service = await startService();
  const { app, key } = service;
  const server = listen(app.handle, { host: '127.0.0.1', port: 0, tls: undefined });
  const recorder = createLevelRecorder({
    store: app.store,
    largePrintMinUsd: app.context.largePrintMinUsd,
    observe: () => {},
    onRecorded: app.gexStreams.wake,
  });
  try {
    const chains = [...app.context.universe.tickers]
      .slice(0, options.tickers)
      .map((ticker) => app.store.chain(app.store.latestChainId(ticker, true)!)!);
    recorder.wake();
    await waitUntil(() => app.store.levelsDue().length === 0);
    writeLog(service, chains[0]!.underlying, options.logged);
    const slow = Array.from({ length: options.slow }, () => openUnreadStream(server.url, key));
    const names = chains.map(({ underlying }) => underlying);
    const clients = startClients(server.url, key, names, options);
    await waitUntil(() => app.gexStreams.size === options.subscribers + options.slow);
    const first = app.store.lastLevelSeq();
    clients.begin();
    const started = performance.now();
    const memory: number[] = [];
    let snapshots = 0;
    for (let move = 1; performance.now() - started < options.seconds * 1_000; move++) {
      moveAll(app.store, chains, move);
      snapshots++;
      recorder.wake();
      memory.push(process.memoryUsage.rss() / 1e6);
      await Bun.sleep(Math.max(0, started + move * options.moveMs - performance.now()));
    }
    await waitUntil(() => app.store.levelsDue().length === 0);
    const log = app.store.levelEvents(first, Number.MAX_SAFE_INTEGER, true).map(({ seq }) => seq);
    const { drops, latencies, seqs } = await clients.end(log.at(-1)!);
    for (const socket of slow) socket.destroy();
    const missing = seqs.map((each) => new Set(log).difference(new Set(each)).size);
    const doubled = seqs.map((each) => each.filter((seq, i) => i > 0 && seq <= each[i - 1]!).length);
    return {
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      max: quantile(latencies, 1),
      snapshots,
      events: seqs.reduce((sum, each) => sum + each.length, 0),
      drops,
      lost: missing.reduce((sum, each) => sum + each, 0),
      doubled: doubled.reduce((sum, each) => sum + each, 0),
      evicted: service.observations.filter((each) => each.kind === 'stream_closed' && each.reason === 'behind').length,
      memory: [memory[Math.floor(memory.length / 3)]!, memory.at(-1)!],
    };
  } finally {
    await recorder.stop();
    await service.close();
    await server.stop(1_000);
  }
}

/**
 * Stores a new snapshot of each chain, in one transaction. The moment of the quotes is now, so that each event has the moment of storing.
 */
function moveAll(store: Service['app']['store'], chains: readonly Chain[], move: number): void {
  const asOf = Date.now();
  store.transaction(() => {
    for (const chain of chains) {
      store.saveChain({ ...chain, asOf, spot: chain.spot * (1 + 1e-4 * Math.sin(move)) });
    }
  });
}

/**
 * Stores a ticker's levels `count` times more, with earlier moments. These events are too many for the buffers of a socket. They are stored
 * now, because a client that has missed more than a day gets no earlier events.
 */
function writeLog({ dataDir }: Service, ticker: string, count: number): void {
  const same = `source, advanced, day, spot, net_gex, gross_gex, gex_flip, flip_resolved, call_wall, put_wall, max_pain, expiry,
    dex, vex, cex, atm_iv_30d`;
  const db = new Database(join(dataDir, 'zomma.sqlite'));
  db.run(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO levels (simulated, underlying, as_of, kept_at, ${same})
       SELECT simulated, underlying, as_of - i, ?, ${same} FROM levels, n WHERE underlying = ? ORDER BY i`,
    [count, Date.now(), ticker],
  );
  db.close();
}

/** Sends a request for a stream from its first event on, and never reads the answer. */
function openUnreadStream(url: string, key: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => {});
  socket.write(
    `GET /api/v1/stream/gex/SPY HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nLast-Event-ID: 0\r\n\r\n`,
  );
  return socket;
}

function startClients(url: string, key: string, tickers: readonly string[], { subscribers, dropsPerS }: LiveOptions) {
  const args = [url, key, tickers.join(), String(subscribers), String(dropsPerS)];
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'live-clients.ts'), ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const tell = (line: string) => {
    child.stdin.write(`${line}\n`);
    child.stdin.flush();
  };
  return {
    begin: () => tell('begin'),
    async end(lastSeq: number): Promise<{ drops: number; latencies: number[]; seqs: number[][] }> {
      tell(String(lastSeq));
      return new Response(child.stdout).json() as never;
    },
  };
}

/** Resolves when `holds` returns true. */
async function waitUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1);
}
