import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { DOCS_PATHS } from '../../src/http/docs-page.ts';
import { WEB_PATHS } from '../../src/http/web-page.ts';
import { restView, toolView } from '../../src/operations/engine/perform.ts';
import { OPERATIONS, TOOLS } from '../../src/operations/registry.ts';
import { dayBefore } from '../operations/small-market.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { computeLevels } from '../support/service.ts';

/** A fault of a request has the same status, code and pointer on every route, and no parameter without effect is accepted. */
const service = serviceForTests();
beforeAll(async () => {
  const { store, context } = service.app;
  store.saveChain(dayBefore(context.market.chain('SPY')));
  await computeLevels(service);
});

/** The routes that ignore unknown parameters. docs/rest.md gives the reasons. */
const TOLERANT = new Set([
  '/health',
  '/ready',
  '/sse',
  '/messages',
  '/mcp',
  ...DOCS_PATHS.filter((path) => path !== '/openapi.json'),
  ...WEB_PATHS,
]);

interface Problem {
  readonly code: string;
  readonly hint: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

async function ask(method: string, path: string, body?: unknown) {
  const response = await service.request(method, path, body === undefined ? {} : { body });
  if (response.headers.get('content-type') === 'text/event-stream') await response.body!.cancel();
  const isJson = response.headers.get('content-type')?.includes('json');
  return { status: response.status, body: (isJson ? await response.json() : {}) as Problem & Record<string, unknown> };
}

/** Returns the status, the code and the first pointer of an answer. */
function faultIn({ status, body: { code, errors } }: Awaited<ReturnType<typeof ask>>): readonly unknown[] {
  return [status, code, errors?.[0]?.pointer];
}

const routes = () =>
  service.app.routes.map(({ method, path }) => ({ method, path, own: path.replace(':ticker', 'SPY') }));

test('the lists have every route', () => {
  const strict = routes().filter(({ path }) => !TOLERANT.has(path));
  expect(strict.length).toBeGreaterThan(30);
  for (const path of TOLERANT) expect([path, routes().some((route) => route.path === path)]).toEqual([path, true]);
});

describe('an unknown parameter', () => {
  /** The parameters of each path in the OpenAPI document. */
  let known: Record<string, ReadonlySet<string>>;
  beforeAll(async () => {
    type Described = { parameters?: { name: string; in: string }[] };
    const { body } = await ask('GET', '/openapi.json');
    const paths = body.paths as Record<string, Record<string, Described>>;
    known = Object.fromEntries(
      Object.entries(paths).map(([path, methods]) => {
        const parameters = Object.values(methods).flatMap((each) => each.parameters ?? []);
        return [path, new Set(parameters.filter((each) => each.in === 'query').map(({ name }) => name))];
      }),
    );
  });
  const knownOf = (path: string) => known[path.replace(':ticker', '{ticker}')] ?? new Set<string>();

  test('is a 400 with its pointer on every route that is not named as tolerant', async () => {
    const strict = routes().filter(({ path }) => !TOLERANT.has(path));
    const name = fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_.~/-]{1,60}$/),
      fc.constantFrom('expires', 'ticker', 'uuid_', '_', 'utm_source', '__proto__', 'constructor', 'toString', 'key'),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...strict), name, fc.boolean(), async ({ method, path, own }, given, isLast) => {
        fc.pre(!knownOf(path).has(given));
        const first = isLast && path.endsWith('/my-key') ? 'uuid=0b9f5a3c-6d1e-4c7a-8f2b-1a2b3c4d5e6f&' : '';
        const answer = await ask(
          method,
          `${own}?${first}${encodeURIComponent(given)}=1`,
          method === 'POST' ? {} : undefined,
        );
        const pointer = `/${given.slice(0, 40).replaceAll('~', '~0').replaceAll('/', '~1')}`;
        expect([path, given, ...faultIn(answer)]).toEqual([path, given, 400, 'invalid_parameter', pointer]);
      }),
      { numRuns: 1_500, seed: 20261128 },
    );
  }, 60_000);

  test('is refused on each strict route, and ignored on each tolerant one', async () => {
    for (const { method, path, own } of routes()) {
      const { status, body } = await ask(method, `${own}?bogus=1`, method === 'POST' ? {} : undefined);
      const isRefused = status === 400 && body.code === 'invalid_parameter' && body.errors?.[0]?.pointer === '/bogus';
      expect([method, path, isRefused]).toEqual([method, path, !TOLERANT.has(path)]);
    }
  });

  test.each([
    ['/api/v1/nodes/gex/SPY?expires=0dte', 'Did you mean expiries?'],
    ['/api/v1/nodes/gex/SPY/strikes?expires=0dte&wieght=volume', 'Did you mean expiries, weight?'],
    ['/api/v1/nodes/gex/SPY/strikes?expiry=0dte', 'Did you mean expiries?'],
    ['/api/v1/flow/SPY?day=3', 'Did you mean days?'],
    ['/api/v1/flow/SPY?bogus=3', 'Parameters: days, min_premium, at, digits, format, table, fields.'],
    ['/api/v1/universe?theme=x', 'This route takes no query parameters.'],
    ['/api/v1/account?x', 'This route takes no query parameters.'],
    ['/openapi.json?format=yaml', 'This route takes no query parameters.'],
    ['/api/v1/stream/gex/SPY?last-event-id=1', 'Did you mean last_event_id?'],
    ['/api/v1/auth/my-key?uid=1', 'Did you mean uuid?'],
    [
      '/api/v1/nodes/gex/SPY/hedging?format=image&fields=moves',
      'Parameters: moves, expiry, smile_dynamics, format, forward, rate, dividend, gamma, iv, weight, sign, expiries, at.',
    ],
  ])('%s: %s', async (path, hint) => {
    const { status, body } = await ask('GET', path);
    expect([status, body.code, body.hint]).toEqual([400, 'invalid_parameter', hint]);
  });

  test('a ticker in the query, beside that of the path, is refused', async () => {
    expect(faultIn(await ask('GET', '/api/v1/nodes/gex/SPY?ticker=QQQ'))).toEqual([
      400,
      'invalid_parameter',
      '/ticker',
    ]);
  });

  test('a bad value needs no list of parameters', async () => {
    const { body } = await ask('GET', '/api/v1/nodes/gex/SPY/strikes?rate=high');
    expect(body.hint).toBe('See GET /docs for the requests that this server accepts.');
  });

  test.each([
    ['GET', '/api/v1/stream/gex/SPY?last_event_id=1&last_event_id=2', '/last_event_id'],
    ['POST', '/api/v1/tools/get_live_gex_nodes?extended=true&extended=false', '/extended'],
    ['POST', '/api/v1/tools/get_live_gex_nodes?at=2026-11-20&at=2026-11-21', '/at'],
    ['POST', '/api/v1/tools/calculate_kelly_sizing?at=2026-11-20', '/at'],
    ['POST', '/api/v1/physics/greeks/batch?units=raw', '/units'],
    ['GET', '/api/v1/nodes/gex/SPY/strikes?weight=volume&weight=volume', '/weight'],
    ['GET', '/api/v1/nodes/gex/SPY/strikes?rate=0x1', '/rate'],
    ['GET', '/api/v1/screen?limit=1_0', '/limit'],
  ])('%s %s is refused at %s', async (method, path, pointer) => {
    const answer = await ask(method, path, method === 'POST' ? { ticker: 'SPY' } : undefined);
    expect(faultIn(answer)).toEqual([400, 'invalid_parameter', pointer]);
  });

  test('a moment in the query and among the arguments is refused', async () => {
    const answer = await ask('POST', '/api/v1/tools/get_live_gex_nodes?at=2026-11-20', {
      ticker: 'SPY',
      at: '2026-11-19',
    });
    expect(faultIn(answer)).toEqual([400, 'invalid_parameter', '/at']);
  });
});

