import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { TOOLS } from '../../src/operations/registry.ts';
import { type Service, startService } from '../support/service.ts';

/** The published description is valid, complete, and true of what is served. */
type Document = { openapi: string; paths: Record<string, Record<string, { operationId: string }>> };

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
      '/api/v1/auth/my-key',
      '/api/v1/auth/telegram-status',
      '/api/v1/universe',
      '/api/v1/nodes/gex/{ticker}',
      '/api/v1/feeds',
      '/api/v1/flow/{ticker}',
      '/api/v1/flow/{ticker}/prints',
      '/api/v1/nodes/gex/{ticker}/combined',
      '/api/v1/nodes/gex/{ticker}/expiries',
      '/api/v1/nodes/gex/{ticker}/history',
      '/api/v1/nodes/gex/{ticker}/profile',
      '/api/v1/nodes/gex/{ticker}/strikes',
      '/api/v1/physics/greeks',
      '/api/v1/physics/greeks/batch',
      '/api/v1/physics/iv',
      '/api/v1/stream/gex/{ticker}',
      '/sse',
      '/messages',
      ...TOOLS.map(({ name }) => `/api/v1/tools/${name}`),
    ].sort(),
  );
});

test('every path it names is served, with that method', async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) {
      const response = await service.request(method.toUpperCase(), path.replace('{ticker}', 'SPY'));
      if (response.headers.get('content-type') === 'text/event-stream') await response.body?.cancel();
      expect([path, method, [404, 405].includes(response.status)]).toEqual([path, method, false]);
    }
  }
});

test('operation ids are unique', () => {
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});
