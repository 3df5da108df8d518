import { CLIENT_ERRORS, type ErrorForm } from '../core/errors.ts';
import { documented } from '../operations/engine/schemas.ts';

/** Returns the components to which the operations of the OpenAPI document refer, except the schemas. */
export function components(): Record<string, unknown> {
  return {
    securitySchemes: {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      bearer: { type: 'http', scheme: 'bearer', description: 'The same key as a bearer token.' },
    },
    parameters: { IfNoneMatch: IF_NONE_MATCH },
    headers: HEADERS,
    responses: Object.fromEntries(USED_STATUSES.map((status) => [`Problem${status}`, problemResponse(status)])),
  };
}

/** Returns the error responses of a path. The key is the status. */
export function problems(statuses: readonly Status[]): Record<string, unknown> {
  return Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/Problem${status}` }]));
}

/** The statuses of the errors of served methods. Only a method that is not served gets 405. */
const USED_STATUSES = [400, 401, 403, 404, 406, 413, 415, 422, 429, 500, 503] as const satisfies readonly AnyStatus[];
type AnyStatus = (typeof CLIENT_ERRORS)[keyof typeof CLIENT_ERRORS]['status'];
export type Status = (typeof USED_STATUSES)[number];

const text = (description: string, more = {}) => ({ description, schema: { type: 'string', ...more } });

/** The header fields of responses. */
const HEADERS = {
  'X-Request-Id': text('Id of the request, as in the log of the server.'),
  RateLimit: text('Tokens that are left and seconds until the quota is full. Absent if the service has no rate limit.'),
  'RateLimit-Policy': text('Tokens of a full quota and its window, seconds. Absent if the service has no rate limit.'),
  'Retry-After': { description: 'Seconds until the same request may succeed.', schema: { type: 'integer' } },
  'WWW-Authenticate': text('How to send a key.'),
  'Accept-Encoding': text('The codings that the body of a request may have.'),
  ETag: text('Tag of the answer, for If-None-Match. It stays the same while only the age of the data changes.'),
  'Cache-Control': text('private, no-cache, or no-cache: caches ask with If-None-Match on each use.'),
  Vary: text('Request header fields on which the answer depends: Accept, and Accept-Encoding if it may be compressed.'),
  'X-Data-Source': text('Source of the data.'),
  'X-Data-Simulated': {
    description: 'true for the simulated market.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'X-Data-As-Of': text('When the quotes were taken.', { format: 'date-time' }),
  'X-Data-Age': {
    description: 'Age of the quotes, seconds; negative if they are dated in the future.',
    schema: { type: 'integer' },
  },
  'X-Data-Stale': {
    description: 'true if the quotes are older than the --stale-after setting, counted in trading hours.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'X-Data-Notes': text('Caveats on the figures, percent-encoded except spaces. Absent if there are none.'),
} as const;

type Header = keyof typeof HEADERS;
const OF_ACCOUNT: readonly Header[] = ['RateLimit', 'RateLimit-Policy'];
const OF_TAG: readonly Header[] = ['ETag', 'Cache-Control'];
const OF_DATA = (Object.keys(HEADERS) as Header[]).filter((name) => name.startsWith('X-Data-'));

/** What the header fields of an answer tell. */
export interface Headed {
  /** False for the routes that need no key. */
  readonly isOfAccount?: boolean;
  /** Whether the answer depends on header fields of the request. By default, if it has an entity tag or is of market data. */
  readonly varies?: boolean;
  /** Whether the answer has an entity tag, so that clients may ask for changes alone. */
  readonly hasTag?: boolean;
  readonly ofMarket?: boolean | undefined;
}

/** Returns the header fields of a response. */
export function headed({
  isOfAccount = true,
  hasTag = false,
  ofMarket = false,
  varies = hasTag || ofMarket,
}: Headed = {}) {
  const names: Header[] = ['X-Request-Id'];
  if (isOfAccount) names.push(...OF_ACCOUNT);
  if (hasTag) names.push(...OF_TAG);
  if (varies) names.push('Vary');
  if (ofMarket) names.push(...OF_DATA);
  return { headers: headersOf(names) };
}

function headersOf(names: readonly Header[]) {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns the response to a request whose If-None-Match has the tag of the answer. */
export function notModified(given: Headed) {
  return { 304: { description: 'Not modified: If-None-Match has the tag of the answer.', ...headed(given) } };
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The ETag of an earlier answer. If the answer is still the same, the response is 304 without a body.',
  schema: { type: 'string' },
};
export const IF_NONE_MATCH_REF = { $ref: '#/components/parameters/IfNoneMatch' };

export function body(schema: object, example?: unknown) {
  return { required: true, content: json('', schema, example).content };
}

/** Returns the OpenAPI content of binary bodies. A binary body consists of float64 columns, one after the other. */
export function binaryContent(columns: readonly string[]) {
  const description = `Columns of float64 (little-endian), one after the other: ${columns.join(', ')}.`;
  return { 'application/octet-stream': { schema: { type: 'string', format: 'binary', description } } };
}

export function json(description: string, schema: unknown, example?: unknown) {
  return {
    description,
    content: { 'application/json': { schema, ...(example !== undefined && { example }) } },
  };
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

function problemResponse(status: Status) {
  const codes = Object.entries<ErrorForm>(CLIENT_ERRORS).flatMap(([code, each]) =>
    each.status === status || each.statusOfBody === status ? [code] : [],
  );
  const names: Header[] = ['X-Request-Id'];
  if (status === 401) names.push('WWW-Authenticate');
  if (status === 415) names.push('Accept-Encoding');
  // The other two are answers to requests without a valid key.
  if (status !== 401 && status !== 403) names.push(...OF_ACCOUNT);
  if (status === 429 || status === 503) names.push('Retry-After');
  return {
    description: `Error codes: ${codes.join(', ')}.`,
    headers: headersOf(names),
    content: { 'application/problem+json': { schema: PROBLEM } },
  };
}

function nearest(side: 'before' | 'after') {
  const description = `Only if no snapshot is stored for the requested moment: the moment of the nearest stored one ${side} it, ISO 8601; null if there is none.`;
  return { type: ['string', 'null'], format: 'date-time', description };
}

const PROBLEM = documented(
  {
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
        items: documented(
          {
            type: 'object',
            required: ['pointer', 'detail'],
            properties: { pointer: { type: 'string' }, detail: { type: 'string' } },
          },
          { name: 'FieldProblem' },
        ),
      },
      nearest_before: nearest('before'),
      nearest_after: nearest('after'),
    },
  },
  { name: 'Problem' },
);
