import { STATUS_CODES } from 'node:http';
import type { Failure } from '../errors.ts';

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

function problemOf(failure: Failure, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: failure.title,
    status: failure.status,
    detail: failure.message,
    code: failure.code,
    hint: failure.hint ?? `See ${STATUS_CODES[failure.status]} in the error table of the documentation.`,
    request_id: requestId,
    ...(failure.faults.length > 0 && {
      errors: failure.faults.map(({ field, expected }) => ({ pointer: field, detail: expected })),
    }),
  };
}

export function problemResponse(failure: Failure, requestId: string): Response {
  return new Response(JSON.stringify(problemOf(failure, requestId)), {
    status: failure.status,
    headers: { 'Content-Type': 'application/problem+json' },
  });
}
