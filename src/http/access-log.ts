import type { Observe } from '../core/events.ts';
import type { AddressOf } from './client-address.ts';
import { type HttpApp, patternOf, type ResponseHead } from './http-app.ts';

/** Reports each answered request to `observe` and its span. Adds no hook if `observe` ignores answered requests and there are no spans. */
export const accessLog = (observe: Observe, addressOf: AddressOf, hasSpans: boolean) => (app: HttpApp) => {
  if (observe.ignores?.has('request_answered') && !hasSpans) return app;
  return app
    .onRequest((context) => {
      context.startedAt = performance.now();
      context.client = addressOf(context.request);
    })
    .onAfterResponse(
      ({
        request: { method },
        path,
        route,
        set,
        responseValue,
        requestId,
        account,
        startedAt,
        client,
        traceId,
        span,
      }) => {
        const answer = {
          client,
          bytes: typeof responseValue === 'string' ? Buffer.byteLength(responseValue) : (set as ResponseHead).bytes,
          method,
          route: patternOf(app, path, route),
          status: responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200),
          duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
          request_id: requestId,
          account: account?.id,
          trace_id: traceId,
        };
        observe({ kind: 'request_answered', ...answer });
        span?.end(answer);
      },
    );
};
