import { body, json, problems, type Status } from './openapi-parts.ts';

/** Of the service itself and of members: all public. */
export function accountPaths() {
  const object = (properties: Record<string, unknown>) => ({
    type: 'object',
    required: Object.keys(properties),
    properties,
    additionalProperties: false,
  });
  const open = (
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
    '/health': open('health', 'Liveness', object({ status: { type: 'string', const: 'online' } }), [], [500]),
    '/openapi.json': open('openapi', 'This document', { type: 'object' }, [], [500]),
    '/docs': {
      get: {
        operationId: 'docs',
        summary: 'This document as a page',
        security: [],
        responses: { 200: { description: 'Success.', content: { 'text/html': {} } }, ...problems([500]) },
      },
    },
    '/api/v1/auth/my-key': open(
      'my_key',
      'API key of a member',
      object({ status: { type: 'string', const: 'authorized' }, api_key: text('ZOMMA_ and 16 characters.') }),
      [UUID_PARAMETER],
      [400, 403, 500],
    ),
    '/api/v1/auth/telegram-status': open(
      'telegram_status',
      'Messaging-bot linkage of a member',
      object({
        status: text('linked or unlinked.'),
        telegram_id: text('Masked handle; empty where none is linked.'),
        routing_1dte: text('ENABLED or DISABLED.'),
        routing_radar: text('ENABLED or DISABLED.'),
        last_ping: text('YYYY-MM-DD HH:MM:SS, UTC; empty where there was none.'),
      }),
      [UUID_PARAMETER],
      [400, 500],
    ),
  };
}

/** Of the streams, whose answers have no end. */
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
        summary: 'Live GEX levels (SSE): the current ones, then an event with each snapshot',
        description:
          'Events are named gex. Their data is what GET /api/v1/nodes/gex/{ticker} answers of that snapshot, with provenance. ' +
          'Their ids grow; a client that comes back with the last one misses nothing.',
        parameters: [
          { name: 'ticker', in: 'path', required: true, schema: text('A ticker, or several joined by commas.') },
          {
            ...{ name: 'Last-Event-ID', in: 'header', schema: EVENT_ID },
            description: 'Id of the last event that arrived: all since come first. Without it, the current levels do.',
          },
          {
            ...{ name: 'last_event_id', in: 'query', schema: EVENT_ID },
            description: 'The same, where no header can be set.',
          },
        ],
        responses: events([400, 401, 403, 429, 500, 503]),
      },
    },
    '/messages': {
      post: {
        operationId: 'mcp_message',
        summary: 'JSON-RPC message of an open MCP stream; answered on the stream',
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
          'Of both eras: with sessions (initialize, then the Mcp-Session-Id header) up to 2025-11-25, without from 2026-07-28 on. ' +
          'The key may also come as Authorization: Bearer.',
        parameters: [MCP_SESSION],
        requestBody: body({ type: 'object' }),
        responses: {
          200: {
            description: 'The answer.',
            content: { 'application/json': { schema: { type: 'object' } }, 'text/event-stream': {} },
          },
          202: { description: 'Accepted: nothing was asked.' },
          ...problems([400, 401, 403, 404, 413, 415, 422, 429, 500, 503]),
        },
      },
      get: {
        operationId: 'mcp_session_stream',
        summary: 'Stream of what the server tells a session unasked',
        parameters: [{ ...MCP_SESSION, required: true }],
        responses: events([400, 401, 403, 404, 429, 500, 503]),
      },
      delete: {
        operationId: 'mcp_session_end',
        summary: 'End of a session',
        parameters: [{ ...MCP_SESSION, required: true }],
        responses: { 200: { description: 'Ended.' }, ...problems([400, 401, 403, 404, 429, 500]) },
      },
    },
  };
}

const MCP_SESSION = {
  name: 'Mcp-Session-Id',
  in: 'header',
  description: 'As the answer to initialize gave it.',
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
