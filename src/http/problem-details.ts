import { cleaned } from '../core/clean-text.ts';
import { ClientError, type ClientErrorCode, diskProblem, isAway } from '../core/errors.ts';
import type { Observe } from '../core/events.ts';
import { type BasePath, hintBelow } from './base-path.ts';
import { drain } from './body.ts';
import { DEFAULT_FIELDS, type HttpApp, methodsOf, patternOf } from './http-app.ts';

/** Answers every error, also unknown paths and methods, with problem details. Reports internal errors, without details to clients. */
export const problemDetails = (observe: Observe, basePath: BasePath) => (app: HttpApp) =>
  app.onError(async ({ error, code, request, path, route, requestId, traceId, set }) => {
    const clientError = code === 'NOT_FOUND' ? noRoute(methodsOf(app, path)) : clientErrorOf(error, request);
    if (clientError.code === 'method_not_allowed') set.headers.Allow = methodsOf(app, path).join(', ');
    if (clientError.code === 'coding_unknown') set.headers['Accept-Encoding'] = 'gzip, identity';
    if (clientError.status === 401) set.headers['WWW-Authenticate'] = challengeOf(clientError.code);
    const isFailure = clientError.code === 'internal' || diskProblem(error) !== undefined;
    if (isFailure) {
      observe({
        kind: 'request_failed',
        route: patternOf(app, path, route),
        request_id: requestId,
        trace_id: traceId,
        error,
      });
    }
    await drain(request);
    set.status = clientError.status;
    if (clientError.retryAfterS !== undefined) set.headers['Retry-After'] = clientError.retryAfterS;
    Object.assign(set.headers, DEFAULT_FIELDS, { 'content-type': 'application/problem+json' });
    return JSON.stringify(problemOf(clientError, requestId, basePath));
  });

/** The values of `WWW-Authenticate` (RFC 9110, 11.6.1). The name `ApiKey` is not registered, as there is none for X-API-Key. */
const BEARER_CHALLENGE = 'Bearer realm="zomma"';
const KEY_CHALLENGE = `${BEARER_CHALLENGE}, ApiKey realm="zomma"`;

function challengeOf(code: ClientErrorCode): string {
  return code === 'token_refused' ? BEARER_CHALLENGE : KEY_CHALLENGE;
}

/** Returns the body of an error, in the format of problem details (RFC 9457). `PROBLEM` of `openapi-components` describes its fields. */
function problemOf(clientError: ClientError, requestId: string, basePath: BasePath) {
  const { nearest } = clientError;
  // The texts are cleaned, because a message may contain names that come from a caller, a provider or a file.
  return cleaned({
    type: 'about:blank',
    title: clientError.title,
    status: clientError.status,
    detail: clientError.message,
    code: clientError.code,
    hint: hintBelow(basePath, clientError.hint ?? 'See GET /docs for the requests that this server accepts.'),
    request_id: requestId,
    ...(clientError.fieldErrors.length > 0 && {
      errors: clientError.fieldErrors.map(({ field, expected }) => ({ pointer: field, detail: expected })),
    }),
    ...(nearest && { nearest_before: nearest.before, nearest_after: nearest.after }),
  });
}

function clientErrorOf(error: unknown, request: Request): ClientError {
  if (error instanceof ClientError) return error;
  // No client gets this answer, because the client closed the connection while it sent the request.
  if (request.signal.aborted) return new ClientError('invalid_body', 'The client closed the connection');
  if (isAway(error)) {
    return new ClientError('unavailable', 'The database of the servers is away, so nothing can be changed now', {
      hint: 'Retry shortly.',
      retryAfterS: 5,
    });
  }
  const problem = diskProblem(error);
  if (problem) {
    return new ClientError('unavailable', `The server cannot use its data: ${problem.reason}`, {
      hint: 'The operator has to mend this. Retry later.',
      retryAfterS: 60,
    });
  }
  return new ClientError('internal', 'The request could not be answered', {
    hint: 'Retry shortly. If the error persists, report the request_id.',
  });
}

function noRoute(allowed: readonly string[]): ClientError {
  if (allowed.length > 0) return methodNotAllowed(allowed);
  return new ClientError('not_found', 'There is no such path', { hint: 'See GET /openapi.json for all paths.' });
}

/** Returns the 405 error for a path that supports only the allowed methods. */
export function methodNotAllowed(allowed: readonly string[]): ClientError {
  return new ClientError('method_not_allowed', 'This path does not support the request method', {
    hint: `Use ${allowed.join(', ')}.`,
  });
}
