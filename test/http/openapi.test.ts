import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { DOCS_PATHS } from '../../src/http/docs-page.ts';
import { WEB_PATHS } from '../../src/http/web-page.ts';
import { restView, toolView } from '../../src/operations/engine/perform.ts';
import { validate } from '../../src/operations/engine/validate.ts';
import { OPERATIONS, TOOLS } from '../../src/operations/registry.ts';
import { type Service, startService } from '../support/service.ts';

/** The published document is valid, complete, and matches the served routes. */
type Document = { openapi: string; tags: { name: string }[]; paths: Record<string, Record<string, Described>> };
interface Described {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { name: string; in: string; description?: string }[];
}

let service: Service;
let document: Document;
beforeAll(async () => {
  service = await startService();
  const response = await service.request('GET', '/openapi.json', { headers: { 'X-API-Key': null } });
  expect(response.status).toBe(200);
  document = (await response.json()) as Document;
});
afterAll(() => service.close());

test('is valid OpenAPI 3.1', async () => {
  expect(document.openapi).toStartWith('3.1');
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
});

test('names every endpoint of the contract and every tool', () => {
  expect(Object.keys(document.paths).sort()).toEqual(
    [
      '/health',
      '/openapi.json',
      '/docs',
      '/api/v1/auth/my-key',
      '/api/v1/auth/sign-in',
      '/api/v1/auth/telegram-status',
      '/api/v1/universe',
      '/api/v1/nodes/gex/{ticker}',
      '/api/v1/account',
      '/api/v1/feeds',
      '/api/v1/calendar',
      '/api/v1/changes',
      '/api/v1/flow/{ticker}',
      '/api/v1/flow/{ticker}/prints',
      '/api/v1/nodes/gex/{ticker}/combined',
      '/api/v1/nodes/gex/{ticker}/expiries',
      '/api/v1/nodes/gex/{ticker}/hedging',
      '/api/v1/nodes/gex/{ticker}/history',
      '/api/v1/nodes/gex/{ticker}/levels',
      '/api/v1/nodes/gex/{ticker}/matrix',
      '/api/v1/nodes/gex/{ticker}/open-interest',
      '/api/v1/nodes/gex/{ticker}/profile',
      '/api/v1/nodes/gex/{ticker}/record',
      '/api/v1/nodes/gex/{ticker}/strikes',
      '/api/v1/nodes/gex/{ticker}/view',
      '/api/v1/physics/greeks',
      '/api/v1/physics/greeks/batch',
      '/api/v1/physics/iv',
      '/api/v1/quotes/{ticker}',
      '/api/v1/screen',
      '/api/v1/stream/gex/{ticker}',
      '/api/v1/surface/{ticker}',
      '/sse',
      '/messages',
      '/mcp',
      ...TOOLS.map(({ name }) => `/api/v1/tools/${name}`),
    ].sort(),
  );
});

test('the server serves every path of the document, with its method', async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) {
      const response = await service.request(method.toUpperCase(), path.replace('{ticker}', 'SPY'));
      if (response.headers.get('content-type') === 'text/event-stream') await response.body?.cancel();
      expect([path, method, [404, 405].includes(response.status)]).toEqual([path, method, false]);
    }
  }
});

test('the document names every served route except the pages and their parts', () => {
  const served = service.app.routes
    .filter(({ path }) => ['/docs', '/openapi.json'].includes(path) || !DOCS_PATHS.includes(path))
    .filter(({ path }) => !WEB_PATHS.includes(path))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  expect(served.length).toBeGreaterThan(20);
  expect(served.sort()).toEqual(
    Object.entries(document.paths)
      .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
      .sort(),
  );
});

test.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  'the example of %s is a valid call',
  (_, operation) => {
    const { example, tool, rest } = operation;
    const views = [...(tool ? [toolView(operation)] : []), ...(rest ? [restView(operation)] : [])];
    for (const { input } of views) expect(() => validate(input, { ...example }, 'invalid_body')).not.toThrow();
  },
);

test('every endpoint has a heading, and every parameter of an operation a description', () => {
  const headings = document.tags.map(({ name }) => name);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { tags, parameters = [] } of Object.values(methods)) {
      expect([path, headings.includes(tags[0]!)]).toEqual([path, true]);
      if (path.startsWith('/api/v1/nodes') || path.startsWith('/api/v1/tools'))
        expect([path, parameters.filter(({ description }) => !description)]).toEqual([path, []]);
    }
  }
});

test('the query of every market route and tool takes a moment', () => {
  const taking = (path: string) => Object.values(document.paths[path]!)[0]!.parameters?.map(({ name }) => name);
  for (const { ofMarket, tool, rest, name } of OPERATIONS) {
    const paths = [...(rest?.method === 'GET' ? [rest.path] : []), ...(tool ? [`/api/v1/tools/${name}`] : [])];
    for (const path of paths) expect([path, taking(path)?.includes('at')]).toEqual([path, ofMarket === true]);
  }
});

test('operation ids are unique', () => {
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});
