import type { TObject } from '@sinclair/typebox';
import { FAILURES } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import { datedToolView, extendedView, restView } from '../operations/perform.ts';
import { OPERATIONS, TOOLS } from '../operations/registry.ts';

/** OpenAPI 3.1 of everything served over HTTP, from the registry. */
export function openapiDocument(version: string): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Zomma',
      version,
      summary: 'Options-market analytics over REST and MCP.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: { ...accountPaths(), ...operationPaths(), ...toolPaths(), ...streamPaths() },
    components: {
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' } },
      schemas: { Problem: PROBLEM },
      responses: Object.fromEntries(STATUSES.map((status) => [`Problem${status}`, problemResponse(status)])),
    },
  };
}

const STATUSES = [400, 401, 403, 404, 413, 422, 429, 500] as const;

const PROBLEM = {
  type: 'object',
  description: 'RFC 9457 problem details.',
  required: ['type', 'title', 'status', 'detail', 'code', 'hint', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(FAILURES) },
    hint: { type: 'string' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
      },
    },
  },
};

const UUID_PARAMETER = {
  name: 'uuid',
  in: 'query',
  required: true,
  description: "The member's UUID in the membership system.",
  schema: { type: 'string', format: 'uuid' },
};

const text = (description: string) => ({ type: 'string', description });

function accountPaths() {
  const object = (properties: Record<string, unknown>) => ({
    type: 'object',
    required: Object.keys(properties),
    properties,
    additionalProperties: false,
  });
  const open = (operationId: string, summary: string, schema: unknown, parameters: unknown[], statuses: number[]) => ({
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

function operationPaths() {
  return Object.fromEntries(
    OPERATIONS.filter(({ rest }) => rest).map((operation) => {
      const { method, path } = operation.rest!;
      const view = restView(operation);
      return [
        path,
        {
          [method.toLowerCase()]: {
            ...words(operation, operation.name),
            ...(method === 'POST'
              ? { requestBody: body(view.input) }
              : {
                  parameters: Object.entries(view.input.properties).map(([name, schema]) => {
                    const inPath = path.includes(`{${name}}`);
                    return { name, in: inPath ? 'path' : 'query', required: inPath, schema };
                  }),
                }),
            responses: {
              200: json('Success.', view.output),
              ...(method === 'GET' && { 304: { description: 'Unchanged: If-None-Match has the tag of the answer.' } }),
              ...problems(method === 'POST' ? [401, 403, 413, 422, 429, 500] : [400, 401, 403, 429, 500]),
            },
          },
        },
      ];
    }),
  );
}

function toolPaths() {
  return Object.fromEntries(
    TOOLS.map((tool) => [
      `/api/v1/tools/${tool.name}`,
      {
        post: {
          ...words(tool, `tool_${tool.name}`),
          parameters: [
            {
              name: 'extended',
              in: 'query',
              description: 'true for all that is known beside the default answer, with its provenance.',
              schema: { type: 'boolean', default: false },
            },
          ],
          requestBody: body(datedToolView(tool).input),
          responses: {
            200: json('The default answer, or the extended one.', {
              anyOf: [datedToolView(tool).output, extendedView(tool).output],
            }),
            ...problems([400, 401, 403, 413, 422, 429, 500]),
          },
        },
      },
    ]),
  );
}

function streamPaths() {
  return {
    '/sse': {
      get: {
        operationId: 'mcp_stream',
        summary: 'MCP stream (HTTP+SSE): an endpoint event, then message events',
        responses: {
          200: { description: 'Stream.', content: { 'text/event-stream': {} } },
          ...problems([403, 429, 500]),
        },
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
            name: 'Last-Event-ID',
            in: 'header',
            description: 'Id of the last event that arrived: all since come first. Without it, the current levels do.',
            schema: EVENT_ID,
          },
          {
            name: 'last_event_id',
            in: 'query',
            description: 'The same, where no header can be set.',
            schema: EVENT_ID,
          },
        ],
        responses: {
          200: { description: 'Stream.', content: { 'text/event-stream': {} } },
          ...problems([400, 401, 403, 429, 500]),
        },
      },
    },
    '/messages': {
      post: {
        operationId: 'mcp_message',
        summary: 'JSON-RPC message of an open MCP stream; answered on the stream',
        parameters: [{ name: 'sessionId', in: 'query', required: true, schema: { type: 'string' } }],
        requestBody: body({ type: 'object' }),
        responses: { 202: { description: 'Accepted.' }, ...problems([400, 403, 404, 413, 422, 429, 500]) },
      },
    },
  };
}

const EVENT_ID = { type: 'string', pattern: '^[0-9]{1,15}$' };

function words({ title, description }: Operation, operationId: string) {
  return { operationId, summary: title, description };
}

function body(schema: TObject | Record<string, unknown>) {
  return { required: true, content: { 'application/json': { schema } } };
}

function json(description: string, schema: unknown) {
  return { description, content: { 'application/json': { schema } } };
}

function problems(statuses: readonly number[]) {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]));
}

function problemResponse(status: number) {
  const codes = Object.entries(FAILURES).flatMap(([code, each]) => (each.status === status ? [code] : []));
  return {
    description: `Refused: ${codes.join(', ')}.`,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}
