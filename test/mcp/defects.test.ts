import { afterAll, beforeAll, expect, test } from 'bun:test';
import { RESOURCES } from '../../src/mcp/resources.ts';
import { TOOLS } from '../../src/operations/registry.ts';
import { type Served, type Service, startServed } from '../support/service.ts';
import { CLIENT_NAMES, CLIENTS, keyOf } from './connect.ts';

/** The operator sees the details of an internal error. Clients learn only that one occurred. */
const DEFECT = new Error('SELECT * FROM members');
const breaks = (): never => {
  throw DEFECT;
};
let service: Service;
let server: Served;
beforeAll(async () => {
  const offered = { tools: () => [{ ...TOOLS[4]!, run: breaks }], resources: { ...RESOURCES, read: breaks } };
  server = await startServed({ offered });
  ({ service } = server);
});
afterAll(() => server.close());

test.each(CLIENT_NAMES)('%s', async (name) => {
  const client = await CLIENTS[name](server.url, keyOf(service));
  service.observations.splice(0);
  const answer = await client.callTool({ name: 'calculate_kelly_sizing', arguments: { win_prob: 0.6 } });
  expect(answer).toMatchObject({ isError: true });
  const refusal = await client.readResource({ uri: 'zomma://universe' }).catch((error: Error) => error);
  expect(refusal).toMatchObject({ code: -32603 });
  expect(JSON.stringify([answer, (refusal as Error).message])).not.toContain('SELECT');
  expect(service.observations.filter(({ kind }) => kind === 'tool_failed')).toMatchObject([
    { tool: 'calculate_kelly_sizing', error: DEFECT },
    { tool: 'resources/read', error: DEFECT },
  ]);
  await client.close();
});
