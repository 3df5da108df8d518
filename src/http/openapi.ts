import type { TSchema } from '@sinclair/typebox';
import { type Operation, PICTURE_TYPE } from '../operations/engine/operation.ts';
import { extendedView, restView, toolView } from '../operations/engine/perform.ts';
import { OPERATIONS, TOOLS } from '../operations/registry.ts';
import type { BasePath } from './base-path.ts';
import { binaryContent, body, components, json, problems, withTag } from './openapi-components.ts';
import { accountPaths, streamPaths } from './openapi-routes.ts';

/** Returns the OpenAPI 3.1 document of all HTTP routes under a base path. The operations come from the registry. */
export function openapiDocument(version: string, basePath: BasePath): Record<string, unknown> {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Zomma',
      version,
      summary: 'Options-market analytics over REST and MCP.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: basePath || '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: TAGS,
    paths: {
      ...withTag('service', accountPaths()),
      ...withTag('analytics', operationPaths()),
      ...withTag('tools', toolPaths()),
      ...withTag('streams', streamPaths()),
    },
    components: components(),
  };
}

const TAGS = [
  { name: 'service', description: 'The service and its members' },
  { name: 'analytics', description: 'Operations with a route of their own' },
  { name: 'tools', description: 'Every tool over plain HTTP' },
  {
    name: 'streams',
    description: 'Server-sent events, including MCP. This page cannot show them, because they do not end',
  },
];

function operationPaths() {
  return Object.fromEntries(
    OPERATIONS.filter(({ rest }) => rest).map((operation) => {
      const { method, path, binary } = operation.rest!;
      const view = restView(operation);
      const properties = Object.entries(view.input.properties);
      const { example } = operation;
      return [
        path,
        {
          [method.toLowerCase()]: {
            ...operationFields(operation, operation.name),
            ...(method === 'POST'
              ? {
                  ...(binary && {
                    parameters: [parameter('units', 'query', { ...view.input.properties.units!, ...OF_BINARY })],
                  }),
                  requestBody: body(view.input, example, binary),
                }
              : {
                  parameters: properties.map(([name, schema]) =>
                    parameter(
                      name,
                      path.includes(`{${name}}`) ? 'path' : 'query',
                      schema,
                      (example as Readonly<Record<string, unknown>>)[name],
                    ),
                  ),
                }),
            responses: {
              200: {
                description: 'Success.',
                content: {
                  ...json('', view.output).content,
                  ...(binary && binaryContent(binary.answers)),
                  ...pictureContent(operation),
                },
              },
              ...(method === 'GET' &&
                !operation.ofNow && { 304: { description: 'Not modified: If-None-Match has the tag of the answer.' } }),
              ...problems(method === 'POST' ? [401, 403, 413, 422, 429, 500] : [400, 401, 403, 429, 500]),
              ...(binary && problems([400])),
              ...(method === 'GET' && operation.ofMarket && problems([422, 503])),
            },
          },
        },
      ];
    }),
  );
}

function toolPaths() {
  return Object.fromEntries(
    TOOLS.map((tool) => {
      const { input, output } = toolView(tool);
      return [
        `/api/v1/tools/${tool.name}`,
        {
          post: {
            ...operationFields(tool, `tool_${tool.name}`),
            parameters: [
              {
                name: 'extended',
                in: 'query',
                description: 'true: the answer also has the fields beyond the default answer, and its provenance.',
                schema: { type: 'boolean', default: false },
              },
              ...(input.properties.at ? [parameter('at', 'query', input.properties.at)] : []),
            ],
            requestBody: body(input, tool.example),
            responses: {
              200: {
                description: 'The default answer, or the extended answer.',
                content: {
                  ...json('', { anyOf: [output, extendedView(tool).output] }).content,
                  ...pictureContent(tool),
                },
              },
              ...problems([400, 401, 403, 413, 422, 429, 500]),
              ...(tool.ofMarket && problems([503])),
            },
          },
        },
      ];
    }),
  );
}

function pictureContent({ picture }: Operation) {
  return picture && { [PICTURE_TYPE]: { schema: { type: 'string', format: 'binary' } } };
}

const OF_BINARY = { description: 'Units of a binary answer. A JSON request has the field units in its body.' };

/** Returns a parameter. The description is in the parameter, not in its schema, because OpenAPI programs expect the description there. */
function parameter(name: string, where: 'path' | 'query', { description, ...schema }: TSchema, example?: unknown) {
  return {
    name,
    in: where,
    required: where === 'path',
    description,
    ...(schema.type === 'array' && { style: 'form', explode: false }),
    schema,
    ...(example !== undefined && { example }),
  };
}

function operationFields({ title, description }: Operation, operationId: string) {
  return { operationId, summary: title, description };
}
