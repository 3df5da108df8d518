import type { AnyElysia } from 'elysia';

const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** Methods that a path answers, looked up in Elysia's own router; none where there is no such path. */
export function methodsOf(app: AnyElysia, path: string): readonly string[] {
  return METHODS.filter((method) => routeOf(app, method, path) !== undefined);
}

/** The pattern of the route that a request meets, e.g. `/api/v1/nodes/gex/{ticker}`: what observations tell of its path. */
export function patternOf(app: AnyElysia, method: string, path: string): string {
  const route = routeOf(app, method === 'HEAD' ? 'GET' : method, path);
  if (route === undefined) return '(none)';
  // A pattern is a path too, with its parameters for values: it meets its own route.
  const own = app.routes.find((each) => each.method === method && routeOf(app, method, each.path) === route);
  return (own?.path ?? path).replaceAll(/:(\w+)/g, '{$1}');
}

function routeOf({ router }: AnyElysia, method: string, path: string): unknown {
  const known: Readonly<Record<string, number>> | undefined = router.static[path];
  return known?.[method] ?? router.http.find(method, path)?.store;
}
