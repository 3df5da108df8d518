import { documented } from '../operations/engine/schemas.ts';
import { levelsEvent, levelsStart } from '../operations/gex/gex-nodes.ts';
import { CROSSING_KINDS } from '../operations/gex/level-crossings.ts';
import { ACCOUNT_STATUS } from './account.ts';
import { body, headed, IF_NONE_MATCH_REF, json, notModified, problems, type Status } from './openapi-components.ts';
import { exampleOf } from './openapi-examples.ts';

/** Returns the paths of the service itself and of members. All paths except `/api/v1/account` are public. */
export function accountPaths() {
  const object = (name: string, properties: Record<string, unknown>) =>
    documented(
      { type: 'object', required: Object.keys(properties), properties, additionalProperties: false },
      { name },
    );
  const KEY_ANSWER = object('ApiKey', {
    status: { type: 'string', const: 'authorized' },
    api_key: text('ZOMMA_ and 16 characters.'),
  });
  const READINESS = object('Readiness', { status: { ...text('ready or not_ready.'), enum: ['ready', 'not_ready'] } });
  const publicGet = (
    operationId: string,
    summary: string,
    description: string,
    schema: unknown,
    statuses: readonly Status[],
    parameters?: unknown[],
  ) => ({
    get: {
      operationId,
      summary,
      description,
      security: [],
      ...(parameters && { parameters }),
      responses: {
        200: { ...json('Success.', schema, exampleOf(operationId)), ...headed(PUBLIC) },
        ...problems(statuses),
      },
    },
  });
  const publicDocument = (operationId: string, summary: string, description: string, content: object) => ({
    get: {
      operationId,
      summary,
      description,
      security: [],
      parameters: [IF_NONE_MATCH_REF],
      responses: {
        200: { description: 'Success.', ...headed(DOCUMENT), content },
        ...notModified(DOCUMENT),
        ...problems([400, 403, 500]),
      },
    },
  });
  return {
    '/health': publicGet(
      'health',
      'Liveness',
      'Whether the process answers requests. The state of the market data is in `/api/v1/feeds`.',
      object('Health', { status: { type: 'string', const: 'online' } }),
      [400, 403, 500],
    ),
    '/ready': {
      get: {
        operationId: 'ready',
        summary: 'Readiness',
        description:
          'Whether a proxy should send requests to this server: not while it loads its data, while it stops, or if its database is removed or damaged.',
        security: [],
        responses: {
          200: { ...json('The server is ready.', READINESS), ...headed(PUBLIC) },
          ...problems([400, 403, 500]),
          503: { ...json('The server should get no requests now.', READINESS), ...headed(PUBLIC) },
        },
      },
    },
    '/openapi.json': publicDocument('openapi', 'This document', 'The OpenAPI document of this server, as JSON.', {
      'application/json': { schema: { type: 'object' } },
    }),
    '/docs': publicDocument('docs', 'This document as a web page', 'The operations, with a form for each of them.', {
      'text/html': { schema: { type: 'string' } },
    }),
    '/api/v1/auth/my-key': publicGet(
      'my_key',
      'API key of a member',
      'The key of the member with a UUID. The key of a member stays the same until it is replaced.',
      KEY_ANSWER,
      [400, 401, 403, 429, 500],
      [UUID_PARAMETER],
    ),
    '/api/v1/auth/sign-in': {
      post: {
        operationId: 'sign_in',
        summary: 'API key for the single-use code of a link',
        description: 'The code of the link that `zomma start` prints, as `Authorization: Bearer CODE`. It works once.',
        security: [],
        parameters: [{ name: 'Authorization', in: 'header', required: true, schema: { type: 'string' } }],
        responses: { 200: { ...json('Success.', KEY_ANSWER), ...headed(PUBLIC) }, ...problems([400, 403, 429, 500]) },
      },
    },
    '/api/v1/auth/telegram-status': publicGet(
      'telegram_status',
      'Messaging-bot linkage of a member',
      'The linked Telegram account of a member, masked. The answer is the same for an unknown UUID and for a member without a link.',
      object('TelegramStatus', {
        status: { ...text('linked or unlinked.'), enum: ['linked', 'unlinked'] },
        telegram_id: text('Masked Telegram handle. Empty if no handle is linked.'),
        routing_1dte: { ...text('ENABLED or DISABLED.'), enum: ROUTING },
        routing_radar: { ...text('ENABLED or DISABLED.'), enum: ROUTING },
        last_ping: {
          ...text('YYYY-MM-DD HH:MM:SS, UTC. Empty if there was no ping.'),
          pattern: '^(\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2})?$',
        },
      }),
      [400, 403, 429, 500],
      [UUID_PARAMETER],
    ),
    '/api/v1/account': {
      get: {
        operationId: 'account',
        summary: 'Account of the key',
        description:
          'Tier, expiry, rate limit and open streams. The request counts in the rate limit like any other request.',
        responses: {
          200: { ...json('Success.', ACCOUNT_STATUS, exampleOf('account')), ...headed() },
          ...problems([400, 401, 403, 429, 500]),
        },
      },
    },
  };
}

