import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { createByteBudget } from '../../src/access/byte-budget.ts';
import { ClientError } from '../../src/core/errors.ts';
import { readJson } from '../../src/http/body.ts';
import { serviceForTests } from '../support/for-tests.ts';

/** Request bodies that are compressed with gzip. */
const service = serviceForTests();

const ONE = { put_call: 'C', spot: 100, strike: 105, tte: 0.25, iv: 0.3, rate: 0.04 };
const MIB = 1024 * 1024;

const post = (
  path: string,
  body: Uint8Array | string,
  headers: Record<string, string> = { 'Content-Encoding': 'gzip' },
) => service.request('POST', path, { raw: new Blob([body]).stream(), headers });

const TABLE = { ...ONE, strike: Array.from({ length: 20_000 }, (_, i) => 80 + i / 500) };

test.each([
  ['/api/v1/physics/greeks', ONE],
  ['/api/v1/physics/greeks/batch', TABLE],
  ['/api/v1/tools/compute_options_greeks', ONE],
  ['/api/v1/tools/get_live_gex_nodes', { ticker: 'SPY' }],
])('POST %s answers a compressed body as it answers the body itself', async (path, body) => {
  const plain = await (await service.request('POST', path, { body })).text();
  const compressed = gzipSync(JSON.stringify(body));
  for (const coding of ['gzip', 'x-gzip', ' GZIP']) {
    const response = await post(path, compressed, { 'Content-Encoding': coding });
    expect([coding, response.status, await response.text()]).toEqual([coding, 200, plain]);
  }
  const identity = await post(path, JSON.stringify(body), { 'Content-Encoding': 'identity' });
  expect(await identity.text()).toBe(plain);
});

test('binary columns may be compressed', async () => {
  const columns = new Float64Array([1, 100, 105, 0.25, 0.3, 0.04, 0]);
  const ask = (body: Uint8Array, more: Record<string, string>) =>
    post('/api/v1/physics/greeks/batch', body, { 'Content-Type': 'application/octet-stream', ...more });
  const plain = new Uint8Array(await (await ask(new Uint8Array(columns.buffer), {})).arrayBuffer());
  const compressed = await ask(gzipSync(new Uint8Array(columns.buffer)), { 'Content-Encoding': 'gzip' });
  expect([compressed.status, new Uint8Array(await compressed.arrayBuffer())]).toEqual([200, plain]);
});

test.each([
  ['is cut off', gzipSync(JSON.stringify(ONE)).subarray(0, 30), 'gzip', 422, 'invalid_body'],
  ['is not gzip', JSON.stringify(ONE), 'gzip', 422, 'invalid_body'],
  ['is empty', '', 'gzip', 422, 'invalid_body'],
  ['has content that is not JSON', gzipSync('{'), 'gzip', 422, 'invalid_body'],
  ['is compressed twice', gzipSync(gzipSync(JSON.stringify(ONE))), 'gzip', 422, 'invalid_body'],
  ['inflates to more than the limit', gzipSync(Buffer.alloc(200 * MIB)), 'gzip', 413, 'body_too_large'],
  ['consists of a million empty parts', Buffer.alloc(2 * MIB, gzipSync('')), 'gzip', 413, 'body_too_large'],
  ['has the coding br', 'x', 'br', 415, 'coding_unknown'],
  ['has two codings', 'x', 'gzip, gzip', 415, 'coding_unknown'],
])('a body that %s is refused', async (_, body, coding, status, code) => {
  const response = await post('/api/v1/physics/greeks', body, { 'Content-Encoding': coding });
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
  expect(response.headers.get('accept-encoding')).toBe(status === 415 ? 'gzip, identity' : null);
});

test('a bomb takes no memory beyond the limit', async () => {
  const bomb = gzipSync(Buffer.alloc(200 * MIB));
  const budget = createByteBudget();
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { 'Content-Encoding': 'gzip' },
    body: new Blob([bomb]).stream(),
  });
  const before = process.memoryUsage().rss;
  const error = await readJson(request, { budget, account: 'a' }).catch((thrown: unknown) => thrown);
  expect([error instanceof ClientError && error.code, budget.bytes]).toEqual(['body_too_large', 0]);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * MIB);
});

test('a compressed body counts in the byte budget as if it had the maximum size', async () => {
  const budget = createByteBudget({ accountBytesMax: MIB / 2 });
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { 'Content-Encoding': 'gzip', 'Content-Length': '30' },
    body: gzipSync('{}'),
  });
  const error = await readJson(request, { budget, account: 'a' }).catch((thrown: unknown) => thrown);
  expect(error instanceof ClientError && error.code).toBe('too_many_bytes');
});
