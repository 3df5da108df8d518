import type { Observe } from '../events.ts';
import type { HttpApp } from './http-app.ts';
import { patternOf } from './route-lookup.ts';

/** Observes every answered request. Where nobody listens for that it adds no hook, and costs nothing. */
export const accessLog = (observe: Observe) => (app: HttpApp) => {
  if (observe.ignores?.has('request_answered')) return app;
  const startedAt = new WeakMap<Request, number>();
  return app
    .onRequest(({ request }) => {
      startedAt.set(request, performance.now());
    })
    .onAfterResponse(({ request, path, set, responseValue, requestId, account }) => {
      observe({
        kind: 'request_answered',
        method: request.method,
        route: patternOf(app, request.method, path),
        status: responseValue instanceof Response ? responseValue.status : Number(set.status ?? 200),
        duration_ms: Math.round((performance.now() - startedAt.get(request)!) * 1000) / 1000,
        request_id: requestId,
        account: account?.id,
      });
    });
};
