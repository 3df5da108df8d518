import type { Observation } from './events.ts';

/** The span of a request that is being answered. */
export interface RequestSpan {
  readonly traceId: string;
  end(answer: Omit<Extract<Observation, { kind: 'request_answered' }>, 'kind'>): void;
}

/** Creates a span for each request. */
export interface RequestTracing {
  /** Runs `work` within a new span. The span continues the trace that the headers name, or begins a new trace. */
  inRequest<Result>(headers: Headers, work: () => Result): Result;
  /** Returns the span in which the calling code runs. */
  current(): RequestSpan | undefined;
}

const FIELD = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/**
 * Reads the header `traceparent` (W3C Trace Context): the trace (32 hex digits), the span of the sender (16 hex digits), and whether the
 * sender records the trace. Returns undefined if the header is missing or malformed.
 */
export function parseTraceparent(field: string | null) {
  const [, version, traceId, spanId, flags, more] = FIELD.exec(field ?? '') ?? [];
  if (!version || !traceId || !spanId || !flags) return undefined;
  // A `traceparent` of version 00 must have exactly four parts, but later versions may have more parts. Ids of only zeros are invalid.
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
