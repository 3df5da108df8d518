import { beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { addMember, PROGRAM, run } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/**
 * Guesses of keys and of UUIDs over sockets of two addresses, while an honest member of a third address works. The addresses are those of
 * the loopback network, which macOS does not have.
 */
const GUESSES = 10_000;
const CONNECTIONS = 20;
const ATTACKER_KEYS = '127.0.0.2';
const ATTACKER_UUIDS = '127.0.0.3';
const HONEST = '127.0.0.1';
const MEMBER = '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';
const REVOKED = '8c1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90';

const server = withServer(PROGRAM, () => ['serve', '--port', '0', '--rate-limit', 'off']);
let key: string;
let revokedKey: string;
beforeAll(async () => {
  [key, revokedKey] = await Promise.all([
    addMember(PROGRAM, server.dataDir, MEMBER),
    addMember(PROGRAM, server.dataDir, REVOKED),
  ]);
  await run(PROGRAM, ['members', 'revoke', '--uuid', REVOKED, '--data-dir', server.dataDir]);
});

interface Answer {
  readonly status: number;
  /** The answer without its request id and time. */
  readonly visible: string;
}

/** Opens a connection from an address of this machine. Returns a function that sends a request on it and resolves with the answer. */
function connectFrom(address: string) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port), localAddress: address });
  let received = '';
  let waiting: ((answer: Answer) => void) | undefined;
  socket.on('data', (piece) => {
    received += piece.toString('latin1');
    const headEnd = received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
    if (received.length < headEnd + 4 + length) return;
    const visible = received.replace(/(x-request-id: |"request_id":")\w+/gi, '$1').replace(/^date: .*\r\n/im, '');
    // The last seconds of a wait depend on the moment.
    const answer = { status: Number(received.split(' ')[1]), visible: visible.replace(/(retry-after: )\d+/i, '$1') };
    received = '';
    waiting!(answer);
  });
  return {
    ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      waiting = resolve;
      socket.once('error', reject);
      const lines = Object.entries({ Host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
      return promise.finally(() => socket.removeListener('error', reject));
    },
    close: () => socket.destroy(),
  };
}

/** Sends guesses over many connections of an address. */
async function guessFrom(address: string, request: (i: number) => [path: string, headers?: Record<string, string>]) {
  const answers: Answer[] = [];
  let sent = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const { ask, close } = connectFrom(address);
      while (sent < GUESSES) answers.push(await ask(...request(sent++)));
      close();
    }),
  );
  return answers;
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const randomKey = () =>
  `ZOMMA_${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => ALPHABET[byte & 31]).join('')}`;

test.skipIf(process.platform === 'darwin')(
  '10,000 wrong keys and 10,000 random UUIDs are limited, equal and logged by address, and an honest member is unharmed',
  async () => {
    const startedAt = performance.now();
    let isUnderAttack = true;
    const honest = (async () => {
      const { ask, close } = connectFrom(HONEST);
      const [durations, statuses] = [[] as number[], new Set<number>()];
      while (isUnderAttack) {
        const askedAt = performance.now();
        statuses.add((await ask('/api/v1/account', { 'X-API-Key': key })).status);
        durations.push(performance.now() - askedAt);
        await Bun.sleep(50);
      }
      const ownKey = await ask(`/api/v1/auth/my-key?uuid=${MEMBER}`);
      close();
      return { durations: durations.toSorted((a, b) => a - b), statuses: [...statuses], ownKey };
    })();
    // Each hundredth guess is a key or a UUID that once was valid: its answers must not differ.
    const [byKey, byUuid] = await Promise.all([
      guessFrom(ATTACKER_KEYS, (i) => ['/api/v1/universe', { 'X-API-Key': i % 100 === 0 ? revokedKey : randomKey() }]),
      guessFrom(ATTACKER_UUIDS, (i) => [`/api/v1/auth/my-key?uuid=${i % 100 === 0 ? REVOKED : crypto.randomUUID()}`]),
    ]);
    // The limit does not tell who is a member, and a valid key is not limited, whatever its address.
    const { ask, close } = connectFrom(ATTACKER_UUIDS);
    const guessed = await ask(`/api/v1/auth/my-key?uuid=${MEMBER}`);
    const valid = await ask('/api/v1/account', { 'X-API-Key': key });
    close();
    isUnderAttack = false;
    const seconds = (performance.now() - startedAt) / 1_000;

    for (const answers of [byKey, byUuid]) {
      const byStatus = Map.groupBy(answers, ({ status }) => status);
      expect([...byStatus.keys()].toSorted()).toEqual([403, 429]);
      // The burst, and five a second that the quota refills.
      expect(byStatus.get(403)!.length).toBeWithin(300, 302 + Math.ceil(seconds * 5));
      expect(byStatus.get(429)!.length + byStatus.get(403)!.length).toBe(GUESSES);
      for (const same of byStatus.values()) expect(new Set(same.map(({ visible }) => visible)).size).toBe(1);
    }
    expect(guessed).toEqual(byUuid.find(({ status }) => status === 429)!);
    expect(valid.status).toBe(200);
    const { durations, statuses, ownKey } = await honest;
    expect(statuses).toEqual([200]);
    expect(durations[Math.floor(durations.length * 0.95)]).toBeLessThan(500);
    expect(ownKey.visible).toContain(key);

    const { stderr } = await server.stop('SIGTERM');
    for (const [client, guesses] of [
      [ATTACKER_KEYS, GUESSES],
      [ATTACKER_UUIDS, GUESSES + 1],
      [HONEST, 0],
    ] as const) {
      const own = stderr
        .split('\n')
        .filter((line) => line.includes(`"client":"${client}"`) && /keys?_refused/.test(line));
      const counts = own.map((line) => (JSON.parse(line) as { count?: number }).count ?? 1);
      expect([client, counts.reduce((sum, count) => sum + count, 0)]).toEqual([client, guesses]);
      // Twenty lines and a count, in each minute.
      expect(own.length).toBeLessThanOrEqual(21 * (1 + Math.ceil(seconds / 60)));
    }
    for (const hidden of [key, revokedKey, MEMBER, REVOKED]) expect(stderr).not.toContain(hidden);
  },
);
