import { cleaned } from '../clean-text.ts';
import { Failure } from '../errors.ts';
import type { Observe } from '../events.ts';
import { drain } from './body.ts';
import { DEFAULT_FIELDS, type HttpApp, methodsOf, patternOf } from './http-app.ts';

/** The one error body, RFC 9457. */
export interface Problem {
  readonly type: 'about:blank';
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  /** Stable word for programs. */
  readonly code: string;
  readonly hint: string;
  readonly request_id: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
}

/** Answers whatever is thrown, and paths and methods without a route, with the one error body. Defects are observed and stay opaque. */
export const problemDetails = (observe: Observe) => (app: HttpApp) =>
  app.onError(async ({ error, code, request, path, route, requestId, set }) => {
    const failure = code === 'NOT_FOUND' ? noRoute(methodsOf(app, path)) : failureOf(error, request);
    if (failure.code === 'method_not_allowed') set.headers.Allow = methodsOf(app, path).join(', ');
    if (failure.status === 401) set.headers['WWW-Authenticate'] = path === '/mcp' ? MCP_CHALLENGE : CHALLENGE;
    if (failure.code === 'internal') {
      observe({ kind: 'request_failed', route: patternOf(app, path, route), request_id: requestId, error });
    }
    await drain(request);
    set.status = failure.status;
    if (failure.retryAfterS !== undefined) set.headers['Retry-After'] = failure.retryAfterS;
    Object.assign(set.headers, DEFAULT_FIELDS, { 'content-type': 'application/problem+json' });
    return JSON.stringify(problemOf(failure, requestId));
  });

/** How a request shows who asks (RFC 9110, 11.6.1): the scheme of the header X-API-Key has no registered name. */
const CHALLENGE = 'ApiKey realm="zomma"';
/** On this path the key may come as a bearer token. */
const MCP_CHALLENGE = `Bearer realm="zomma", ${CHALLENGE}`;

function problemOf(failure: Failure, requestId: string): Problem {
  // A message may hold names that the caller, a provider or a file chose.
  return cleaned({
    type: 'about:blank',
    title: failure.title,
    status: failure.status,
    detail: failure.message,
    code: failure.code,
    hint: failure.hint ?? `See ${failure.code} in the error table of the documentation.`,
    request_id: requestId,
    ...(failure.faults.length > 0 && {
      errors: failure.faults.map(({ field, expected }) => ({ pointer: field, detail: expected })),
    }),
  });
}

function failureOf(error: unknown, request: Request): Failure {
  if (error instanceof Failure) return error;
  // Nobody reads this answer: the client hung up while it was sending.
  if (request.signal.aborted) return new Failure('invalid_body', 'The client has gone');
  return new Failure('internal', 'The request could not be answered', {
    hint: 'Retry shortly; if it stays, report the request_id.',
  });
}

/** 405 for a path that answers other methods, else 404. */
function noRoute(allowed: readonly string[]): Failure {
  if (allowed.length > 0) return methodNotAllowed(allowed);
  return new Failure('not_found', 'There is nothing at this path', { hint: 'GET /openapi.json lists what there is.' });
}

/** Of a path that answers only the allowed methods. */
export function methodNotAllowed(allowed: readonly string[]): Failure {
  return new Failure('method_not_allowed', 'This path does not answer that method', {
    hint: `Use ${allowed.join(', ')}.`,
  });
}
