import type { TSchema } from '@sinclair/typebox';
import { type BinaryForm, type Operation, PICTURE_TYPE } from '../operations/engine/operation.ts';
import { extendedView, routeView, toolView, type View } from '../operations/engine/perform.ts';
import { documented } from '../operations/engine/schemas.ts';
import { OPERATIONS, TOOLS } from '../operations/registry.ts';
import { tablesOf } from './answer-format.ts';
import type { BasePath } from './base-path.ts';
import {
  binaryContent,
  body,
  components,
  headed,
  IF_NONE_MATCH_REF,
  json,
  notModified,
  problems,
  withTag,
} from './openapi-components.ts';
import { exampleOf } from './openapi-examples.ts';
import { accountPaths, streamPaths } from './openapi-routes.ts';
import { withComponents } from './openapi-schemas.ts';
import { binaryPath, pictureNames, picturePath, queryNames } from './operation-routes.ts';

/** Returns the OpenAPI 3.1 document of all HTTP routes under a base path. The operations come from the registry. */
export async function openapiDocument(version: string, basePath: BasePath): Promise<Record<string, unknown>> {
  return withComponents({
    openapi: '3.1.0',
    info: {
      title: 'Zomma',
      version,
      summary: 'Options-market analytics over REST and MCP.',
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
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
  });
}

const DESCRIPTION =
  'Dealer exposure, levels, flow, volatility and probabilities of listed options, computed from option chains. Each operation is described ' +
  'with its units. Answers of market data name their source, moment and age in header fields, also with the status 304. Errors are problem ' +
  'details (RFC 9457) with a code, a hint and the invalid fields. Within /api/v1, fields, parameters, paths and values of enumerations may be ' +
  'added; none is removed or changes its meaning.';

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
    OPERATIONS.filter(({ rest }) => rest).flatMap((operation) => {
      const { method, path, binary } = operation.rest!;
      const described = method === 'GET' ? getOperation(operation) : postOperation(operation);
      const others: [string, PathItem][] = [];
      if (operation.picture) others.push([picturePath(path), pictureOperation(operation)]);
      if (binary) others.push([binaryPath(path), binaryOperation(operation, binary)]);
      return [[path, { [method.toLowerCase()]: described }] as const, ...others];
    }),
  );
}

type PathItem = Readonly<Record<string, object>>;

function getOperation(operation: Operation) {
  const { name, ofMarket, ofNow, picture, rest } = operation;
  const { path } = rest!;
  const view = routeView(operation);
  const given = { ofMarket, hasTag: !ofNow, varies: true };
  const fields = operationFields(operation, name);
  return {
    ...fields,
    ...(picture && { description: `${fields.description} ${PICTURE_NOTE} ${picturePath(path)}.` }),
    ...tablesOf(view),
    parameters: [...parametersOf(view, queryNames(view)), ...(given.hasTag ? [IF_NONE_MATCH_REF] : [])],
    responses: {
      200: { ...json('Success.', answerOf(view), exampleOf(name)), ...headed(given) },
      ...(given.hasTag && notModified(given)),
      ...getProblems(operation),
    },
  };
}

const PICTURE_NOTE = 'The chart as a PNG is at the path';

/** Describes the route of an operation's picture, which has a path of its own because a client expects one media type of a path. */
function pictureOperation(operation: Operation): PathItem {
  const { name, ofMarket, title } = operation;
  const view = routeView(operation);
  return {
    get: {
      operationId: `${name}_picture`,
      summary: `${title}, as a picture`,
      description: `The chart of the answer of \`${name}\` as a PNG.`,
      parameters: parametersOf(view, pictureNames(view)),
      responses: {
        200: {
          description: 'The chart.',
          ...headed({ ofMarket }),
          content: { [PICTURE_TYPE]: { schema: { type: 'string', format: 'binary' } } },
        },
        ...getProblems(operation),
      },
    },
  };
}

