import { expect, test } from 'bun:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { serviceForTests } from '../support/for-tests.ts';

/** Prepared responses, in the encoding that the client accepts. */
const service = serviceForTests();

const LARGE = '/api/v1/nodes/gex/SPY/expiries';
const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  service.request(method, path, { headers });
const DECODERS: Record<string, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
])('Accept-Encoding: %s is answered with %s', async (accepted, coding) => {
  for (const path of [LARGE, '/openapi.json', '/docs/start.js', '/api/v1/universe']) {
    const plain = await ask(path);
    const text = await plain.text();
    const response = await ask(path, { 'Accept-Encoding': accepted });
    const [sent, tag] = [response.headers.get('content-encoding'), response.headers.get('etag')!];
    if (text.length < 1_024) {
      expect([path, sent, tag]).toEqual([path, null, plain.headers.get('etag')!]);
      continue;
    }
    // The format of an operation's answer depends on Accept.
    const vary = path.startsWith('/api') ? 'Accept, Accept-Encoding' : 'Accept-Encoding';
    expect([path, sent, response.headers.get('vary')]).toEqual([path, coding, vary]);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.length).toBeLessThan(text.length / 2);
    expect(DECODERS[coding]!(bytes).toString()).toBe(text);
    // Another representation has another ETag. Either ETag shows that the client has the newest answer.
    expect(tag).toBe(plain.headers.get('etag')!.replace(/"$/, `-${coding}"`));
    for (const known of [tag, plain.headers.get('etag')!]) {
      const unchanged = await ask(path, { 'Accept-Encoding': accepted, 'If-None-Match': known });
      expect([unchanged.status, await unchanged.text(), unchanged.headers.get('etag')]).toEqual([304, '', tag]);
    }
    const head = await ask(path, { 'Accept-Encoding': accepted }, 'HEAD');
    expect([head.status, head.headers.get('content-encoding')]).toEqual([200, coding]);
  }
});

test.each(['', 'identity', 'deflate', 'br;q=0', 'gzip;q=0, *;q=0'])(
  'Accept-Encoding: %j is answered without compression',
  async (accepted) => {
    const response = await ask(LARGE, { 'Accept-Encoding': accepted });
    expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([
      null,
      'Accept, Accept-Encoding',
    ]);
    expect(Object.keys((await response.json()) as object).length).toBeGreaterThan(3);
  },
);

test('refusals and small answers to a POST are not compressed', async () => {
  const accepted = { 'Accept-Encoding': 'br' };
  const refused = await ask('/api/v1/nodes/gex/NOSUCH', accepted);
  expect([refused.status, refused.headers.get('content-encoding')]).toEqual([400, null]);
  const body = { ticker: 'SPY' };
  const posted = await service.request('POST', '/api/v1/tools/get_live_gex_nodes', { body, headers: accepted });
  expect([posted.status, posted.headers.get('content-encoding')]).toEqual([200, null]);
});
