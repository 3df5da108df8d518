import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServerApp } from '../../src/http/server.ts';
import { ROOT } from '../support/process.ts';
import { type Service, startService } from '../support/service.ts';

/** What the framework does for a request before a handler sees it, which it decides by the handlers' source text. */
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('Elysia reads no header, cookie, query or body of a request: no handler or hook asks for them', () => {
  const { store, context, access, gexStreams, mcp } = service.app;
  const app = createServerApp({
    ...{ context, access, gexStreams, mcp, members: store, limiter: undefined, storeVersion: store.version },
    origins: { hosts: undefined, origins: new Set<string>() },
    loaded: () => undefined,
    openapi: () => ({}),
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

test('the binary keeps names, from which Elysia tells what a handler asks for', () => {
  const build = readFileSync(join(ROOT, 'build.ts'), 'utf8');
  expect(build).toContain('--minify-whitespace');
  expect(build).not.toMatch(/'--minify(?:-identifiers)?'/);
});