/** A fault, the arguments that have it, and what answers it in a query or a path, and in a body. */
interface Fault {
  readonly what: string;
  readonly names: readonly string[];
  readonly value: unknown;
  readonly code: { readonly query: readonly [number, string]; readonly body: readonly [number, string] };
}

const INVALID = { query: [400, 'invalid_parameter'], body: [422, 'invalid_body'] } as const;
const UNKNOWN_EXPIRY = { query: [400, 'unknown_expiry'], body: [422, 'unknown_expiry'] } as const;
const MOMENTS = ['at', 'from', 'to', 'since', 'compare_with'];
const EXPIRIES = ['expiry', 'expiries', 'target_expiry'];

const FAULTS: readonly Fault[] = [
  { what: 'an expiry that is not listed', names: EXPIRIES, value: '2040-01-20', code: UNKNOWN_EXPIRY },
  { what: 'an expiry that is no day of the calendar', names: EXPIRIES, value: '2026-02-30', code: INVALID },
  { what: 'a cursor that no answer has', names: ['cursor'], value: 'more', code: INVALID },
  { what: 'a condition on no column', names: ['where'], value: ['foo>1'], code: INVALID },
  { what: 'a time with a space for its +', names: MOMENTS, value: '2026-11-20T16:00:00 05:00', code: INVALID },
  { what: 'a time that is no day of the calendar', names: MOMENTS, value: '2026-02-30', code: INVALID },
  { what: 'a moment in the future', names: ['at'], value: '2126-02-03', code: INVALID },
  {
    what: 'a choice that is not offered',
    names: ['sign', 'per', 'format', 'order', 'measure'],
    value: 'x',
    code: INVALID,
  },
  { what: 'a number out of bounds', names: ['rate', 'points', 'limit', 'days', 'band'], value: -2, code: INVALID },
];