const PUBLIC = { isOfAccount: false };
const DOCUMENT = { ...PUBLIC, hasTag: true };
const ROUTING = ['ENABLED', 'DISABLED'];

/** Returns the paths of MCP and of the live levels. The streams of these paths do not end by themselves. */
export function streamPaths() {
  const events = (statuses: readonly Status[], { description, ...content }: EventStream) => ({
    200: { description, ...headed(), content: { 'text/event-stream': content } },
    ...problems(statuses),
  });
  return {
    '/sse': {
      get: {
        operationId: 'mcp_stream',
        summary: 'MCP stream (HTTP+SSE): an endpoint event, then message events',
        description:
          'Opens a session of MCP by HTTP+SSE. The event endpoint has the address for messages, such as /messages?sessionId=…. Each event ' +
          'message has a JSON-RPC message.',
        responses: events([400, 403, 429, 500, 503], {
          ...{ description: 'A stream of events. The data of an event is text.', schema: { type: 'string' } },
          'x-event-schemas': { endpoint: { type: 'string' }, message: JSON_RPC },
        }),
      },
    },
    '/api/v1/stream/gex/{ticker}': {
      get: {
        operationId: 'gex_stream',
        summary: 'Live GEX levels (SSE): the current levels, then an event for each new snapshot',
        description:
          'The name of an event is gex, and with on that of the first is start. The data of an event is the answer of GET /api/v1/nodes/gex/{ticker} for the snapshot, ' +
          'with regime, sign_margin_pct, flip_resolved, gross_gex_mil and provenance: the schema LevelsEvent. Ids are opaque. A client that reconnects within ' +
          '24 hours with the id of its last event gets all later events, each once. On another server with the same inputs, it gets each at least once. ' +
          'Of the simulated market, only those of kept snapshots are stored.',
        parameters: [
          { name: 'ticker', in: 'path', required: true, schema: text('One or more tickers, separated by commas.') },
          {
            ...{ name: 'Last-Event-ID', in: 'header', schema: EVENT_ID },
            description:
              'Id of the last event that the client received, unchanged. The stream begins with all later events. ' +
              'Without an id, the stream begins with the current levels.',
          },
          {
            ...{ name: 'last_event_id', in: 'query', schema: EVENT_ID },
            description: 'The same as Last-Event-ID, for clients that cannot set a header.',
          },
          {
            ...{ name: 'on', in: 'query', explode: false },
            schema: { type: 'array', minItems: 1, items: { type: 'string', enum: CROSSING_KINDS } },
            description:
              'Restricts the stream to snapshots at which, compared with the one before, spot has crossed the flip (flip_cross; both flips ' +
              'are resolved), spot has risen above the call wall or fallen below the put wall of the snapshot before (wall_break), or the ' +
              'regime has changed (regime). Each event then also has crossed, which states why. The stream begins with an event named ' +
              'start, whose id is for resuming, instead of the current levels. A client that resumes gets the crossings of the last 24 hours.',
          },
        ],
        responses: events([400, 401, 403, 429, 500, 503], LEVEL_EVENTS),
      },
    },
    '/messages': {
      post: {
        operationId: 'mcp_message',
        summary: 'JSON-RPC message of an MCP session',
        description: 'The answer comes on the open stream of the session, as an event message.',
        parameters: [
          {
            ...{ name: 'sessionId', in: 'query', required: true, schema: { type: 'string' } },
            description: 'Id of the session, as in the event endpoint.',
          },
        ],
        requestBody: body(JSON_RPC),
        responses: {
          202: { description: 'Accepted.', ...headed() },
          ...problems([400, 403, 404, 413, 415, 422, 429, 500]),
        },
      },
    },
    '/mcp': {
      post: {
        operationId: 'mcp',
        summary: 'MCP over Streamable HTTP: a JSON-RPC message, answered as JSON or as a stream',
        description:
          'Protocol versions up to 2025-11-25 have sessions (initialize, then the Mcp-Session-Id header). ' +
          'Versions from 2026-07-28 on have no sessions. The key may also be sent as Authorization: Bearer.',
        parameters: [MCP_SESSION],
        requestBody: body(JSON_RPC),
        responses: {
          200: {
            description: 'The answer, as JSON or as a stream of events with JSON-RPC messages.',
            ...headed(),
            content: { 'application/json': { schema: JSON_RPC }, 'text/event-stream': { schema: JSON_RPC } },
          },
          202: { description: 'Accepted: the message needs no answer.', ...headed() },
          ...problems([400, 401, 403, 404, 413, 415, 422, 429, 500, 503]),
        },
      },
      get: {
        operationId: 'mcp_session_stream',
        summary: 'Stream of the messages that the server sends to a session without a request',
        description: 'Changes of subscribed resources and of the list of tools, as JSON-RPC messages.',
        parameters: [{ ...MCP_SESSION, required: true }],
        responses: events([400, 401, 403, 404, 429, 500, 503], {
          description: 'A stream of events. The data of an event is a JSON-RPC message.',
          schema: JSON_RPC,
        }),
      },
      delete: {
        operationId: 'mcp_session_end',
        summary: 'End of a session',
        description: 'Ends a session of MCP and its stream.',
        parameters: [{ ...MCP_SESSION, required: true }],
        responses: {
          200: { description: 'The session has ended.', ...headed() },
          ...problems([400, 401, 403, 404, 429, 500]),
        },
      },
    },
  };
}

