import { CLIENT_ERRORS } from '../core/errors.ts';
import type { BinaryForm } from '../operations/engine/operation.ts';

/** Returns the components to which the operations of the OpenAPI document refer. */
export function components(): Record<string, unknown> {
  const statuses = new Set(Object.values(CLIENT_ERRORS).map(({ status }) => status));
  return {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a bearer token.' },
    },
    schemas: { Problem: PROBLEM },
    responses: Object.fromEntries([...statuses].map((status) => [`Problem${status}`, problemResponse(status)])),
  };
}

/** Returns the error responses of a path. The key is the status. */
export function problems(statuses: readonly Status[]): Record<string, unknown> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]));
}

export type Status = (typeof CLIENT_ERRORS)[keyof typeof CLIENT_ERRORS]['status'];

export function body(schema: object, example?: unknown, binary?: BinaryForm) {
  const json = { schema, ...(example !== undefined && { example }) };
  return { required: true, content: { 'application/json': json, ...(binary && binaryContent(binary.inputs)) } };
}

/** Returns the OpenAPI content of binary bodies. A binary body consists of float64 columns, one after the other. */
export function binaryContent(columns: readonly string[]) {
  const description = `Columns of float64 (little-endian), one after the other: ${columns.join(', ')}.`;
  return { 'application/octet-stream': { schema: { type: 'string', format: 'binary', description } } };
}

export function json(description: string, schema: unknown) {
  return { description, content: { 'application/json': { schema } } };
}

/** Adds a tag to all operations of the given paths, so that the documentation page shows these operations under one heading. */
export function withTag(tag: string, paths: Readonly<Record<string, Readonly<Record<string, object>>>>) {
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(Object.entries(methods).map(([method, each]) => [method, { tags: [tag], ...each }])),
    ]),
  );
}

function problemResponse(status: number) {
  const codes = Object.entries(CLIENT_ERRORS).flatMap(([code, each]) => (each.status === status ? [code] : []));
  return {
    description: `Error codes: ${codes.join(', ')}.`,
    ...(status === 401 && {
      headers: { 'WWW-Authenticate': { description: 'How to send a key.', schema: { type: 'string' } } },
    }),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

function nearest(side: 'before' | 'after') {
  const description = `Only if no snapshot is stored for the requested moment: the moment of the nearest stored one ${side} it, ISO 8601; null if there is none.`;
  return { type: ['string', 'null'], description };
}

const PROBLEM = {
  type: 'object',
  description: 'RFC 9457 problem details.',
  required: ['type', 'title', 'status', 'detail', 'code', 'hint', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(CLIENT_ERRORS) },
    hint: { type: 'string' },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { pointer: { type: 'string' }, detail: { type: 'string' } } },
    },
    nearest_before: nearest('before'),
    nearest_after: nearest('after'),
  },
};
