import { expect, test } from 'bun:test';
import { CONTRACT_TOOLS, TOOLS } from '../../src/operations/registry.ts';
import { startServed } from '../support/service.ts';
import { connectNew, keyOf } from './connect.ts';

const CONTRACT = CONTRACT_TOOLS.map(({ name }) => name);
const FURTHER = TOOLS.slice(CONTRACT.length).map(({ name }) => name);

test('--tools contract offers the nine tools alone, with instructions and prompts that name no other', async () => {
  await using server = await startServed({ tools: 'contract' });
  const client = await connectNew('auto', server.url, keyOf(server.service));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(CONTRACT);
  expect((await client.listPrompts()).prompts).toEqual([]);
  for (const name of [...FURTHER, 'read_resource']) {
    const refusal = await client.callTool({ name, arguments: {} }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: -32602, message: `Tool '${name}' is not registered` });
  }
  await client.close();
});