/** Returns the parameters in the path of a GET route, and the named ones in its query. A picture has a path of its own, so `format` lacks it. */
function parametersOf({ operation, input }: View, names: readonly string[]) {
  const { path } = operation.rest!;
  const example = operation.example as Readonly<Record<string, unknown>>;
  return Object.entries(input.properties).flatMap(([name, schema]) => {
    if (path.includes(`{${name}}`)) return [parameter(name, 'path', schema, example[name])];
    if (!names.includes(name)) return [];
    const shown =
      name === 'format' ? { ...schema, enum: schema.enum.filter((each: string) => each !== 'image') } : schema;
    return [parameter(name, 'query', shown, example[name])];
  });
}

function getProblems({ ofMarket }: Operation) {
  return problems([
    400,
    401,
    403,
    406,
    ...(ofMarket ? ([422] as const) : []),
    429,
    500,
    ...(ofMarket ? ([503] as const) : []),
  ]);
}

function postOperation(operation: Operation) {
  const { name, example, rest } = operation;
  const { path, binary, bodyBytesMax } = rest!;
  const view = routeView(operation);
  const fields = operationFields(operation, name);
  return {
    ...fields,
    ...tablesOf(view),
    ...(binary && { description: `${fields.description} Binary columns are at the path ${binaryPath(path)}.` }),
    requestBody: body(documented(view.input, { name: `${schemaName(name)}Request` }), example),
    responses: {
      200: { ...json('Success.', answerOf(view), exampleOf(name)), ...headed({ varies: bodyBytesMax !== undefined }) },
      ...problems([400, 401, 403, 406, 413, 415, 422, 429, 500]),
    },
  };
}

/** Describes the route of an operation's binary columns, which has a path of its own because clients expect one media type of a path. */
function binaryOperation(operation: Operation, { inputs, answers, parameters }: BinaryForm): PathItem {
  const { name, title } = operation;
  const { properties } = routeView(operation).input;
  return {
    post: {
      operationId: `${name}_columns`,
      summary: `${title}, as binary columns`,
      description: `\`${name}\` with columns of float64 in place of JSON.`,
      parameters: parameters.map((each) => parameter(each, 'query', properties[each]!)),
      requestBody: { required: true, content: binaryContent(inputs) },
      responses: {
        200: { description: 'Success.', ...headed(), content: binaryContent(answers) },
        ...problems([400, 401, 403, 413, 415, 422, 429, 500]),
      },
    },
  };
}

/** Returns the schema of the answer of an operation's own route. */
function answerOf({ operation, output }: View) {
  return documented(output, { name: schemaName(operation.name) });
}

function toolPaths() {
  return Object.fromEntries(
    TOOLS.map((tool) => {
      const { name, ofMarket, example, picture } = tool;
      const { input, output } = toolView(tool);
      const id = `tool_${name}`;
      const schema = schemaName(name);
      const fields = operationFields(tool, id);
      const note = picture && 'With `format` image in the body, the answer is the chart as a PNG.';
      const answers = [
        documented(output, { name: `${schema}Tool` }),
        documented(extendedView(tool).output, { name: `${schema}Extended` }),
      ];
      return [
        `/api/v1/tools/${name}`,
        {
          post: {
            ...fields,
            ...(note && { description: `${fields.description} ${note}` }),
            parameters: [
              {
                name: 'extended',
                in: 'query',
                description: 'true: the answer also has the fields beyond the default answer, and its provenance.',
                schema: { type: 'boolean', default: false },
              },
              ...(input.properties.at ? [parameter('at', 'query', input.properties.at)] : []),
            ],
            requestBody: body(documented(input, { name: `${schema}ToolRequest` }), example),
            responses: {
              200: {
                ...json('The default answer, or the extended answer.', { anyOf: answers }, exampleOf(id)),
                ...headed({ ofMarket }),
              },
              ...problems([400, 401, 403, 406, 413, 415, 422, 429, 500]),
              ...(ofMarket && problems([503])),
            },
          },
        },
      ];
    }),
  );
}

/** Returns the name of an operation's answer among the schemas: `get_gex_by_strike` gives `GexByStrike`. */
function schemaName(operation: string): string {
  const words = operation.replace(/^(?:get|run|compute|calculate|evaluate|detect)_/, '').split('_');
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

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
