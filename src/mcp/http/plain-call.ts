import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { isRecord } from '../../operations/validate.ts';

/** A tool call that needs nothing of the protocol engine beyond its answer: by far the commonest message. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/**
 * The call that a post of a session is, where everything about it is as usual: one message, without metadata, under the headers that
 * the transport asks for. Undefined for any other post, good or bad: the engine answers those, and says what is wrong with them.
 */
export function plainCallOf({ headers }: Request, body: unknown): PlainCall | undefined {
  if (!isRecord(body) || body.method !== 'tools/call' || body.jsonrpc !== '2.0') return undefined;
  const { id, params } = body;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  if (
    !isRecord(params) ||
    typeof params.name !== 'string' ||
    hasOthers(params, CALL_PARAMS) ||
    hasOthers(body, MESSAGE)
  ) {
    return undefined;
  }
  const { name, arguments: args = {} } = params;
  // A prototype's name is a field here, and none to the engine.
  if (!isRecord(args) || Object.hasOwn(args, '__proto__')) return undefined;
  const accepted = headers.get('accept');
  const isUsual =
    accepted?.includes('application/json') &&
    accepted.includes('text/event-stream') &&
    /^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '') &&
    SUPPORTED_PROTOCOL_VERSIONS.includes(headers.get('mcp-protocol-version') ?? '');
  return isUsual ? { id: id as string | number, name, args } : undefined;
}

const MESSAGE: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const CALL_PARAMS: ReadonlySet<string> = new Set(['name', 'arguments']);

function hasOthers(record: object, keys: ReadonlySet<string>): boolean {
  for (const key in record) if (!keys.has(key)) return true;
  return false;
}
