import { expect, test } from 'bun:test';
import { type OriginSettings, originPolicy, refuseForeignHost, refuseForeignOrigin } from '../../src/http/origins.ts';
import { parseSettings } from '../support/parse-settings.ts';
import { startService } from '../support/service.ts';

const LOCAL = parseSettings({});
const PROXIED = parseSettings({ behindProxy: 'true' });
const NAMED = parseSettings({ host: '0.0.0.0', allowedHosts: 'zomma.example, Alt.Example' });
const PAGES = parseSettings({ allowedOrigins: 'https://agents.example' });

test.each<[string, OriginSettings, host: string | null, origin: string | null, refused: string | null]>([
  ['a program', LOCAL, '127.0.0.1:8080', null, null],
  ['a program, by another name of the machine', LOCAL, 'LOCALHOST:8080', null, null],
  ['a program, by the IPv6 address of the machine', LOCAL, '[::1]:8080', null, null],
  ['a program that sends no host', LOCAL, null, null, null],
  [
    'a page after DNS rebinding to this machine',
    LOCAL,
    'evil.example:8080',
    'http://evil.example:8080',
    'host_foreign',
  ],
  ['a page of this server', LOCAL, '127.0.0.1:8080', 'http://127.0.0.1:8080', null],
  ['a page of this server by another name of the machine', LOCAL, '127.0.0.1:80', 'http://localhost', null],
  [
    'a page of a name that ends like the name of this server',
    PROXIED,
    'zomma.example',
    'https://evilzomma.example',
    'origin_foreign',
  ],
  ['a page of another port', LOCAL, '127.0.0.1:8080', 'http://127.0.0.1:3000', 'origin_foreign'],
  ['a page of another site', LOCAL, '127.0.0.1:8080', 'https://evil.example', 'origin_foreign'],
  ['a page without an origin', LOCAL, '127.0.0.1:8080', 'null', 'origin_foreign'],
  ['a page without an origin, and without a host', LOCAL, null, 'null', 'origin_foreign'],
  ['a page of a local file', LOCAL, 'localhost', 'file://', 'origin_foreign'],
  ['behind a proxy, any name', PROXIED, 'zomma.example', null, null],
  ['behind a proxy, a page of the requested name', PROXIED, 'zomma.example', 'https://zomma.example', null],
  ['behind a proxy, a page of another name', PROXIED, 'zomma.example', 'https://evil.example', 'origin_foreign'],
  ['a host name that the operator allowed', NAMED, 'alt.example:443', null, null],
  ['a host name that the operator did not allow', NAMED, '10.0.0.7', null, 'host_foreign'],
  ['an origin that the operator allowed', PAGES, 'localhost', 'https://agents.example', null],
  [
    'an origin that only starts like an allowed one',
    PAGES,
    'localhost',
    'https://agents.example.evil.example',
    'origin_foreign',
  ],
])('%s', (_name, settings, host, origin, refused) => {
  const policy = originPolicy(settings);
  const headers = new Headers({ ...(host && { host }), ...(origin && { origin }) });
  const ask = () => {
    refuseForeignHost(headers.get('host') ?? '', policy);
    refuseForeignOrigin(headers, policy);
  };
  if (refused) expect(ask).toThrow(expect.objectContaining({ code: refused, status: 403 }));
  else expect(ask).not.toThrow();
});

test('a page of an allowed origin can send a preflight request and read the answer', async () => {
  await using service = await startService({ allowedOrigins: 'https://agents.example' });
  const Origin = 'https://agents.example';
  const asked = { Origin, 'Access-Control-Request-Method': 'POST', 'X-API-Key': null };
  for (const path of ['/mcp', '/sse', '/messages', '/api/v1/universe', '/api/v1/auth/my-key']) {
    const may = await service.request('OPTIONS', path, { headers: asked });
    expect([path, may.status]).toEqual([path, 204]);
    expect(may.headers.get('access-control-allow-origin')).toBe(Origin);
    expect(may.headers.get('access-control-allow-headers')).toContain('Mcp-Session-Id');
    expect(
      (await service.request('OPTIONS', path, { headers: { ...asked, Origin: 'https://b.example' } })).status,
    ).toBe(403);
    expect((await service.request('OPTIONS', path, { headers: { ...asked, Origin: null } })).status).not.toBe(204);
  }
  const refused = await service.request('POST', '/mcp', { headers: { Origin, 'X-API-Key': null }, body: {} });
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, Origin]);
  const plain = await service.request('GET', '/api/v1/universe', { headers: { Origin } });
  expect([plain.status, plain.headers.get('access-control-allow-origin')]).toEqual([200, Origin]);
  expect(plain.headers.get('vary')).toBe('Origin, Accept, Accept-Encoding');
});

test('every path refuses foreign hosts and origins; /health and /ready accept any host for probes', async () => {
  await using service = await startService();
  const member = `?uuid=${service.uuid}`;
  const paths = [
    ...['/docs', '/openapi.json', '/api/v1/universe', '/api/v1/feeds', '/nothing', '/mcp', '/sse'],
    ...[`/api/v1/auth/my-key${member}`, `/api/v1/auth/telegram-status${member}`],
  ];
  const asked = async (path: string, headers: Record<string, string>) => {
    const answer = await service.request('GET', path, { headers });
    const { code } = (await answer.json()) as { code?: string };
    return [path, answer.status, code, answer.headers.get('access-control-allow-origin')];
  };
  for (const path of paths) {
    expect(await asked(path, { Host: 'evil.example' })).toEqual([path, 403, 'host_foreign', null]);
    expect(await asked(path, { Origin: 'http://evil.example' })).toEqual([path, 403, 'origin_foreign', null]);
  }
  for (const path of ['/health', '/ready']) {
    expect(await asked(path, { Host: '10.0.0.7:8080' })).toEqual([path, 200, undefined, null]);
    expect(await asked(path, { Origin: 'http://evil.example' })).toEqual([path, 403, 'origin_foreign', null]);
  }
});

test.each([
  ['/api/v1/universe', 'Bearer realm="zomma", ApiKey realm="zomma"'],
  ['/mcp', 'Bearer realm="zomma", ApiKey realm="zomma"'],
])('the 401 of %s says how to send a key', async (path, challenge) => {
  await using service = await startService({ isEmpty: true });
  const missing = await service.request('GET', path, { headers: { 'X-API-Key': null } });
  expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, challenge]);
  const wrong = await service.request('GET', path, { headers: { 'X-API-Key': 'ZOMMA_0000000000000000' } });
  expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([403, null]);
});

test.each<[string, string, string | null, number]>([
  ['an answer', '/api/v1/universe', "default-src 'none'; frame-ancestors 'none'", 200],
  ['a refusal', '/nothing', "default-src 'none'; frame-ancestors 'none'", 404],
  ['the page of the documentation', '/docs', null, 200],
])('%s cannot run scripts of others or be framed, and sends no referrer', async (_name, path, policy, status) => {
  await using service = await startService({ isEmpty: true });
  const { status: answered, headers } = await service.request('GET', path);
  expect([answered, headers.get('referrer-policy')]).toEqual([status, 'no-referrer']);
  if (policy) expect(headers.get('content-security-policy')).toBe(policy);
  else
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/,
    );
});
