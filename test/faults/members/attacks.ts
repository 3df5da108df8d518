import { connect, type Socket } from 'node:net';
import { generator } from '../../../src/bench/workloads.ts';
import { INDEX, TAPED, WIDE } from './data.ts';

/** What a member of bad will, or bad luck, does for some seconds. */
export type Attack = (target: Attacked) => Promise<void>;

export interface Attacked {
  readonly url: string;
  readonly key: string;
  /** A number in [0, 1), another each time and the same for the same seed. */
  readonly random: () => number;
  readonly isOver: () => boolean;
  /** Counts an answer by its status, or what came about in place of one. */
  readonly count: (what: string | number) => void;
}

/** Dear requests, sent at once and abandoned at once. */
const abandon = (requests: number): Attack =>
  async function abandoning({ url, key, random, count }) {
    const sockets = await Promise.all(
      Array.from({ length: requests }, () =>
        send(url, get(`/api/v1/flow/${TAPED}/prints?limit=5000&min_premium=${1 + random()}`, key)),
      ),
    );
    await Bun.sleep(5);
    for (const socket of sockets) socket.destroy();
    count('abandoned');
  };

/** The same request on so many connections, again and again. */
const repeat = (connections: number, request: (random: () => number) => { path: string; body?: string }): Attack =>
  async function repeating({ url, key, random, isOver, count }) {
    const one = async () => {
      while (!isOver()) {
        const { path, body } = request(random);
        const init = body === undefined ? {} : { method: 'POST', body };
        try {
          const answer = await fetch(url + path, {
            ...init,
            headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
          });
          count(answer.status);
          await answer.arrayBuffer();
          if (answer.status === 429) await Bun.sleep(50);
        } catch {
          count('cut');
          await Bun.sleep(50);
        }
      }
    };
    await Promise.all(Array.from({ length: connections }, one));
  };

/** Requests whose answers nobody reads, each on a connection of its own that is kept open to the end. */
const leaveUnread = (requests: number): Attack =>
  async function leavingUnread({ url, key, random, isOver, count }) {
    const body = batch(20_000, random);
    const head = `POST /api/v1/physics/greeks/batch HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const sockets: Socket[] = [];
    for (let sent = 0; sent < requests && !isOver(); sent++) {
      const socket = await send(url, head + body);
      // The first bytes tell the status; nothing is read after them.
      socket.once('data', (bytes) => {
        count(String(bytes).slice(9, 12));
        socket.pause();
      });
      sockets.push(socket);
    }
    while (!isOver()) await Bun.sleep(20);
    for (const socket of sockets) socket.destroy();
  };

export const ATTACKS = {
  'abandoned tapes': abandon(40),
  'new analyses of an index': repeat(16, (random) => ({ path: `/api/v1/nodes/gex/${INDEX}?rate=${random() / 10}` })),
  'profiles of a wide chain': repeat(16, (random) => ({
    path: `/api/v1/nodes/gex/${WIDE}/profile?rate=${random() / 10}`,
  })),
  'tapes by another premium each': repeat(8, (random) => ({
    path: `/api/v1/flow/${TAPED}?min_premium=${1 + 1_000 * random()}&days=${1 + Math.floor(300 * random())}`,
  })),
  'batches on 100 connections': repeat(100, (random) => ({
    path: '/api/v1/physics/greeks/batch',
    body: batch(20_000, random),
  })),
  'scans over REST': repeat(32, () => ({
    path: '/api/v1/tools/run_strategic_omni_radar',
    body: `{"ticker":"${WIDE}"}`,
  })),
  'unread answers': leaveUnread(600),
} satisfies Record<string, Attack>;

export type AttackName = keyof typeof ATTACKS;

/** `bun attacks.ts URL KEY NAME SECONDS SEED`: prints how often each status came. */
if (import.meta.main) {
  const [url = '', key = '', name = '', seconds, seed] = process.argv.slice(2);
  const until = performance.now() + 1000 * Number(seconds);
  const seen: Record<string, number> = {};
  await ATTACKS[name as AttackName]({
    ...{ url, key, random: generator(Number(seed)) },
    isOver: () => performance.now() > until,
    count(what) {
      seen[what] = (seen[what] ?? 0) + 1;
    },
  });
  console.log(JSON.stringify(seen));
  process.exit(0);
}

function get(path: string, key: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`;
}

function send(url: string, text: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.off('error', reject);
      socket.on('error', () => {});
      socket.write(text, () => resolve(socket));
    });
    socket.once('error', reject);
  });
}

/** Columns of so many options of which one is a list: a short request with a long answer. */
function batch(rows: number, random: () => number): string {
  const strike = Array.from({ length: rows }, () => Math.round(50_000 + 100_000 * random()) / 1_000);
  return JSON.stringify({ put_call: 'C', spot: 100, strike, tte: 0.5, iv: 0.3 });
}
