import { type FetchLike, Client as NewClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as OldStreamableTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { TOOLS } from '../../src/operations/registry.ts';
import type { Service } from '../support/service.ts';

/** The common part of the two official clients, as far as the tests use it. */
export type McpClient = Pick<
  Client,
  | 'listTools'
  | 'callTool'
  | 'listPrompts'
  | 'getPrompt'
  | 'listResources'
  | 'listResourceTemplates'
  | 'readResource'
  | 'complete'
  | 'subscribeResource'
  | 'close'
>;

type Headers = Readonly<Record<string, string>>;

/** The official clients over each transport that they speak. The keys are the names in test titles. */
export const CLIENTS = {
  'v1 over HTTP+SSE': async (url: string, headers: Headers, who: string = WHO) => {
    const client = new Client(named(who));
    const withKey: FetchLike = (address, init) =>
      fetch(address, { ...init, headers: { ...(init?.headers as object), ...headers } });
    await client.connect(
      new SSEClientTransport(new URL('/sse', url), {
        requestInit: { headers },
        eventSourceInit: { fetch: withKey as never },
      }),
    );
    return client as McpClient;
  },
  'v1 over Streamable HTTP': async (url: string, headers: Headers, who: string = WHO) => {
    const client = new Client(named(who));
    await client.connect(new OldStreamableTransport(new URL('/mcp', url), { requestInit: { headers } }) as never);
    return client as McpClient;
  },
  'v2 as in 2025': (url: string, headers: Headers, who?: string) => connectNew('legacy', url, headers, who),
  'v2 as in 2026': (url: string, headers: Headers, who?: string) => connectNew('auto', url, headers, who),
} as const;

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

export const keyOf = ({ key }: Service): Headers => ({ 'X-API-Key': key });

/** Connects the client of the second generation, in the era that it finds (`auto`) or in the era before. */
export async function connectNew(
  mode: 'legacy' | 'auto',
  url: string,
  headers: Headers,
  who: string = WHO,
): Promise<McpClient> {
  const client = new NewClient(named(who), { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  // Its calls take no schema of the answer.
  const call = client.callTool.bind(client);
  const asBefore = ((params, _schema, options) => call(params, options as never)) as McpClient['callTool'];
  return Object.assign(client, { callTool: asBefore }) as unknown as McpClient;
}

/** The names that `tools/list` has. */
export const LISTED = [...TOOLS.map(({ name }) => name), 'read_resource'];

/** The example arguments of each tool, in the order of the registry. `listed` replaces their expiry with a listed one. */
export const VALID: Readonly<Record<string, Readonly<Record<string, unknown>>>> = Object.fromEntries(
  TOOLS.map(({ name, example }) => [name, example]),
);

/** Returns the arguments with a listed expiry if they have an expiry. */
export function listed(args: Readonly<Record<string, unknown>>, { app }: Service): Record<string, unknown> {
  if (!('target_expiry' in args)) return { ...args };
  const id = app.store.latestChainId(String(args.ticker), true)!;
  return { ...args, target_expiry: app.store.chain(id)!.series.at(-1)!.expiry };
}

/** A client whose model cannot follow links. */
const WHO = 'test';
/** A client whose model can follow links. */
export const READER = 'claude-code';
const named = (name: string) => ({ name, version: '1' });
