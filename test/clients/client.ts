/** A client as the steps see it: one row of the table. */
export interface ClientUnderTest {
  readonly packageName: string;
  /** What it is installed as, where that is another name: an older version beside the newest. */
  readonly installedAs?: string;
  /** Where one package has several rows on a transport. */
  readonly mode?: string;
  readonly transport: Transport;
  /** What runs it. */
  readonly runtime: 'bun' | 'node';
  /** Looks a name up in the list that it fetched, and asks for none that is not there. */
  readonly asksOnlyForListed?: true;
  connect(to: Target): Promise<Connection>;
}

export type Transport = 'HTTP+SSE' | 'Streamable HTTP' | 'stdio' | 'stdio, bridged';

/** Where the server is, and what opens it. */
export interface Target {
  readonly url: string;
  readonly key: string;
  readonly dataDir: string;
}

export interface Connection {
  /** Names of the tools. */
  list(): Promise<readonly string[]>;
  /** The structured answer; rejects with the server's words where there is none. */
  call(name: string, args: Record<string, unknown>): Promise<unknown>;
  close(): Promise<void>;
}

/** What most client libraries have in common. */
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

/** The answer in a tool's result: structured, or the JSON of its text. */
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
