import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Service, startService } from '../support/service.ts';

/** The header field Strict-Transport-Security, on a service that serves HTTPS and on one that does not. */
let https: Service;
let http: Service;
beforeAll(async () => {
  [https, http] = [await startService({ tlsCert: 'cert.pem' }), await startService()];
});
afterAll(async () => {
  await https.close();
  await http.close();
});

const NO_KEY = { 'X-API-Key': null };
const fieldOf = async (service: Service, method: string, path: string, host: string, headers = {}) => {
  const response = await service.request(method, path, { headers: { Host: host, ...headers } });
  await response.body?.cancel();
  return [response.status, response.headers.get('strict-transport-security')];
};

test.each([
  ['GET', '/', 200, NO_KEY],
  ['GET', '/health', 200, NO_KEY],
  ['HEAD', '/health', 200, NO_KEY],
  ['GET', '/ready', 200, NO_KEY],
  ['GET', '/docs', 200, NO_KEY],
  ['GET', '/openapi.json', 200, NO_KEY],
  ['GET', '/api/v1/universe', 200, {}],
  ['GET', '/api/v1/nodes/gex/SPY', 200, {}],
  ['GET', '/api/v1/stream/gex/SPY', 200, {}],
  ['GET', '/sse', 200, {}],
  ['GET', '/api/v1/universe', 401, NO_KEY],
  ['GET', '/api/v1/auth/my-key', 400, NO_KEY],
  ['GET', '/nowhere', 404, {}],
  ['PUT', '/health', 405, NO_KEY],
  ['POST', '/api/v1/physics/greeks', 422, { 'Content-Type': 'application/json' }],
  ['POST', '/mcp', 422, { 'Content-Type': 'application/json' }],
])('%s %s (%i) has it over HTTPS alone', async (method, path, status, headers) => {
  const [actual, value] = await fieldOf(https, method, path, '127.0.0.1:8443', headers);
  expect(value).toBe('max-age=31536000');
  if (path !== '/mcp') expect(actual).toBe(status);
  expect(await fieldOf(http, method, path, '127.0.0.1:8080', headers)).toEqual([actual!, null]);
});

test.each([
  ['localhost', null],
  ['localhost:8443', null],
  ['[::1]:8443', 'max-age=31536000'],
])('with the Host %s it is %p, because a browser would apply it to every port of this name', async (host, expected) => {
  expect(await fieldOf(https, 'GET', '/health', host)).toEqual([200, expected]);
});
