import { isRecord } from '../../core/json-shape.ts';

/** A tool call that can be answered without the SDK. Most messages are tool calls. */
export interface PlainCall {
  readonly id: string | number;
  readonly name: string;
  readonly args: Record<string, unknown>;
}

/** Reads a POST as a plain tool call: one message without metadata. Returns `undefined` for any other POST, which the SDK answers. */
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

/** A request for a new session that can be answered without the SDK. */
export interface PlainInitialize {
  readonly id: string | number;
  readonly revision: string;
  readonly client: { readonly name: string };
}

/** Reads a POST as a plain `initialize` with a supported revision. Returns `undefined` for any other POST. */
export function plainInitializeOf(request: Request, body: unknown): PlainInitialize | undefined {
  const id = plainIdOf(request, body, 'initialize');
  if (id === undefined || request.headers.has('mcp-session-id')) return undefined;
  const { params } = body as { params?: unknown };
  if (!isRecord(params) || hasOtherKeys(params, INITIALIZE_PARAMS)) return undefined;
  const { protocolVersion: revision, capabilities, clientInfo: client } = params;
  const isUsual =
    REVISIONS.includes(revision as string) &&
    isRecord(capabilities) &&
    Object.entries(capabilities).every(isPlainCapability) &&
    isRecord(client) &&
    typeof client.name === 'string' &&
    typeof client.version === 'string' &&
    Object.values(client).every((each) => typeof each === 'string');
  return isUsual ? ({ id, revision, client } as unknown as PlainInitialize) : undefined;
}

/** Returns whether a capability is valid for certain: it has only empty objects, or it is that of roots. */
function isPlainCapability([name, value]: [string, unknown]): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(value).every(([key, each]) =>
    name === 'roots' && key === 'listChanged'
      ? typeof each === 'boolean'
      : isRecord(each) && !hasOtherKeys(each, NO_PARAMS) && key !== 'listChanged',
  );
}

/** Returns whether a POST is the plain notification that a client has read the answer to its `initialize`. */
export function isPlainInitialized(request: Request, body: unknown): boolean {
  return isPlainMessage(request, body, 'notifications/initialized') && !('id' in body) && hasNoParams(body);
}

/** Reads a POST as a plain request for the list of tools, and returns its id. Returns `undefined` for any other POST. */
export function plainListOf(request: Request, body: unknown): PlainCall['id'] | undefined {
  const id = plainIdOf(request, body, 'tools/list');
  return id !== undefined && hasNoParams(body as Message) ? id : undefined;
}

type Message = Record<string, unknown>;

function hasNoParams({ params = {} }: Message): boolean {
  return isRecord(params) && !hasOtherKeys(params, NO_PARAMS);
}

/** Returns the id of a plain message with a method, if the id is valid. */
function plainIdOf(request: Request, body: unknown, method: string): PlainCall['id'] | undefined {
  if (!isPlainMessage(request, body, method)) return undefined;
  const { id } = body;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as PlainCall['id']) : undefined;
}

/** Returns whether a message has a method and no unknown fields, and the request the required headers. */
function isPlainMessage({ headers }: Request, body: unknown, method: string): body is Message {
  if (!isRecord(body) || body.method !== method || body.jsonrpc !== '2.0' || hasOtherKeys(body, MESSAGE)) return false;
  const accepted = headers.get('accept');
  const revision = headers.get('mcp-protocol-version');
  return (
    accepted?.includes('application/json') === true &&
    accepted.includes('text/event-stream') &&
    /^application\/json\s*(?:;|$)/i.test(headers.get('content-type') ?? '') &&
    // Before the answer to `initialize`, a client does not know the revision.
    (method === 'initialize' ? revision === null : REVISIONS.includes(revision ?? ''))
  );
}

/** The protocol revisions with sessions, as in the SDK. */
export const REVISIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

const MESSAGE: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'method', 'params']);
const CALL_PARAMS: ReadonlySet<string> = new Set(['name', 'arguments']);
const INITIALIZE_PARAMS: ReadonlySet<string> = new Set(['protocolVersion', 'capabilities', 'clientInfo']);
const NO_PARAMS: ReadonlySet<string> = new Set();

function hasOtherKeys(record: object, keys: ReadonlySet<string>): boolean {
  for (const key in record) if (!keys.has(key)) return true;
  return false;
}
