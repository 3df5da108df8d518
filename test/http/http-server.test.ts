import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createByteBudget } from '../../src/access/byte-budget.ts';
import { createSignInCodes } from '../../src/access/sign-in-codes.ts';
import { createDrain } from '../../src/http/drain.ts';
import { createServerApp } from '../../src/http/http-server.ts';
import { createMyKeyPolicy } from '../../src/http/my-key-policy.ts';
import { createRefusals } from '../../src/http/refusals.ts';
import { createAnswerCache } from '../../src/operations/engine/answer-cache.ts';
import { createScheduler } from '../../src/operations/engine/scheduler.ts';
import { serviceForTests } from '../support/for-tests.ts';
import { ROOT } from '../support/process.ts';

/** What the framework does before a handler runs. It decides by the source text of the handlers. */
const service = serviceForTests();

test('Elysia reads no header, cookie, query or body, because no handler or hook uses them', () => {
  const { store, context, access, gexStreams, mcp } = service.app;
  const app = createServerApp({
    ...{
      context,
      access,
      gexStreams,
      mcp,
      members: store,
      limiter: undefined,
      drain: createDrain(),
      notReady: () => [],
      addressOf: () => '127.0.0.1',
      isFromProxy: () => false,
      refusals: createRefusals(() => {}, Date.now),
      signInCodes: createSignInCodes(),
      myKeyPolicy: createMyKeyPolicy({ myKey: 'loopback', myKeyFrom: undefined, myKeyToken: undefined }),
      answers: createAnswerCache(context, store),
      isHttps: false,
    },
    origins: { hosts: undefined, origins: new Set<string>() },
    ...{ scheduler: createScheduler(), budget: createByteBudget() },
    loaded: () => undefined,
    basePath: '',
    openapi: async () => ({}),
    observe: () => {},
  });
  const { router } = app;
  app.compile();
  const handlers = router.history.map((route) => [route.path, String(route.compile?.() ?? route.composed)] as const);
  expect(handlers.length).toBeGreaterThan(30);
  const reading = handlers.filter(([, text]) => /c\.(?:headers|cookie|query|body)\b|parseQuery/.test(text));
  expect(reading.map(([path]) => path)).toEqual([]);
  for (const hook of app.event.request ?? []) expect(hook.isAsync).toBe(false);
});

test('the binary keeps identifiers, by which Elysia finds what a handler uses', () => {
  const build = readFileSync(join(ROOT, 'build.ts'), 'utf8');
  expect(build).toContain('--minify-whitespace');
  expect(build).not.toMatch(/'--minify(?:-identifiers)?'/);
});

test.each([
  ['GET', '/api/v1/nodes/gex/SPY', {}, 200, '/api/v1/nodes/gex/{ticker}'],
  ['HEAD', '/api/v1/nodes/gex/SPY', {}, 200, '/api/v1/nodes/gex/{ticker}'],
  ['GET', '/api/v1/nodes/gex/SPY', { 'X-API-Key': null }, 401, '/api/v1/nodes/gex/{ticker}'],
  ['PUT', '/api/v1/nodes/gex/SPY/strikes', {}, 405, '/api/v1/nodes/gex/{ticker}/strikes'],
  ['POST', '/api/v1/physics/greeks', {}, 422, '/api/v1/physics/greeks'],
  ['GET', '/mcp', { 'X-API-Key': null }, 401, '/mcp'],
  ['GET', '/nothing/of/SPY', {}, 404, '(none)'],
])('%s %s with %j is observed: %d, %s', async (method, path, headers, status, route) => {
  const id = (await service.request(method, path, { headers })).headers.get('x-request-id')!;
  // The observation follows in a turn after the answer.
  await new Promise(setImmediate);
  const observed = service.observations.find((each) => each.kind === 'request_answered' && each.request_id === id);
  expect(observed).toMatchObject({ method, route, status });
});

test('an id of a client that is not a trusted proxy is not kept', async () => {
  const headers = { 'X-Request-Id': 'poisoned' };
  const response = await service.request('GET', '/health', { headers });
  expect(response.headers.get('x-request-id')).toMatch(/^[\da-f]{16}$/);
});
