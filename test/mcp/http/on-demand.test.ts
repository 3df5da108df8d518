import { expect, test } from 'bun:test';
import { catalogOf } from '../../../src/mcp/catalog.ts';
import { createMcpOnDemand } from '../../../src/mcp/http/on-demand.ts';
import { createMcpOverHttp } from '../../../src/mcp/http/transports.ts';
import { serviceForTests } from '../../support/for-tests.ts';

const service = serviceForTests();

function onDemand() {
  let loads = 0;
  const mcp = createMcpOnDemand(async () => {
    loads++;
    const { context, store, scheduler } = service.app;
    return createMcpOverHttp({
      context,
      version: '0',
      observe: () => {},
      ...catalogOf('all'),
      log: store,
      simulated: true,
      scheduler,
    });
  });
  return { mcp, loads: () => loads };
}

test('loads once for the first clients together, and not again', async () => {
  const { mcp, loads } = onDemand();
  await Promise.all([mcp.load(), mcp.load()]);
  expect(loads()).toBe(1);
  const account = service.app.access.authenticate(service.key);
  const { body } = await mcp.loaded!.sse.open(account);
  expect(mcp.loaded!.sse.size).toBe(1);
  await body!.cancel();
  await mcp.close();
});

test('without an MCP client a service has no sessions, ignores wakes, and closes without a load', async () => {
  const { mcp, loads } = onDemand();
  mcp.wake();
  expect(mcp.loaded).toBeUndefined();
  await mcp.close();
  expect(loads()).toBe(0);
});

test('closes what finishes loading only while the service closes', async () => {
  const { mcp } = onDemand();
  const loading = mcp.load();
  await mcp.close();
  await loading;
  const account = service.app.access.authenticate(service.key);
  expect(mcp.loaded!.streamable.sessions).toBe(0);
  expect(() => mcp.loaded!.sse.session(account, 'none')).toThrow(expect.objectContaining({ code: 'not_found' }));
});
