import { cleanText } from '../page-format.ts';
import { memberKey } from './member-key.ts';
import { parseData } from './parse-data.ts';
import { RequestProblem, send } from './request.ts';
import type { McpTool } from './tool-fields.ts';

/** The revision of MCP that the page speaks. From this revision on, a request needs no session. */
export const MCP_REVISION = '2026-07-28';

const NAMESPACE = 'io.modelcontextprotocol/';

/** An MCP request over Streamable HTTP, without the key. */
export interface McpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A request with the response of the server, as they were sent. */
export interface McpExchange {
  readonly request: McpRequest;
  /** The HTTP status. 0: the server does not answer. */
  readonly status: number;
  readonly response: string;
  /** How long the server took, ms. */
  readonly took: number;
}

/** The outcome of a request: the result, or why there is none. */
export interface McpOutcome {
  readonly exchange: McpExchange;
  readonly result?: Readonly<Record<string, unknown>>;
  /** The error of the protocol, of HTTP or of the connection, in words. */
  readonly problem?: string;
}

/** Returns the request of a method. `params.name` is the tool, if the method calls one. */
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

/** The id of the next request. */
export function nextMcpId(): number {
  return lastId + 1;
}

/** Sends a request to `/mcp`. Rejects only with `AbortError`: every other failure is an outcome. */
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

/** Reads a JSON-RPC response. A problem of HTTP has the fields of RFC 9457. */
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

/** The outcome of a tool: its answer, or the sentence of its error. */
export interface ToolOutcome {
  readonly exchange: McpExchange;
  readonly answer?: Readonly<Record<string, unknown>>;
  /** Source and age of the market data of the answer, in words. Empty if it does not depend on market data. */
  readonly provenance: string;
  readonly problem?: string;
}

/** Calls a tool. */
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
  // The first text is the answer itself. Links to resources have no text.
  return { exchange, answer, provenance: texts.slice(1).filter(Boolean).join(' ') };
}

let listed: Promise<McpOutcome> | undefined;

/** Lists the tools of the server. Asks once for each key, and again after a failure. */
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

/** Returns a request as HTTP sends it, with the key masked and the body in lines. */
export function requestText({ headers, body }: McpRequest, key: string): string {
  const fields = Object.entries({ 'X-API-Key': maskedKey(key), ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return ['POST /mcp', ...fields, '', indented(body)].join('\n');
}

/** Returns the response of an exchange as text. */
export function responseText({ status, response, took }: McpExchange): string {
  const first = status === 0 ? 'No answer' : `HTTP ${status}, ${took.toFixed(0)} ms`;
  return `${first}\n\n${indented(response)}`;
}

/** Returns the request as a shell command. The key stands as `$ZOMMA_KEY`, never as itself. */
export function mcpCurl({ headers, body }: McpRequest, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return ['curl', quoted(`${origin}/mcp`), '-H "X-API-Key: $ZOMMA_KEY"', ...fields, '-d', quoted(body)].join(' ');
}

/** Returns a key with its secret part replaced. */
export function maskedKey(key: string): string {
  return key.replace(/_.*/s, `_${'•'.repeat(16)}`);
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
