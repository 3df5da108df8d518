import { requestText, Wire } from './wire.ts';

/** The address of a server, and a key for it. */
export interface Target {
  readonly url: string;
  readonly key: string;
}

/** Opens a stream with `GET /sse`. Returns it with the address for posts. `onMessage` gets the messages after that. */
export async function openSseStream({ url, key }: Target, onMessage: (data: string) => void = () => {}) {
  const endpoint = Promise.withResolvers<string>();
  let rest = '';
  const stream = await Wire.open(url, (text) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop()!;
    for (const event of events) {
      if (event.startsWith('event: endpoint')) endpoint.resolve(dataOf(event));
      else if (event.startsWith('event: message')) onMessage(dataOf(event));
    }
  });
  const { status } = await stream.ask(requestText('GET', '/sse', { 'X-API-Key': key }));
  if (status !== 200) throw new Error(`GET /sse: status ${status}`);
  return { stream, endpoint: await endpoint.promise };
}

/** Sends `initialize` and `notifications/initialized` over a shared connection. Returns the headers for requests of the session. */
export async function beginStreamable(wire: Wire, { key }: Target): Promise<Record<string, string>> {
  const { status, head } = await wire.ask(requestText('POST', '/mcp', { 'X-API-Key': key, ...ACCEPT }, INITIALIZE));
  const id = /^mcp-session-id: (\S+)/im.exec(head)?.[1];
  if (status !== 200 || !id) throw new Error(`initialize on /mcp: status ${status}`);
  const headers = { 'X-API-Key': key, 'Mcp-Session-Id': id, 'MCP-Protocol-Version': REVISION, ...ACCEPT };
  await wire.ask(requestText('POST', '/mcp', headers, INITIALIZED));
  return headers;
}

/** Returns a message of the revisions from 2026-07-28 on, which carries its whole context, with its headers. */
export function modernRequest({ key }: Target, method: string, params: { name?: string }, id = 1): string {
  const headers = {
    ...{ 'X-API-Key': key, 'MCP-Protocol-Version': MODERN, 'Mcp-Method': method, ...ACCEPT },
    ...(params.name !== undefined && { 'Mcp-Name': params.name }),
  };
  return requestText('POST', '/mcp', headers, { jsonrpc: '2.0', id, method, params: { ...params, _meta: META } });
}

function dataOf(event: string): string {
  return event.slice(event.indexOf('data: ') + 'data: '.length);
}

export const ACCEPT = { Accept: 'application/json, text/event-stream' };
const REVISION = '2025-11-25';
const MODERN = '2026-07-28';
const CLIENT = { name: 'wire', version: '1' };
export const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: REVISION, capabilities: {}, clientInfo: CLIENT },
};
const META = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};
export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
