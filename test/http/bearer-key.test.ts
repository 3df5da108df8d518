import { expect, test } from 'bun:test';
import { serviceForTests } from '../support/for-tests.ts';

/** The key as a bearer token, because hosted MCP connectors and many HTTP clients can send no other header. */
const service = serviceForTests();

type Paths = Readonly<Record<string, Readonly<Record<string, { readonly security?: readonly object[] }>>>>;

const asked = (method: string, path: string, headers: Record<string, string>) =>
  service.request(method, path, { headers: { 'X-API-Key': null, ...headers }, ...(method === 'POST' && { body: {} }) });

test('every documented path that needs a key takes it as a bearer token', async () => {
  const { paths } = (await (await service.request('GET', '/openapi.json')).json()) as { paths: Paths };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // Streams stay open: their own tests send the key.
      .filter(([, { security }]) => security?.length !== 0)
      .map(([method]) => [method.toUpperCase(), path.replace('{ticker}', 'SPY')] as const),
  );
  expect(routes.length).toBeGreaterThan(30);
  for (const [method, path] of routes) {
    const [without, wrong, bearer] = await Promise.all([
      asked(method, path, {}),
      asked(method, path, { Authorization: 'Bearer ZOMMA_0000000000000000' }),
      asked(method, path, { Authorization: `bearer ${service.key}` }),
    ]);
    // The API contract has 403 for a missing key on the paths of HTTP+SSE.
    const isStream = path === '/sse' || path === '/messages';
    expect([path, without.status]).toEqual([path, isStream ? 403 : 401]);
    if (!isStream) expect(without.headers.get('www-authenticate')).toBe('Bearer realm="zomma", ApiKey realm="zomma"');
    expect([path, wrong.status]).toEqual([path, 403]);
    expect([path, [401, 403].includes(bearer.status)]).toEqual([path, false]);
    await bearer.body?.cancel();
  }
});

test.each([
  ['an empty X-API-Key beside the token', { 'X-API-Key': '' }, 200],
  ['a wrong X-API-Key beside the token', { 'X-API-Key': 'ZOMMA_0000000000000000' }, 403],
])('%s', async (_name, headers, status) => {
  const response = await asked('GET', '/api/v1/universe', { Authorization: `Bearer ${service.key}`, ...headers });
  expect(response.status).toBe(status);
});

test.each(['Basic abc', 'Bearer', 'Bearer a b', 'Token x'])('%p is no key', async (authorization) => {
  const response = await asked('GET', '/api/v1/universe', { Authorization: authorization });
  expect(response.status).toBe(401);
});

test.each(['/api/v1/nodes/gex/.well-known/profile', '/api/v1/flow/.well-known/prints'])(
  '%s needs a key',
  async (path) => {
    expect((await asked('GET', path, {})).status).toBe(401);
  },
);

test.each([
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/mcp/.well-known/openid-configuration',
])('%s says that there is no sign-in', async (path) => {
  expect((await asked('GET', path, {})).status).toBe(404);
});
