import { expect, test } from 'bun:test';
import { PROGRAM } from '../support/process.ts';
import { withServer } from '../support/with-server.ts';

/** What the log tells about requests, from a running server. */
const server = withServer(PROGRAM, () => [
  ...['start', '--port', '0', '--access-log', '--trusted-proxies', '127.0.0.1'],
]);

const lines = (kind: string) =>
  server
    .log()
    .split('\n')
    .filter((line) => line.includes(`"message":"${kind}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const until = async (has: () => boolean) => {
  while (!has()) await Bun.sleep(5);
};

test('the access log has the client behind a trusted proxy, the account and the id that the proxy gave', async () => {
  const response = await fetch(`${server.url}/api/v1/universe`, {
    headers: { 'X-API-Key': server.key, 'X-Forwarded-For': '203.0.113.7', 'X-Request-Id': 'edge-123' },
  });
  const { length } = await response.text();
  expect(response.headers.get('x-request-id')).toBe('edge-123');
  await until(() => lines('request_answered').some((line) => line.request_id === 'edge-123'));
  expect(lines('request_answered').find((line) => line.request_id === 'edge-123')).toMatchObject({
    level: 'INFO',
    client: '203.0.113.7',
    method: 'GET',
    route: '/api/v1/universe',
    status: 200,
    bytes: length,
    account: expect.stringMatching(/^\w+/),
    duration_ms: expect.any(Number),
  });
});

test.each([
  ['a UUID', '7b1f3c1e-8d7e-4f5a-9a4e-2f1d3c5b7a90'],
  ['a key', 'ZOMMA_0123456789ABCDEF'],
  ['a blank', 'edge 123'],
  ['too long', 'x'.repeat(65)],
])('an id that is %s gets a new one', async (_, id) => {
  const response = await fetch(`${server.url}/health`, { headers: { 'X-Request-Id': id } });
  expect(response.headers.get('x-request-id')).toMatch(/^[\da-f]{16}$/);
});

test('wrong keys and random UUIDs are reported with their address, get equal answers, and are limited; the member is not', async () => {
  const client = (n: number) => ({ 'X-Forwarded-For': `198.51.100.${n}` });
  const member = () => fetch(`${server.url}/api/v1/account`, { headers: { 'X-API-Key': server.key, ...client(1) } });
  const wrong = Array.from({ length: 1_000 }, () =>
    fetch(`${server.url}/api/v1/universe`, { headers: { 'X-API-Key': 'ZOMMA_AAAAAAAAAAAAAAAA', ...client(1) } }),
  );
  const random = Array.from({ length: 1_000 }, () =>
    fetch(`${server.url}/api/v1/auth/my-key?uuid=${crypto.randomUUID()}`, { headers: client(2) }),
  );
  for (const tries of [wrong, random]) {
    const answers = await Promise.all(tries);
    const statuses = Map.groupBy(answers, ({ status }) => status);
    expect([...statuses.keys()].toSorted()).toEqual([403, 429]);
    expect(statuses.get(403)!.length).toBeWithin(300, 400);
    for (const same of statuses.values()) {
      const bodies = await Promise.all(same.map(async (each) => (await each.text()).replace(/"request_id":"\w+"/, '')));
      expect(new Set(bodies).size).toBe(1);
    }
    expect(statuses.get(429)![0]!.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect((await member()).status).toBe(200);
  for (const n of [1, 2]) {
    const own = lines('key_refused').filter((line) => line.client === `198.51.100.${n}`);
    expect(own).toHaveLength(20);
    expect(own[0]!.level).toBe('INFO');
  }
  expect(server.log()).not.toMatch(/ZOMMA_A|[\da-f]{8}-[\da-f]{4}-4/);
}, 60_000);
