import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as AiStdio } from '@ai-sdk/mcp/mcp-stdio';
import { type Connection as LangchainServer, MultiServerMCPClient } from '@langchain/mcp-adapters';
import { MCPServerSSE, MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents';
import { MultiServerMCPClient as MultiServerMCPClientV10 } from 'langchain-mcp-adapters-1.0';
import { answerOf, type ClientUnderTest, type Connection, connectionOf, type Transport } from './client.ts';
import { bearerHeader, bridged, keyHeader, local, type SendKey } from './doors.ts';

/** The clients of agent frameworks, called as in their documentation. */
export const LIBRARIES: readonly ClientUnderTest[] = [
  ...each('@ai-sdk/mcp', {
    ...aiSdkOverHttp(keyHeader),
    stdio: async (to) => connectionOf(await createMCPClient({ transport: new AiStdio(local(to)) })),
    'stdio, bridged': async (to) => connectionOf(await createMCPClient({ transport: new AiStdio(bridged(to)) })),
  }),
  ...each('@ai-sdk/mcp', aiSdkOverHttp(bearerHeader)).map((client) => ({ ...client, mode: 'bearer' })),
  ...each('@openai/agents', {
    'HTTP+SSE': ({ url, key }) => agents(new MCPServerSSE({ url: `${url}/sse`, requestInit: keyHeader(key) })),
    'Streamable HTTP': ({ url, key }) =>
      agents(new MCPServerStreamableHttp({ url: `${url}/mcp`, requestInit: keyHeader(key) })),
    stdio: (to) => agents(new MCPServerStdio(local(to))),
    'stdio, bridged': (to) => agents(new MCPServerStdio(bridged(to))),
  }),
  ...langchainDoors(MultiServerMCPClient),
  ...langchainDoors(MultiServerMCPClientV10).map((client) => ({
    ...client,
    installedAs: 'langchain-mcp-adapters-1.0',
  })),
];

type Doors = Readonly<Partial<Record<Transport, ClientUnderTest['connect']>>>;

function each(packageName: string, doors: Doors): ClientUnderTest[] {
  return Object.entries(doors).map(([transport, connect]) => ({
    packageName,
    transport: transport as Transport,
    runtime: 'bun',
    connect,
  }));
}

function aiSdkOverHttp(sendKey: SendKey): Doors {
  return {
    'HTTP+SSE': async ({ url, key }) =>
      connectionOf(await createMCPClient({ transport: { type: 'sse', url: `${url}/sse`, ...sendKey(key) } })),
    'Streamable HTTP': async ({ url, key }) =>
      connectionOf(await createMCPClient({ transport: { type: 'http', url: `${url}/mcp`, ...sendKey(key) } })),
  };
}

type Langchain = typeof MultiServerMCPClient | typeof MultiServerMCPClientV10;

function langchainDoors(Adapter: Langchain): ClientUnderTest[] {
  const connect = (server: LangchainServer) => langchain(new Adapter({ mcpServers: { zomma: server } }));
  return each('@langchain/mcp-adapters', {
    'HTTP+SSE': ({ url, key }) => connect({ transport: 'sse', url: `${url}/sse`, ...keyHeader(key) }),
    'Streamable HTTP': ({ url, key }) =>
      connect({ transport: 'http', url: `${url}/mcp`, automaticSSEFallback: false, ...keyHeader(key) }),
    stdio: (to) => connect({ transport: 'stdio', ...local(to) }),
    'stdio, bridged': (to) => connect({ transport: 'stdio', ...bridged(to) }),
  });
}

async function agents(server: MCPServerSSE | MCPServerStreamableHttp | MCPServerStdio): Promise<Connection> {
  await server.connect();
  return {
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: async (name, args) => answerOf(await server.callToolResult(name, args)),
    close: () => server.close(),
  };
}

async function langchain(client: InstanceType<Langchain>): Promise<Connection> {
  const tools = await client.getTools();
  return {
    list: async () => tools.map(({ name }) => name),
    async call(name, args) {
      const tool = tools.find((each) => each.name === name);
      if (tool) return answered(await tool.invoke(args));
      // It rejects tool names that are not listed, so the call uses the underlying client.
      return answerOf(await (await client.getClient('zomma'))!.callTool({ name, arguments: args }));
    },
    close: () => client.close(),
  };
}

/** The text that a model gets: a string, or content blocks of which the first has the text. */
function answered(said: string | { text: string } | readonly { text: string }[]): unknown {
  const [first] = [said].flat();
  return JSON.parse(typeof first === 'string' ? first : first!.text);
}
