import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { DOCS_PATHS } from '../../src/http/docs-page.ts';
import { WEB_PATHS } from '../../src/http/web-page.ts';
import { restView, toolView } from '../../src/operations/engine/perform.ts';
import { validate } from '../../src/operations/engine/validate.ts';
import { OPERATIONS, TOOLS } from '../../src/operations/registry.ts';
import type { OpenapiDocument } from '../support/openapi-calls.ts';
import { type Service, startService } from '../support/service.ts';

/** The published document is valid, complete, and matches the served routes. */
interface Document extends OpenapiDocument {
  readonly openapi: string;
  readonly tags: { name: string }[];
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
  expect(await new Validator().validate(structuredClone({ ...document }))).toEqual({ valid: true });
});

test('names every endpoint of the contract and every tool', () => {
  expect(Object.keys(document.paths).sort()).toEqual(
    [
      '/health',
      '/ready',
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
      '/api/v1/levels',
      '/api/v1/levels/history',
      '/api/v1/flow/{ticker}',
      '/api/v1/flow/{ticker}/prints',
      '/api/v1/nodes/gex/{ticker}/combined',
      '/api/v1/nodes/gex/{ticker}/expiries',
      '/api/v1/nodes/gex/{ticker}/hedging',
      '/api/v1/nodes/gex/{ticker}/hedging.png',
      '/api/v1/nodes/gex/{ticker}/history',
      '/api/v1/nodes/gex/{ticker}/horizons',
      '/api/v1/nodes/gex/{ticker}/levels',
      '/api/v1/nodes/gex/{ticker}/matrix',
      '/api/v1/nodes/gex/{ticker}/open-interest',
      '/api/v1/nodes/gex/{ticker}/profile',
      '/api/v1/nodes/gex/{ticker}/record',
      '/api/v1/nodes/gex/{ticker}/strikes',
      '/api/v1/nodes/gex/{ticker}/view',
      '/api/v1/physics/greeks',
      '/api/v1/physics/greeks/batch',
      '/api/v1/physics/greeks/batch.f64',
      '/api/v1/physics/iv',
      '/api/v1/physics/iv.f64',
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

test('every endpoint has a heading and a description, and every parameter of an operation a description', () => {
  const headings = document.tags.map(({ name }) => name);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const { tags, description, parameters = [] } of Object.values(methods)) {
      expect([path, headings.includes(tags[0]!), (description ?? '').length > 20]).toEqual([path, true, true]);
      if (path.startsWith('/api/v1/nodes') || path.startsWith('/api/v1/tools'))
        expect([path, parameters.filter((each) => !('$ref' in each || each.description))]).toEqual([path, []]);
    }
  }
});

test('no object schema of several places is inline, and each component has a name of its own choice', () => {
  const places = new Map<string, string[]>();
  for (const { schema, place } of schemasOf(document)) {
    if (schema.type !== 'object' || schema.properties === undefined) continue;
    const { description: _, ...shape } = schema;
    const text = JSON.stringify(shape);
    places.set(text, [...(places.get(text) ?? []), place]);
  }
  expect(places.size).toBeGreaterThan(100);
  expect([...places.values()].filter((each) => each.length > 1)).toEqual([]);
  expect(Object.keys(document.components.schemas!).filter((name) => UNNAMED.test(name))).toEqual([]);
});

test('every text that is a date or an instant has a format, a pattern or variants', () => {
  const dated = schemasOf(document).filter(
    ({ schema }) => [schema.type].flat().includes('string') && DATED.test(schema.of ?? ''),
  );
  expect(dated.length).toBeGreaterThan(70);
  expect(
    dated
      .filter(({ schema }) => !(schema.format || schema.pattern || schema.anyOf || schema.enum))
      .map(({ place }) => place),
  ).toEqual([]);
});

test('every answer of market data declares its tag and its data, and If-None-Match gives 304', () => {
  const market = OPERATIONS.filter(({ ofMarket, ofNow, rest }) => ofMarket && !ofNow && rest?.method === 'GET');
  expect(market.length).toBeGreaterThan(10);
  for (const { rest } of market) {
    const { responses, parameters } = document.paths[rest!.path]!.get!;
    for (const status of [200, 304]) {
      const names = Object.keys(responses[status]!.headers!);
      expect([rest!.path, names]).toEqual([
        rest!.path,
        expect.arrayContaining(['ETag', 'X-Data-As-Of', 'Cache-Control']),
      ]);
    }
    expect(parameters).toContainEqual({ $ref: '#/components/parameters/IfNoneMatch' });
  }
  for (const status of [429, 503])
    expect(document.components.responses![`Problem${status}`]).toMatchObject({ headers: { 'Retry-After': {} } });
});

const UNNAMED = /^Shared\d+$/;
const DATED = /YYYY-MM-DD|ISO 8601/;

/** A schema in the document. `of` is its description, or that of the list or the alternative that it stands in. */
interface Found {
  readonly place: string;
  readonly schema: Record<string, unknown> & { readonly of?: string };
}

/** Returns every schema of the document, with its place, and with the description of what it stands in. */
function schemasOf(value: unknown, place = '', of?: string): Found[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((each, i) => schemasOf(each, `${place}/${i}`, of));
  const schema = value as Record<string, unknown>;
  const said = typeof schema.description === 'string' ? schema.description : of;
  const inner = Object.entries(schema).flatMap(([name, each]) => {
    if (name.startsWith('example')) return [];
    const isPart = ['items', 'anyOf', 'schema'].includes(name) || /^\d+$/.test(place.split('/').at(-1)!);
    return schemasOf(each, `${place}/${name}`, isPart ? said : undefined);
  });
  return [{ place, schema: { ...schema, ...(said !== undefined && { of: said }) } }, ...inner];
}

test('the query of every market route and tool takes a moment', () => {
  const taking = (path: string) =>
    Object.values(document.paths[path]!)[0]!.parameters?.flatMap((each) => ('name' in each ? each.name : []));
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
