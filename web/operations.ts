import operations from './operations.json' with { type: 'json' };

/** An operation of the server that the page calls. */
export interface WebOperation {
  readonly title: string;
  /** The REST route. If a tool has no route of its own, the page calls `POST /api/v1/tools/{name}`. */
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** True if MCP offers the operation as a tool with the same name. */
  readonly isTool: boolean;
  /** True if the operation reads market data. The argument `at` of the operation can select an earlier moment. */
  readonly ofMarket: boolean;
  /** True if the figures of the operation are of the expiries that its option `expiries` selects. */
  readonly hasExpiries?: boolean;
  /** True if the operation has the option `smile_dynamics`. */
  readonly hasFlip?: boolean;
  /** The URI of the MCP resource with the same figures. Undefined if MCP has no resource. */
  readonly resource?: string;
}

/** The operations that the page uses. `bun run gen` writes the file `operations.json` from the registry. */
export const WEB_OPERATIONS = operations as Readonly<Record<WebOperationName, WebOperation>>;

export type WebOperationName = keyof typeof operations;

export type CallValue = string | number | boolean | readonly number[];

/** One call of an operation. A panel shows the answer of its call, and the member can copy the call. */
export interface Call {
  readonly operation: WebOperationName;
  readonly args: Readonly<Record<string, CallValue>>;
  /** True if the call is of the tool, whose arguments and default answer may differ from those of its REST route. */
  readonly isTool?: boolean;
}

/** Returns the path with the query of a call. For a POST, also returns the JSON body. */
export function requestOf({ operation, args, isTool }: Call): { method: 'GET' | 'POST'; path: string; body?: string } {
  const { method, path } = isTool
    ? { method: 'POST' as const, path: `/api/v1/tools/${operation}` }
    : WEB_OPERATIONS[operation];
  const rest = { ...args };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest[name];
    delete rest[name];
    return encodeURIComponent(String(value));
  });
  if (method === 'POST') return { method, path: filled, body: JSON.stringify(rest) };
  const query = new URLSearchParams(
    Object.entries(rest).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return { method, path: query === '' ? filled : `${filled}?${query}` };
}

/** Returns the call as a curl command with the variable `$ZOMMA_KEY` instead of the key. `origin` is the address of the server. */
export function curlOf(call: Call, origin: string): string {
  const { method, path, body } = requestOf(call);
  const url = quoted(`${origin}${path}`);
  if (method === 'GET') return `curl -H "X-API-Key: $ZOMMA_KEY" ${url}`;
  return `curl -H "X-API-Key: $ZOMMA_KEY" -H 'Content-Type: application/json' -d ${quoted(body!)} ${url}`;
}

/** The arguments of tools that are no options of the analysis. */
const PLAIN: ReadonlySet<string> = new Set(['ticker', 'at', 'moves']);

/** Returns the arguments of a call for the tool of its operation. Undefined if the call has options of the analysis, which tools do not accept. */
function toolArguments({ operation, args, isTool }: Call): Call['args'] | undefined {
  if (isTool || !WEB_OPERATIONS[operation].hasExpiries) return args;
  const { expiries = 'all', ...others } = args;
  if (Object.keys(others).some((name) => !PLAIN.has(name))) return undefined;
  if (expiries === 'all') return others;
  const isOne = /^(?:0dte|\d{4}-\d\d-\d\d)$/.test(String(expiries));
  return isOne && WEB_OPERATIONS[operation].isTool ? { ...others, expiry: expiries } : undefined;
}

/** Returns the MCP message of the call, or the URI of the resource. Undefined if MCP has neither a tool nor a resource for the call. */
export function mcpOf(call: Call): string | undefined {
  const { operation } = call;
  const { isTool, resource } = WEB_OPERATIONS[operation];
  const args = toolArguments(call);
  if (!args) return undefined;
  if (call.isTool || isTool)
    return JSON.stringify({ method: 'tools/call', params: { name: operation, arguments: args } });
  if (!resource || Object.keys(args).some((name) => name !== 'ticker' && name !== 'at')) return undefined;
  const uri = resource.replace('{ticker}', encodeURIComponent(String(args.ticker)));
  return JSON.stringify({ method: 'resources/read', params: { uri: args.at ? `${uri}?at=${args.at}` : uri } });
}

/** The texts of a call that the member can copy. Undefined if MCP has no form of the call. */
export const CALL_TEXTS: Readonly<Record<'curl' | 'MCP' | 'zomma', (call: Call) => string | undefined>> = {
  curl: (call) => curlOf(call, location.origin),
  MCP: mcpOf,
  zomma: commandOf,
};

/**
 * Returns the call as a `zomma` command, which reads the data folder of the server. The command for levels with options of the analysis is
 * that of `get_gex_view`. Undefined if there is no command for the call.
 */
export function commandOf(call: Call): string | undefined {
  const { operation, args } = call;
  const command = (name: string, of: Call['args']) => `zomma call ${name} ${quoted(JSON.stringify(of))}`;
  if (!WEB_OPERATIONS[operation].isTool) return command(operation, args);
  const plain = toolArguments(call);
  if (plain) return `${command(operation, plain)} --extended`;
  return operation === 'get_live_gex_nodes' ? command('get_gex_view', args) : undefined;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
