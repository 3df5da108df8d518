import { connect, type Socket } from 'node:net';
import { generator } from '../../../src/bench/workloads.ts';
import { INDEX, TAPED, WIDE } from './data.ts';

/** The attacks of a hostile or careless member, for some seconds. */
export type Attack = (target: Attacked) => Promise<void>;

export interface Attacked {
  readonly url: string;
  readonly key: string;
  /** Returns a number in [0, 1). The sequence is the same for the same seed. */
  readonly random: () => number;
  readonly isOver: () => boolean;
  /** Counts an answer by its status, or another outcome. */
  readonly count: (what: string | number) => void;
}

/** Sends expensive requests at once and abandons them at once. */
const abandon = (requests: number): Attack =>
  async function abandoning({ url, key, random, isOver, count }) {
    do {
      const path = () => `/api/v1/flow/${TAPED}/prints?limit=5000&min_premium=${1 + random()}`;
      const sockets = await Promise.all(Array.from({ length: requests }, () => send(url, get(path(), key))));
      await Bun.sleep(5);
      for (const socket of sockets) socket.destroy();
      count('abandoned');
      await Bun.sleep(1_000);
    } while (!isOver());
  };

/** Sends the same request on this many connections, again and again. */
const repeat = (
  connections: number,
  request: (random: () => number) => { path: string; body?: string },
  headersOf: (target: Attacked) => Promise<Record<string, string>> = async ({ key }) => ({ 'X-API-Key': key }),
): Attack =>
  async function repeating(target) {
    const { url, random, isOver, count } = target;
    const headers = { ...(await headersOf(target)), 'Content-Type': 'application/json' };
    const one = async () => {
      while (!isOver()) {
        const { path, body } = request(random);
        const init = body === undefined ? {} : { method: 'POST', body };
        try {
          const answer = await fetch(url + path, { ...init, headers });
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

/** Sends requests and leaves their answers unread, each on a separate connection that stays open to the end. */
const leaveUnread = (requests: number): Attack =>
  async function leavingUnread({ url, key, random, isOver, count }) {
    const body = batch(20_000, random);
    const head = `POST /api/v1/physics/greeks/batch HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    const sockets: Socket[] = [];
    for (let sent = 0; sent < requests && !isOver(); sent++) {
      sockets.push(await sendUnread(url, head + body, count));
    }
    while (!isOver()) await Bun.sleep(20);
    for (const socket of sockets) socket.destroy();
  };

/** Opens streams of levels and of MCP, and after the first event neither reads nor closes them until the end. */
const openAndLeave: Attack = async ({ url, key, isOver, count }) => {
  const sockets: Socket[] = [];
  while (!isOver() && sockets.length < 200) {
    const stream = `/api/v1/stream/gex/${INDEX},${TAPED},${WIDE}?last_event_id=`;
    // The last id is of no log, and its marks ask for everything.
    for (const path of ['/sse', `${stream}1`, `${stream}L0.${sockets.length}.1.zzzzzzzz.a`]) {
      sockets.push(await sendUnread(url, get(path, key), count));
    }
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
  'batches of calls over MCP': repeat(8, () => ({ path: '/mcp', body: calls(50) }), sessionOf),
  'streams that are opened and left': openAndLeave,
  'JSON with other keys in each object': repeat(4, (random) => ({
    path: '/api/v1/physics/greeks/batch',
    body: otherKeys(350_000, random),
  })),
} satisfies Record<string, Attack>;

/** Some 4 MB that a parser takes long for: each object has a key that it has not seen. */
function otherKeys(objects: number, random: () => number): string {
  const from = Math.floor(1e6 * random());
  return `[${Array.from({ length: objects }, (_, i) => `{"${(from + i).toString(36)}":1}`).join(',')}]`;
}

export type AttackName = keyof typeof ATTACKS;

/** The JSON argument of `bun attacks.ts`: who attacks whom, with which attack (at random without a name), for how long. */
export interface Orders {
  readonly url: string;
  readonly keys: readonly string[];
  readonly name?: AttackName;
  readonly seconds: number;
  readonly seed: number;
}

/** Runs one attack, or lets each member run random attacks. Prints the count of each status, by attack. */
if (import.meta.main) {
  const { url, keys, name, seconds, seed }: Orders = JSON.parse(process.argv[2]!);
  const seen: Record<string, Record<string, number>> = {};
  const until = performance.now() + 1000 * seconds;
  const attack = (which: AttackName, key: string, random: () => number, untilMs: number) => {
    seen[which] ??= {};
    const counts = seen[which];
    return ATTACKS[which]({
      ...{ url, key, random },
      isOver: () => performance.now() > untilMs,
      count(what) {
        counts[what] = (counts[what] ?? 0) + 1;
      },
    }).catch(() => {});
  };
  const names = Object.keys(ATTACKS) as AttackName[];
  await Promise.all(
    keys.map(async (key, member) => {
      const random = generator(seed * 1_000 + member);
      if (name) return attack(name, key, random, until);
      while (performance.now() < until) {
        const which = names[Math.floor(names.length * random())]!;
        const lasting = 200 + 3_000 * random();
        await attack(which, key, random, Math.min(until, performance.now() + lasting));
        await Bun.sleep(500 * random());
      }
    }),
  );
  console.log(JSON.stringify(seen));
  process.exit(0);
}

/** Begins a session of the revision that has batches. */
async function sessionOf({ url, key }: Attacked): Promise<Record<string, string>> {
  const headersOfKey = {
    'X-API-Key': key,
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
  };
  const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'attack', version: '1' } };
  const post = (headers: Record<string, string>, message: object) =>
    fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const { headers } = await post(headersOfKey, { id: 1, method: 'initialize', params });
  const session = { ...headersOfKey, 'Mcp-Session-Id': headers.get('mcp-session-id') ?? '' };
  await post(session, { method: 'notifications/initialized' });
  return session;
}

/** A batch of tool calls, as clients of 2025-03-26 may send it. */
function calls(count: number): string {
  const params = { name: 'run_strategic_omni_radar', arguments: { ticker: WIDE } };
  return JSON.stringify(
    Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })),
  );
}

function get(path: string, key: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`;
}

/** Sends a request and reads only the first bytes of its answer, which contain the status. */
async function sendUnread(url: string, text: string, count: Attacked['count']): Promise<Socket> {
  const socket = await send(url, text);
  socket.once('data', (bytes) => {
    count(String(bytes).slice(9, 12));
    socket.pause();
  });
  return socket;
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

/** Columns for this many options, of which one is a list: a short request with a long answer. */
function batch(rows: number, random: () => number): string {
  const strike = Array.from({ length: rows }, () => Math.round(50_000 + 100_000 * random()) / 1_000);
  return JSON.stringify({ put_call: 'C', spot: 100, strike, tte: 0.5, iv: 0.3 });
}
