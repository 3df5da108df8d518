import { ACCOUNT_STATUS } from './account.ts';
import { body, json, problems, type Status } from './openapi-components.ts';

/** Returns the paths of the service itself and of members. All paths except `/api/v1/account` are public. */
export function accountPaths() {
  const object = (properties: Record<string, unknown>) => ({
    type: 'object',
    required: Object.keys(properties),
    properties,
    additionalProperties: false,
  });
  const KEY_ANSWER = object({
    status: { type: 'string', const: 'authorized' },
    api_key: text('ZOMMA_ and 16 characters.'),
  });
  const publicGet = (
    operationId: string,
    summary: string,
    schema: unknown,
    parameters: unknown[],
    statuses: readonly Status[],
  ) => ({
    get: {
      operationId,
      summary,
      security: [],
      parameters,
      responses: { 200: json('Success.', schema), ...problems(statuses) },
    },
  });
  return {
    '/health': publicGet('health', 'Liveness', object({ status: { type: 'string', const: 'online' } }), [], [500]),
    '/openapi.json': publicGet('openapi', 'This document', { type: 'object' }, [], [500]),
    '/docs': {
      get: {
        operationId: 'docs',
        summary: 'This document as a web page',
        security: [],
        responses: { 200: { description: 'Success.', content: { 'text/html': {} } }, ...problems([500]) },
      },
    },
    '/api/v1/auth/my-key': publicGet(
      'my_key',
      'API key of a member',
      KEY_ANSWER,
      [UUID_PARAMETER],
      [400, 401, 403, 429, 500],
    ),
    '/api/v1/auth/sign-in': {
      post: {
        operationId: 'sign_in',
        summary: 'API key for the single-use code of a link',
        description: 'The code of the link that `zomma start` prints, as `Authorization: Bearer CODE`. It works once.',
        security: [],
        parameters: [{ name: 'Authorization', in: 'header', required: true, schema: { type: 'string' } }],
        responses: { 200: json('Success.', KEY_ANSWER), ...problems([403, 429, 500]) },
      },
    },
    '/api/v1/auth/telegram-status': publicGet(
      'telegram_status',
      'Messaging-bot linkage of a member',
      object({
        status: text('linked or unlinked.'),
        telegram_id: text('Masked Telegram handle. Empty if no handle is linked.'),
        routing_1dte: text('ENABLED or DISABLED.'),
        routing_radar: text('ENABLED or DISABLED.'),
        last_ping: text('YYYY-MM-DD HH:MM:SS, UTC. Empty if there was no ping.'),
      }),
      [UUID_PARAMETER],
      [400, 429, 500],
    ),
    '/api/v1/account': {
      get: {
        operationId: 'account',
        summary: 'Account of the key',
        description:
          'Tier, expiry, rate limit and open streams. The request counts in the rate limit like any other request.',
        responses: { 200: json('Success.', ACCOUNT_STATUS), ...problems([401, 403, 429, 500]) },
      },
    },
  };
}

/** Returns the paths of MCP and of the live levels. The streams of these paths do not end by themselves. */
export function streamPaths() {
  const events = (statuses: readonly Status[]) => ({
    200: { description: 'Stream.', content: { 'text/event-stream': {} } },
    ...problems(statuses),
  });
  return {
    '/sse': {
      get: {
        operationId: 'mcp_stream',
        summary: 'MCP stream (HTTP+SSE): an endpoint event, then message events',
        responses: events([403, 429, 500, 503]),
      },
    },
    '/api/v1/stream/gex/{ticker}': {
      get: {
        operationId: 'gex_stream',
        summary: 'Live GEX levels (SSE): the current levels, then an event for each new snapshot',
        description:
          'The name of each event is gex. The data of an event is the answer of GET /api/v1/nodes/gex/{ticker} for the snapshot, ' +
          'with regime, sign_margin_pct, flip_resolved, gross_gex_mil and provenance. Ids increase. A client that reconnects within ' +
          '24 hours with the id of its last event misses no event.',
        parameters: [
          { name: 'ticker', in: 'path', required: true, schema: text('One or more tickers, separated by commas.') },
          {
            ...{ name: 'Last-Event-ID', in: 'header', schema: EVENT_ID },
            description:
              'Id of the last event that the client received. The stream begins with all later events. ' +
              'Without an id, the stream begins with the current levels.',
          },
          {
            ...{ name: 'last_event_id', in: 'query', schema: EVENT_ID },
            description: 'The same as Last-Event-ID, for clients that cannot set a header.',
          },
        ],
        responses: events([400, 401, 403, 429, 500, 503]),
      },
    },
    '/messages': {
      post: {
        operationId: 'mcp_message',
        summary: 'JSON-RPC message of an MCP session. The answer comes on the open stream of the session',
        parameters: [{ name: 'sessionId', in: 'query', required: true, schema: { type: 'string' } }],
        requestBody: body({ type: 'object' }),
        responses: { 202: { description: 'Accepted.' }, ...problems([400, 403, 404, 413, 415, 422, 429, 500]) },
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
        requestBody: body({ type: 'object' }),
        responses: {
          200: {
            description: 'The answer.',
            content: { 'application/json': { schema: { type: 'object' } }, 'text/event-stream': {} },
          },
          202: { description: 'Accepted: the message needs no answer.' },
          ...problems([400, 401, 403, 404, 413, 415, 422, 429, 500, 503]),
        },
      },
      get: {
        operationId: 'mcp_session_stream',
        summary: 'Stream of the messages that the server sends to a session without a request',
        parameters: [{ ...MCP_SESSION, required: true }],
        responses: events([400, 401, 403, 404, 429, 500, 503]),
      },
      delete: {
        operationId: 'mcp_session_end',
        summary: 'End of a session',
        parameters: [{ ...MCP_SESSION, required: true }],
        responses: { 200: { description: 'The session has ended.' }, ...problems([400, 401, 403, 404, 429, 500]) },
      },
    },
  };
}

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

const EVENT_ID = { type: 'string', pattern: '^[0-9]{1,15}$' };

const text = (description: string) => ({ type: 'string', description });
