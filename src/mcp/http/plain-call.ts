import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { isRecord } from '../../core/json-shape.ts';

/** A tool call that can be answered without the SDK. Most messages are tool calls. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/**
 * Reads a POST as a plain tool call: one message without metadata, with the required headers of the transport. Returns `undefined` for any
 * other valid or invalid POST. The SDK answers every other POST and explains its errors.
 */
export function plainCallOf(request: Request, body: unknown): PlainCall | undefined {
  const id = plainIdOf(request, body, 'tools/call');
  if (id === undefined) return undefined;
  const { params } = body as { params?: unknown };
  if (!isRecord(params) || typeof params.name !== 'string' || hasOtherKeys(params, CALL_PARAMS)) return undefined;
  const { name, arguments: args = {} } = params;
  // The SDK must answer a call with the field `__proto__`, because the SDK drops this field, but the validator would reject it.
  if (!isRecord(args) || Object.hasOwn(args, '__proto__')) return undefined;
  return { id, name, args };
}

/** Reads a POST as a plain request for the list of tools, and returns its id. Returns `undefined` for any other POST. */
export function plainListOf(request: Request, body: unknown): PlainCall['id'] | undefined {
  const id = plainIdOf(request, body, 'tools/list');
  const { params = {} } = (body ?? {}) as { params?: unknown };
  return isRecord(params) && !hasOtherKeys(params, NO_PARAMS) ? id : undefined;
}

/** Returns the id of a message with a method, if the message has no unknown fields and the request has the required headers. */
function plainIdOf({ headers }: Request, body: unknown, method: string): PlainCall['id'] | undefined {
  if (!isRecord(body) || body.method !== method || body.jsonrpc !== '2.0' || hasOtherKeys(body, MESSAGE))
    return undefined;
  const { id } = body;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  const accepted = headers.get('accept');
  const isUsual =
    accepted?.includes('application/json') &&
    accepted.includes('text/event-stream') &&
    /^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '') &&
    SUPPORTED_PROTOCOL_VERSIONS.includes(headers.get('mcp-protocol-version') ?? '');
  return isUsual ? (id as PlainCall['id']) : undefined;
}

const MESSAGE: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const CALL_PARAMS: ReadonlySet<string> = new Set(['name', 'arguments']);
const NO_PARAMS: ReadonlySet<string> = new Set();

function hasOtherKeys(record: object, keys: ReadonlySet<string>): boolean {
  for (const key in record) if (!keys.has(key)) return true;
  return false;
}
