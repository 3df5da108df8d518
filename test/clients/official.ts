import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as StreamableV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type ClientUnderTest, connectionOf, type Target } from './client.ts';
import { bearerHeader, bridged, type Command, keyHeader, local, type SendKey } from './doors.ts';
import { INFO, overStdio } from './stdio.ts';

const V1 = { packageName: '@modelcontextprotocol/sdk', runtime: 'bun' } as const;

/**
 * The official clients of both generations. The second requests the newest protocol in mode `auto`. In mode `bearer`, a client sends nothing
 * but a bearer token.
 */
export const OFFICIAL: readonly ClientUnderTest[] = [
  ...firstGeneration(keyHeader),
  { ...V1, transport: 'stdio', connect: (to) => overStdio(local(to)) },
  { ...V1, transport: 'stdio, bridged', connect: (to) => overStdio(bridged(to)) },
  ...firstGeneration(bearerHeader).map((client) => ({ ...client, mode: 'bearer' })),
  ...(['legacy', 'auto'] as const).flatMap(secondGeneration),
  ...secondGenerationWithToken(),
];

function firstGeneration(sendKey: SendKey): ClientUnderTest[] {
  return [
    {
      ...V1,
      transport: 'HTTP+SSE',
      async connect({ url, key }) {
        const client = new Client(INFO);
        await client.connect(new SSEClientTransport(new URL(`${url}/sse`), { requestInit: sendKey(key) }));
        return connectionOf(client);
      },
    },
    {
      ...V1,
      transport: 'Streamable HTTP',
      async connect({ url, key }) {
        const client = new Client(INFO);
        const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: sendKey(key) });
        // Its optional members are declared less strictly than in the interface that it implements.
        await client.connect(transport as never);
        return connectionOf(client);
      },
    },
  ];
}

function secondGeneration(mode: 'legacy' | 'auto'): ClientUnderTest[] {
  const V2 = { packageName: '@modelcontextprotocol/client', mode, runtime: 'bun' } as const;
  const client = () => new ClientV2(INFO, { versionNegotiation: { mode } });
  const stdio = (door: (to: Target) => Command) => async (to: Target) => {
    const connected = client();
    await connected.connect(new StdioV2({ ...door(to), stderr: 'ignore' }));
    return connectionOf(connected);
  };
  return [
    {
      ...V2,
      transport: 'Streamable HTTP',
      async connect({ url, key }) {
        const connected = client();
        await connected.connect(new StreamableV2(new URL(`${url}/mcp`), { requestInit: keyHeader(key) }));
        return connectionOf(connected);
      },
    },
    { ...V2, transport: 'stdio', connect: stdio(local) },
    { ...V2, transport: 'stdio, bridged', connect: stdio(bridged) },
  ];
}

/** The second generation has an option of its own for a bearer token. */
function secondGenerationWithToken(): ClientUnderTest[] {
  const V2 = { packageName: '@modelcontextprotocol/client', mode: 'bearer', runtime: 'bun' } as const;
  const connected = async (transport: StreamableV2 | SseV2) => {
    const client = new ClientV2(INFO);
    await client.connect(transport);
    return connectionOf(client);
  };
  const given = (key: string) => ({ authProvider: { token: async () => key } });
  return [
    {
      ...V2,
      transport: 'HTTP+SSE',
      connect: ({ url, key }) => connected(new SseV2(new URL(`${url}/sse`), given(key))),
    },
    {
      ...V2,
      transport: 'Streamable HTTP',
      connect: ({ url, key }) => connected(new StreamableV2(new URL(`${url}/mcp`), given(key))),
    },
  ];
}
