import { ACCEPT, openSseStream, type Target } from '../../support/mcp-wire.ts';
import { requestText, Wire } from '../../support/wire.ts';
import { type Attack, type Battle, cutAll, PAUSE_MS, postTo, repeat, statusOf } from './battle.ts';

/** Clients that send invalid messages, and look for sessions of others. */
export const NONSENSE: readonly Attack[] = [
  {
    name: 'bodies and headers that are none',
    members: 1,
    meets: ['400', '403', '413', '415', '422'],
    run: sendNonsense,
  },
  { name: 'guessed sessions', members: 1, meets: ['403', '404'], run: guess },
  { name: 'drop by drop', members: 1, run: drip },
  { name: 'not HTTP', members: 0, meets: ['400', '431', '505'], run: sendNoHttp },
];

async function sendNonsense(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const key = { 'X-API-Key': target.key };
  const { stream, endpoint } = await openSseStream(target);
  const raw = (path: string, body: string, headers: Record<string, string> = {}) =>
    requestText('POST', path, { ...key, ...ACCEPT, 'Content-Length': String(body.length), ...headers }) + body;
  const deep = '['.repeat(100_000);
  const many = JSON.stringify(Array(5_000).fill({ jsonrpc: '2.0', id: 1, method: 'ping' }));
  const nonsense = [endpoint, '/mcp'].flatMap((path) => [
    raw(path, ' '.repeat(2 * 1024 * 1024)),
    raw(path, deep),
    raw(path, many),
    raw(path, '{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'Content-Type': 'text/plain' }),
    raw(path, '{'),
    raw(path, '{}', { Origin: 'https://evil.example' }),
    raw(path, '{}', { Host: 'evil.example' }),
    raw(path, '{}', { Host: 'localhost\r\nHost: evil.example' }),
  ]);
  for (const malformed of ['%', '%QQ', '%E0%A4%A', '%ff']) {
    for (const path of ['nodes/gex', 'stream/gex', 'flow']) {
      nonsense.push(requestText('GET', `/api/v1/${path}/${malformed}`, key));
    }
  }
  while (!battle.isOver()) {
    for (const each of nonsense) battle.count(await statusOf(target.url, each));
    await Bun.sleep(5 * PAUSE_MS);
  }
  stream.cut();
}

/** Random ids, ids close to a real one, and the real one with the key of another member. */
async function guess(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const { victim } = battle;
  const [path, real] = victim.endpoint.split('=') as [string, string];
  const near = (id: string) => {
    const i = Math.floor(Math.random() * id.length);
    return id.slice(0, i) + (id[i] === 'A' ? 'B' : 'A') + id.slice(i + 1);
  };
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url');
  await repeat(
    battle,
    2,
    async (wire) => {
      for (const id of [random(), near(real), real.toLowerCase(), `${real}%00`, real]) {
        battle.count((await wire.ask(postTo(`${path}=${id}`, target, PING))).status);
      }
      for (const id of [random(), near(victim.sessionId), victim.sessionId]) {
        const headers = { 'X-API-Key': target.key, 'Mcp-Session-Id': id, ...ACCEPT };
        battle.count((await wire.ask(requestText('POST', '/mcp', headers, PING))).status);
      }
    },
    PAUSE_MS,
  );
}

/** Headers and bodies that come one byte at a time and do not end. */
async function drip(battle: Battle): Promise<void> {
  const [target] = battle.targets as [Target];
  const body = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${target.key}\r\nContent-Length: 100000\r\n\r\n`;
  const wires = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const wire = await Wire.open(target.url);
      wire.send(i % 2 ? body : 'GET /sse HTTP/1.1\r\nHost: localhost\r\n');
      return wire;
    }),
  );
  while (!battle.isOver()) {
    await Bun.sleep(5 * PAUSE_MS);
    for (const wire of wires) wire.send('a');
  }
  battle.count('dripped');
  cutAll(wires);
}

async function sendNoHttp(battle: Battle): Promise<void> {
  const noise = [
    'GARBAGE\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'GET /sse HTTP/9.9\r\n\r\n',
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
    'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: localhost\r\n${'X: y\r\n'.repeat(10_000)}\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ];
  while (!battle.isOver()) {
    await Promise.all(noise.map(async (each) => battle.count(await statusOf(battle.url, each))));
    await Bun.sleep(PAUSE_MS);
  }
}

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
