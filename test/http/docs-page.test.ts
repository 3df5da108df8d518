import { expect, test } from 'bun:test';
import { dependencies, trustedDependencies } from '../../package.json';
import { DOCS_PATHS, docsRoutes } from '../../src/http/docs-page.ts';
import { createHttpApp } from '../../src/http/http-app.ts';
import { serviceForTests } from '../support/for-tests.ts';

/** This server serves all parts of the page of the OpenAPI document, to everyone. The page requests nothing from another host. */
const service = serviceForTests();

const ask = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  service.request(method, path, { headers: { 'X-API-Key': null, ...headers } });
const textOf = async (path: string) => (await ask(path)).text();
const addressesIn = (html: string) => [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address!);

const PATHS = DOCS_PATHS.filter((path) => path !== '/openapi.json');
const [VERSIONED, OWN] = [PATHS.filter((path) => path.includes('swagger')), ['/docs', '/docs/start.js']];

test('the page references its own files and no others', async () => {
  const named = addressesIn(await textOf('/docs')).filter((address) => address !== 'data:,');
  expect(['/docs', ...named].sort()).toEqual([...PATHS].sort());
  expect([...VERSIONED, ...OWN].sort()).toEqual([...PATHS].sort());
});

test.each([
  ['/docs', 'text/html;charset=utf-8', 'Zomma'],
  ['/docs/start.js', 'text/javascript;charset=utf-8', "url: '/openapi.json'"],
  [VERSIONED.find((path) => path.endsWith('.js'))!, 'text/javascript;charset=utf-8', 'SwaggerUIBundle'],
  [VERSIONED.find((path) => path.endsWith('.css'))!, 'text/css;charset=utf-8', '.swagger-ui'],
])('%s is public and %s', async (path, type, content) => {
  const response = await ask(path);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(await response.text()).toContain(content);
});

test.each(PATHS)('%s has an ETag, answers HEAD and refuses other methods', async (path) => {
  const full = await ask(path);
  const etag = full.headers.get('etag')!;
  expect(etag).toMatch(/^"[\w.-]+"$/);
  for (const method of ['GET', 'HEAD']) {
    const none = await ask(path, method, { 'If-None-Match': etag });
    expect([none.status, await none.text()]).toEqual([304, '']);
  }
  const head = await ask(path, 'HEAD');
  expect([head.status, await head.text(), head.headers.get('etag')]).toEqual([200, '', etag]);
  const post = await ask(path, 'POST');
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET']);
});

test('files with the version in their address are immutable; the others are revalidated', async () => {
  const seen = async (path: string, headers = {}) => {
    const answer = await ask(path, 'GET', headers);
    return [answer.status, answer.headers.get('cache-control'), answer.headers.has('x-request-id')];
  };
  const immutable = 'public, max-age=31536000, immutable';
  for (const path of VERSIONED) {
    expect(path).toContain(dependencies['swagger-ui-dist']);
    // A cache would keep the id of one request for a year.
    for (const coding of ['identity', 'gzip'])
      expect(await seen(path, { 'Accept-Encoding': coding, 'X-Request-Id': 'poisoned' })).toEqual([
        200,
        immutable,
        false,
      ]);
    expect(await seen(path, { 'If-None-Match': '*' })).toEqual([304, immutable, false]);
  }
  for (const path of OWN) expect(await seen(path)).toEqual([200, 'no-cache', true]);
});

test('the content security policy blocks other origins and inline scripts', async () => {
  const policy = (await ask('/docs')).headers.get('content-security-policy')!;
  const directives = new Map(policy.split('; ').map((each) => [each.split(' ')[0], each.split(' ').slice(1)]));
  expect(directives.get('default-src')).toEqual(["'none'"]);
  expect(directives.get('script-src')).toEqual(["'self'"]);
  const sources = new Set([...directives.values()].flat());
  expect(sources.difference(new Set(["'none'", "'self'", 'data:']))).toEqual(new Set());
  expect(await textOf('/docs')).not.toMatch(/<script[^>]*>[^<]|<style| on\w+=/);
});

test('the page, its script and its style reference no other origin', async () => {
  for (const path of OWN) expect(await textOf(path)).not.toContain('//');
  const style = await textOf(VERSIONED.find((path) => path.endsWith('.css'))!);
  const loaded = [...style.matchAll(/url\(\s*["']?([^"')]{0,40})|@import/g)].map(([, address]) => address ?? '@import');
  expect(loaded.length).toBeGreaterThan(10);
  expect(loaded.filter((address) => !address.startsWith('data:'))).toEqual([]);
  // The namespace of the inline pictures. It is only a name.
  expect(new Set(style.match(/https?:\/\/[^"'\\ )]*/g))).toEqual(new Set(['http://www.w3.org/2000/svg']));
});

// One of the packages reports each installation to its makers, and it is on the runtime's default list of trusted packages.
test('no package runs a script when it is installed', () => {
  expect(trustedDependencies).toEqual([]);
});

test('builds the document once, however often it is requested', async () => {
  let built = 0;
  const app = createHttpApp().use(
    docsRoutes(async () => ({ openapi: '3.1.0', built: ++built, of: 'x'.repeat(2_000) }), ''),
  );
  for (const accepted of ['identity', 'gzip', 'br', 'identity']) {
    const request = new Request('http://localhost/openapi.json', { headers: { 'Accept-Encoding': accepted } });
    expect((await app.handle(request)).status).toBe(200);
  }
  expect(built).toBe(1);
});
