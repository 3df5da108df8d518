import { beginStreamable, INITIALIZE, modernRequest, openSseStream, type Target } from '../test/support/mcp-wire.ts';
import { requestText, Wire } from '../test/support/wire.ts';

/** A session of a lightweight client. With an MCP library, the times would include the work of the library. */
export interface Session {
  /** Calls a tool, and resolves when the answer has arrived. Only one call of a session may be in progress. */
  call(tool: string, args: object): Promise<void>;
  /** The session's open connections. */
  readonly wires: readonly Wire[];
}

/** The ways to call the tools, by their names in the tables. */
export const CALLERS = {
  'REST, POST /api/v1/tools/{name}': openRest,
  'MCP, /sse and /messages': openSse,
  'MCP, /mcp with a session': openStreamable,
  'MCP, /mcp without a session, protocol version 2026-07-28': openModern,
} as const;

async function openRest({ url, key }: Target): Promise<Session> {
  const wire = await Wire.open(url);
  return {
    wires: [wire],
    async call(tool, args) {
      const { status } = await wire.ask(requestText('POST', `/api/v1/tools/${tool}`, { 'X-API-Key': key }, args));
      if (status !== 200) throw new Error(`${tool} over REST: status ${status}`);
    },
  };
}

async function openSse(target: Target): Promise<Session> {
  let answered = Promise.withResolvers<string>();
  const { stream, endpoint } = await openSseStream(target, (data) => answered.resolve(data));
  const wire = await Wire.open(target.url);
  const ask = async (message: object): Promise<string> => {
    answered = Promise.withResolvers();
    const [{ status }, data] = await Promise.all([
      wire.ask(requestText('POST', endpoint, { 'X-API-Key': target.key }, message)),
      answered.promise,
    ]);
    if (status !== 202) throw new Error(`POST /messages: status ${status}`);
    return data;
  };
  await ask(INITIALIZE);
  return { wires: [stream, wire], call: callsWith(ask) };
}

async function openStreamable(target: Target): Promise<Session> {
  const wire = await Wire.open(target.url);
  const headers = await beginStreamable(wire, target);
  return {
    wires: [wire],
    call: callsWith(async (message) => (await wire.ask(requestText('POST', '/mcp', headers, message))).body),
  };
}

async function openModern(target: Target): Promise<Session> {
  const wire = await Wire.open(target.url);
  return {
    wires: [wire],
    call: callsWith(async ({ id, method, params }) => (await wire.ask(modernRequest(target, method, params, id))).body),
  };
}

interface Call {
  readonly jsonrpc: '2.0';
  readonly id: number;
  readonly method: 'tools/call';
  readonly params: { readonly name: string; readonly arguments: object };
}

/** Returns a function that calls tools. The function rejects with an error if the answer has another id or is an error. */
function callsWith(ask: (message: Call) => Promise<string>): Session['call'] {
  let id = 1;
  return async (name, args) => {
    const answer = await ask({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { name, arguments: args } });
    if (answer.includes(`"id":${id}`) && answer.includes('"structuredContent"')) return;
    throw new Error(`${name} over MCP: ${answer.slice(0, 300)}`);
  };
}
