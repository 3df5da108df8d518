import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createMcpOnDemand } from '../../../src/mcp/http/on-demand.ts';
import { createMcpOverHttp } from '../../../src/mcp/http/transports.ts';
import { OFFERED } from '../../../src/mcp/offered.ts';
import { type Service, startService } from '../../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

function onDemand() {
  let loads = 0;
  const mcp = createMcpOnDemand(async () => {
    loads++;
    const { context, store } = service.app;
    return createMcpOverHttp({ context, version: '0', observe: () => {}, ...OFFERED, log: store, simulated: true });
  });
  return { mcp, loads: () => loads };
}

const URL_OF = 'http://localhost';

test.each([
  ['/mcp', true],
  ['/sse', true],
  ['/messages?sessionId=a', true],
  ['/health', false],
  ['/api/v1/universe?next=/mcp', false],
  ['/mcp/more', false],
  ['/openapi.json', false],
])('%s needs it: %p', (path, needs) => {
  expect(onDemand().mcp.isFor(URL_OF + path)).toBe(needs);
});

test('it is loaded once, for the first clients together, and then asked no more', async () => {
  const { mcp, loads } = onDemand();
  await Promise.all([mcp.load(), mcp.load()]);
  expect([loads(), mcp.isFor(`${URL_OF}/mcp`)]).toEqual([1, false]);
  const account = service.app.access.authenticate(service.key);
  const { body } = mcp.sse.open(account);
  expect(mcp.sse.size).toBe(1);
  await body!.cancel();
  await mcp.close();
});

test('a service that no client of MCP has asked has no sessions, hears of levels and closes without it', async () => {
  const { mcp, loads } = onDemand();
  mcp.wake();
  expect([mcp.sse.size, mcp.streamable.sessions]).toEqual([0, 0]);
  await mcp.close();
  expect(loads()).toBe(0);
});

test('what is loaded only once the service closes is closed too', async () => {
  const { mcp } = onDemand();
  const loading = mcp.load();
  await mcp.close();
  await loading;
  const account = service.app.access.authenticate(service.key);
  expect(mcp.streamable.sessions).toBe(0);
  expect(() => mcp.sse.session(account, 'none')).toThrow(expect.objectContaining({ code: 'not_found' }));
});
