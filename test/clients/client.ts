/** A client as the steps use it: one row of the table. */
export interface ClientUnderTest {
  readonly packageName: string;
  /** The installed package name, if it differs: an older version beside the newest. */
  readonly installedAs?: string;
  /** Distinguishes several rows of one package on a transport. */
  readonly mode?: string;
  readonly transport: Transport;
  /** The runtime. */
  readonly runtime: 'bun' | 'node';
  /** True if the client rejects a tool name that is not in its fetched list, without a request. */
  readonly asksOnlyForListed?: true;
  connect(to: Target): Promise<Connection>;
}

export type Transport = 'HTTP+SSE' | 'Streamable HTTP' | 'stdio' | 'stdio, bridged';

/** The address of the server and the credentials. */
export interface Target {
  readonly url: string;
  readonly key: string;
  readonly dataDir: string;
}

export interface Connection {
  /** The names of the listed tools. */
  list(): Promise<readonly string[]>;
  /** Resolves with the structured answer. Rejects with the server's message if there is none. */
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/** The common interface of most client libraries. */
interface Caller {
  listTools(): Promise<{ tools: readonly { name: string }[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

export function connectionOf(client: Caller): Connection {
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args) => answerOf(await client.callTool({ name, arguments: args })),
    close: () => client.close(),
  };
}

/** The answer in a tool result: structured content, or the JSON of its text. */
export function answerOf(result: unknown): unknown {
  const { isError, structuredContent, content } = result as {
    isError?: boolean;
    structuredContent?: unknown;
    content?: readonly { text?: string }[];
  };
  const text = content?.map((part) => part.text ?? '').join('') ?? '';
  if (isError) throw new Error(text);
  return structuredContent ?? JSON.parse(text);
}
