import { cleanText } from '../page-format.ts';
import { memberKey } from './member-key.ts';
import { parseData, RequestProblem, send } from './request.ts';
import type { McpTool } from './tool-fields.ts';

/** The MCP protocol version of the page. Requests of this version need no session. */
export const MCP_REVISION = '2026-07-28';

const NAMESPACE = 'io.modelcontextprotocol/';

/** An MCP request over Streamable HTTP, without the key. */
export interface McpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An MCP request and the server's response, unchanged. */
export interface McpExchange {
  readonly request: McpRequest;
  /** The HTTP status, or 0 if the server does not answer. */
  readonly status: number;
  readonly response: string;
  /** Duration of the request, in ms. */
  readonly took: number;
}

/** The outcome of an MCP request: a result, or the reason why there is no result. */
export interface McpOutcome {
  readonly exchange: McpExchange;
  readonly result?: Readonly<Record<string, unknown>>;
  /** A sentence on the error. The error comes from the MCP protocol, from HTTP or from the connection. */
  readonly problem?: string;
}

/** Returns the MCP request of a method. If the method calls a tool, `params.name` is the name of the tool. */
export function mcpRequest(method: string, params: Readonly<Record<string, unknown>>, id: number): McpRequest {
  const meta = {
    [`${NAMESPACE}protocolVersion`]: MCP_REVISION,
    [`${NAMESPACE}clientInfo`]: { name: 'zomma-terminal', version: '1' },
    [`${NAMESPACE}clientCapabilities`]: {},
  };
  return {
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': MCP_REVISION,
      'Mcp-Method': method,
      ...(typeof params.name === 'string' && { 'Mcp-Name': params.name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  };
}

let lastId = 0;

/** Returns the id of the next request. */
export function nextMcpId(): number {
  return lastId + 1;
}

/** Sends a request to `/mcp`. Rejects with `AbortError` if `signal` is aborted. Any other failure is a `problem` of the outcome. */
export async function callMcp(
  method: string,
  params: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<McpOutcome> {
  const request = mcpRequest(method, params, ++lastId);
  const began = performance.now();
  const { status, text } = await send('/mcp', { method: 'POST', ...request, ...(signal && { signal }) }).then(
    async (response) => ({ status: response.status, text: await response.text() }),
    (error) => {
      if (!(error instanceof RequestProblem)) throw error;
      return { status: error.status, text: JSON.stringify(error.body) };
    },
  );
  const exchange = { request, status, response: text, took: performance.now() - began };
  return { exchange, ...readResponse(text, status) };
}

/** Parses a JSON-RPC response. An HTTP error response has the fields of RFC 9457. */
export function readResponse(text: string, status: number): Omit<McpOutcome, 'exchange'> {
  let body: Readonly<Record<string, unknown>>;
  try {
    body = parseData(text) as Record<string, unknown>;
  } catch {
    return { problem: `The server answered with status ${status} and no JSON.` };
  }
  const error = body.error as { message?: unknown } | undefined;
  if (isObject(body.result)) return { result: body.result };
  const said = error ? [error.message] : [body.detail, body.hint];
  const words = said.map((each) => cleanText(each)).filter(Boolean);
  return { problem: words.join('. ') || `The server answered with status ${status}.` };
}

/** The outcome of a tool call: an answer or an error message. */
export interface ToolOutcome {
  readonly exchange: McpExchange;
  readonly answer?: Readonly<Record<string, unknown>>;
  /** A text with the source and the age of the market data. Empty if the answer does not depend on market data. */
  readonly provenance: string;
  readonly problem?: string;
}

/** Calls an MCP tool. */
export async function callMcpTool(
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<ToolOutcome> {
  return toolOutcome(await callMcp('tools/call', { name, arguments: args }, signal));
}

export function toolOutcome({ exchange, result, problem }: McpOutcome): ToolOutcome {
  if (!result) return { exchange, provenance: '', problem: problem! };
  const texts = (Array.isArray(result.content) ? result.content : []).map((each: { text?: unknown }) =>
    cleanText(each.text, 2000),
  );
  if (result.isError === true) return { exchange, provenance: '', problem: texts.join(' ') };
  const answer = isObject(result.structuredContent) ? result.structuredContent : {};
  // The first text is the answer itself. Content items that link to resources have no text.
  return { exchange, answer, provenance: texts.slice(1).filter(Boolean).join(' ') };
}

let listed: Promise<McpOutcome> | undefined;

/** Returns the list of the server's tools. The page requests the list once for each key, and repeats the request after a failure. */
export async function listMcpTools(): Promise<{ tools: readonly McpTool[]; problem?: string }> {
  listed ??= callMcp('tools/list', {});
  const { result, problem } = await listed;
  if (result && Array.isArray(result.tools)) return { tools: result.tools as McpTool[] };
  listed = undefined;
  return { tools: [], problem: problem ?? 'The server lists no tools.' };
}

memberKey.subscribe(() => {
  listed = undefined;
});

/** Returns the request as a shell command with curl. The command contains `$ZOMMA_KEY` instead of the key. */
export function mcpCurl({ headers, body }: McpRequest, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return ['curl', quoted(`${origin}/mcp`), '-H "X-API-Key: $ZOMMA_KEY"', ...fields, '-d', quoted(body)].join(' ');
}

/** Returns a JSON text with line breaks, or the text itself if it is no JSON. */
export function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