/** The content of a stream: the schema of the data of an event, and the schemas by the name of the event. */
interface EventStream {
  readonly description: string;
  readonly schema: object;
  readonly 'x-event-schemas'?: Readonly<Record<string, object>>;
  readonly example?: unknown;
}

// OpenAPI 3.1 has no schema for events. Generators of clients take the schema of the content for that of an event's data.
const LEVEL_EVENTS: EventStream = {
  description:
    'A stream of events named gex. The data of an event is a LevelsEvent as JSON. With the parameter on, the first event of a new stream is ' +
    'named start, and its data is a LevelsStart as JSON.',
  schema: levelsEvent,
  'x-event-schemas': { gex: levelsEvent, start: levelsStart },
};

const JSON_RPC = documented(
  {
    type: 'object',
    description: 'A JSON-RPC 2.0 message of MCP.',
    required: ['jsonrpc'],
    properties: {
      jsonrpc: { type: 'string', const: '2.0' },
      id: { type: ['string', 'number', 'null'] },
      method: { type: 'string' },
      params: { type: 'object' },
      result: { type: 'object' },
      error: { type: 'object' },
    },
  },
  { name: 'JsonRpcMessage' },
);

const MCP_SESSION = {
  name: 'Mcp-Session-Id',
  in: 'header',
  description: 'Session id from the answer to initialize.',
  schema: { type: 'string' },
};

const UUID_PARAMETER = {
  name: 'uuid',
  in: 'query',
  required: true,
  description: "The member's UUID in the membership system.",
  schema: { type: 'string', format: 'uuid' },
};

/** Opaque. Ids of earlier versions are numbers. */
const EVENT_ID = { type: 'string', pattern: '^[0-9A-Za-z._~]{1,400}$' };

const text = (description: string) => ({ type: 'string', description });