const REQUIRED: Record<string, unknown> = { ticker: 'SPY', single_name_ticker: 'NVDA', target_expiry: '2026-12-18' };

/** The routes that take an argument: GET with a query, the tools with a body, and the moment of the tools with a query. */
function waysOf(argument: string) {
  const gets = OPERATIONS.filter((each) => each.rest?.method === 'GET' && restView(each).input.properties[argument]);
  const tools = TOOLS.filter((each) => toolView(each).input.properties[argument]);
  return [
    ...gets.map(({ rest }) => ({
      where: 'query' as const,
      name: `GET ${rest!.path}`,
      send: (value: unknown) =>
        ask('GET', `${rest!.path.replace('{ticker}', 'SPY')}?${argument}=${encodeURIComponent(String(value))}`),
    })),
    ...tools.map((tool) => ({
      where: 'body' as const,
      name: `POST /api/v1/tools/${tool.name}`,
      send: (value: unknown) => {
        const { input } = toolView(tool);
        const needed = Object.entries({ ...tool.example, ...REQUIRED }).filter(([key]) =>
          input.required?.includes(key),
        );
        return ask('POST', `/api/v1/tools/${tool.name}`, { ...Object.fromEntries(needed), [argument]: value });
      },
    })),
    ...(argument === 'at' ? tools : []).map((tool) => ({
      where: 'query' as const,
      name: `POST /api/v1/tools/${tool.name}?at=`,
      send: (value: unknown) =>
        ask('POST', `/api/v1/tools/${tool.name}?at=${encodeURIComponent(String(value))}`, tool.example),
    })),
  ];
}

describe.each(FAULTS.map((fault) => [fault.what, fault] as const))('%s', (_what, { names, value, code }) => {
  test('has one code in queries and one in bodies', async () => {
    let asked = 0;
    for (const argument of names) {
      for (const { where, name, send } of waysOf(argument)) {
        const answer = await send(value);
        const pointer = `/${argument}${Array.isArray(value) ? '/0' : ''}`;
        expect([name, ...faultIn(answer)]).toEqual([name, ...code[where], pointer]);
        if (String(value).includes(' '))
          expect([name, answer.body.hint]).toEqual([name, expect.stringContaining('%2B')]);
        asked++;
      }
    }
    expect(asked).toBeGreaterThan(1);
  });
});

test('a fault of the ticker or of its data is 400 everywhere', async () => {
  for (const { name, where, send } of waysOf('ticker').filter(({ where }) => where === 'body'))
    expect([name, where, ...faultIn(await send('ZZZZ')).slice(0, 2)]).toEqual([name, where, 400, 'unknown_ticker']);
});

test('an expiry that is not listed is that fault also where nothing is stored to compare with', async () => {
  const path = '/api/v1/nodes/gex/QQQ/open-interest?expiries=';
  expect(faultIn(await ask('GET', `${path}2040-01-20`))).toEqual([400, 'unknown_expiry', '/expiries']);
  expect(faultIn(await ask('GET', `${path}all`)).slice(0, 2)).toEqual([400, 'no_chain']);
});
