import { Failure } from '../errors.ts';
import type { Operation } from '../operations/operation.ts';
import {
  datedToolView,
  extendedView,
  type Performed,
  performInTurns,
  restView,
  type View,
} from '../operations/perform.ts';
import { OPERATIONS, TOOLS } from '../operations/registry.ts';
import { isRecord } from '../operations/validate.ts';
import { readBytes, readJson } from './body.ts';
import { fieldsOf, type HttpApp, queryOf, type ResponseHead, respond, respondJson } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';
import { sendPrepared } from './prepared-response.ts';
import { createResponseCache, provenanceHeaders, type ResponseCache } from './response-cache.ts';

/** The registry's routes: operations with a path of their own, and every tool under `/api/v1/tools`. */
export const operationRoutes = (deps: OperationDeps) => (app: HttpApp) => {
  const cache = createResponseCache(deps.storeVersion, deps.context.nowMs);
  for (const operation of OPERATIONS) if (operation.rest) addRoute(app, operation, deps, cache);
  for (const tool of TOOLS) addToolRoute(app, tool, deps);
  return app;
};

type OperationDeps = Pick<HttpDeps, 'context' | 'storeVersion' | 'loaded'>;

/** An operation's own route: arguments from path and query on GET, from the body on POST. */
function addRoute(app: HttpApp, operation: Operation, deps: OperationDeps, cache: ResponseCache): void {
  const { context, loaded } = deps;
  const { method, path, bodyBytesMax, binary } = operation.rest!;
  const view = restView(operation);
  if (method === 'GET') {
    app.get(routerPath(path), async ({ request, params, set }) => {
      const loading = operation.ofMarket && loaded();
      if (loading) await loading;
      const perform = () => {
        const args = { ...queryArguments(view, path, queryOf(request.url)), ...(params as object) };
        return performInTurns(view, args, context, 'invalid_parameter');
      };
      return operation.ofNow
        ? answer(await perform(), set)
        : sendPrepared(await cache.of(request.url, perform), request.headers, set);
    });
    return;
  }
  app.post(routerPath(path), async ({ request, set }) => {
    if (binary && IS_BINARY.test(request.headers.get('content-type') ?? '')) {
      const units = unitsOf(queryOf(request.url));
      return respond(set, binary.compute(await readBytes(request, bodyBytesMax), units), BINARY_FIELDS);
    }
    const performed = performInTurns(view, await readJson(request, bodyBytesMax), context, 'invalid_body');
    return answer(performed instanceof Promise ? await performed : performed, set);
  });
}

const BINARY_TYPE = 'application/octet-stream';
const IS_BINARY = /^application\/octet-stream\s*(?:;|$)/i;
const BINARY_FIELDS = fieldsOf({ 'Content-Type': BINARY_TYPE });

/** A tool over plain HTTP, in its default or its extended form. */
function addToolRoute(app: HttpApp, tool: Operation, { context, loaded }: OperationDeps): void {
  app.post(`/api/v1/tools/${tool.name}`, async ({ request, set }) => {
    const query = queryOf(request.url);
    const view = isExtended(query) ? extendedView(tool) : datedToolView(tool);
    const [args, at] = [await readJson(request), query.get('at')];
    if (tool.ofMarket) await loaded();
    const dated = at !== null && tool.ofMarket && isRecord(args) ? { ...args, at } : args;
    return answer(await performInTurns(view, dated, context, 'invalid_body'), set);
  });
}

function answer({ body, provenance }: Performed, set: ResponseHead): Response {
  if (provenance) Object.assign(set.headers, provenanceHeaders(provenance));
  return respondJson(set, body);
}

/** `{parameter}` segments as Elysia writes them. */
function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * What the query says: numbers as numbers, a field given twice as a list, which no field takes. Where the path says all that the
 * operation must know, as on the contract's routes, a name that it does not know says nothing.
 */
function queryArguments({ operation, input }: View, path: string, query: URLSearchParams): Record<string, unknown> {
  const isWhole = Object.keys(operation.input.properties).every((name) => path.includes(`{${name}}`));
  const names = [...new Set(query.keys())].filter((name) => !isWhole || Object.hasOwn(input.properties, name));
  return Object.fromEntries(
    names.map((name) => {
      const given = query.getAll(name);
      const isNumeric = NUMERIC.has(input.properties[name]?.type) && given[0]!.trim() !== '';
      return [name, given.length > 1 ? given : isNumeric ? Number(given[0]) : given[0]];
    }),
  );
}

const NUMERIC: ReadonlySet<unknown> = new Set(['number', 'integer']);

/** The units of a binary request. Throws `Failure`, 400, if the query has another parameter or repeats units. */
function unitsOf(query: URLSearchParams): string | undefined {
  const [first, ...others] = [...query];
  if (others.length === 0 && (first?.[0] ?? 'units') === 'units') return first?.[1];
  throw new Failure('invalid_parameter', 'The query of a binary request may have units, once', {
    hint: 'Send ?units=raw or ?units=market, or no query.',
    faults: [{ field: '/units', expected: 'must be the only parameter, given once' }],
  });
}

function isExtended(query: URLSearchParams): boolean {
  const given = query.get('extended') ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new Failure('invalid_parameter', 'The query parameter extended must be true or false', {
    hint: 'Send ?extended=true for the extended answer.',
    faults: [{ field: '/extended', expected: 'must be true or false' }],
  });
}
