import type { AnyElysia } from 'elysia';

const METHODS = ['GET', 'POST', 'DELETE'] as const;

/** Methods that a path answers, looked up in Elysia's own router; none where there is no such path. */
export function methodsOf(app: AnyElysia, path: string): readonly string[] {
  return METHODS.filter((method) => routeOf(app, method, path) !== undefined);
}

/** The pattern of the route that a request meets, e.g. `/api/v1/nodes/gex/{ticker}`: what observations tell of its path. */
export function patternOf(app: AnyElysia, asked: string, path: string): string {
  const method = asked === 'HEAD' ? 'GET' : asked;
  const route = routeOf(app, method, path);
  if (typeof route !== 'object') return route === undefined ? '(none)' : path;
  let pattern = patterns.get(route);
  if (pattern === undefined) {
    // A pattern is a path too, with its parameters for values: it meets its own route.
    const own = app.routes.find((each) => each.method === method && routeOf(app, method, each.path) === route)!;
    pattern = own.path.replaceAll(/:(\w+)/g, '{$1}');
    patterns.set(route, pattern);
  }
  return pattern;
}

const patterns = new WeakMap<object, string>();

/** What the router has for a request: a number where the path has no parameters. */
function routeOf({ router }: AnyElysia, method: string, path: string): object | number | undefined {
  const known: Readonly<Record<string, number>> | undefined = router.static[path];
  return known?.[method] ?? router.http.find(method, path)?.store;
}
