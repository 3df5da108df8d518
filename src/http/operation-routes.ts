import type { TSchema } from '@sinclair/typebox';
import type { ByteBudget } from '../access/byte-budget.ts';
import { charge, rateLimitHeaders } from '../access/rate-limit.ts';
import { ClientError, type ClientErrorCode } from '../core/errors.ts';
import { isRecord } from '../core/json-shape.ts';
import { runToCompletion, type Steps } from '../core/steps.ts';
import { keyOfArguments } from '../operations/engine/answer-cache.ts';
import type { Context, Operation } from '../operations/engine/operation.ts';
import { extendedView, perform, plainToolView, restView, type View } from '../operations/engine/perform.ts';
import { readTableArguments } from '../operations/engine/table-arguments.ts';
import { OPERATIONS, TOOLS } from '../operations/registry.ts';
import { pngOf } from '../picture/render-png.ts';
import { countBody, decode, FREE_BYTES, isDrained, parseJson, readBytes, readJson } from './body.ts';
import { type CachedResponse, cacheResponse, provenanceHeaders, sendResponse } from './cached-response.ts';
import { respondCounted } from './counted-response.ts';
import { fieldsOf, type HttpApp, JSON_FIELDS, queryOf, type ResponseHead, respondJson } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';
import { countValues, writeJson } from './json-text.ts';

/** Adds the routes of the registry: operations with their own path, and every tool at `/api/v1/tools`. */
export const operationRoutes = (deps: OperationDeps) => (app: HttpApp) => {
  for (const operation of OPERATIONS) if (operation.rest) addRoute(app, operation, deps);
  for (const tool of TOOLS) addToolRoute(app, tool, deps);
  return app;
};

type OperationDeps = Pick<HttpDeps, 'context' | 'answers' | 'loaded' | 'scheduler' | 'limiter' | 'budget'>;

/** Adds the route of an operation. On GET, arguments come from the path and the query. On POST, arguments come from the body. */
function addRoute(app: HttpApp, operation: Operation, deps: OperationDeps): void {
  const { context, loaded, budget } = deps;
  const { method, path, bodyBytesMax, binary } = operation.rest!;
  const view = restView(operation);
  if (method === 'GET') {
    app.get(routerPath(path), async ({ request, params, account, set }) => {
      const loading = operation.ofMarket && loaded();
      if (loading) await loading;
      const caller = { request, account: account!.id, set };
      const args = () => ({ ...queryArguments(view, queryOf(request.url)), ...(params as object) });
      // The path and the query as the client has sent them hold all arguments.
      const key = `GET ${request.url.slice(request.url.indexOf('/', 'https://'.length))}`;
      return answer(deps, caller, view, args, { key, code: 'invalid_parameter', isCacheable: !operation.ofNow });
    });
    return;
  }
  // An operation without columns takes only a few microseconds, so it does not need the scheduler.
  if (bodyBytesMax === undefined) {
    app.post(routerPath(path), async ({ request, account, set }) => {
      return sendNow(view, await readJson(request, { budget, account: account!.id }), context, set);
    });
    return;
  }
  app.post(routerPath(path), async ({ request, account, set }) => {
    const caller = { request, account: account!.id, set };
    // If the server reads rejected bodies to their end, the scheduler rejects a request after the body was read. A body that was read as
    // one string takes less memory than the chunks in which it arrives.
    if (!isDrained(request)) deps.scheduler.assertCapacity(caller.account);
    let counted = countBody(request, { budget, account: caller.account }, bodyBytesMax, COLUMNS_BYTES_COUNTED);
    // A body without Content-Length was counted at the maximum size, but may be small.
    const releaseIfSmall = (length: number) => {
      if (length > FREE_BYTES) return;
      counted?.release();
      counted = undefined;
    };
    try {
      if (binary && IS_BINARY.test(request.headers.get('content-type') ?? '')) {
        const units = unitsOf(queryOf(request.url));
        const bytes = await readBytes(request, bodyBytesMax);
        releaseIfSmall(bytes.byteLength);
        const send = (columns: Uint8Array) => respondCounted(budget, caller, columns, BINARY_FIELDS);
        return await compute(deps, operation, caller, binary.compute(bytes, units), send, counted?.bytes);
      }
      const bytes = new Uint8Array(await readBytes(request, bodyBytesMax));
      releaseIfSmall(bytes.length);
      const send = (columns: Uint8Array) => respondCounted(budget, caller, columns, JSON_FIELDS);
      return await compute(deps, operation, caller, writeColumns(view, bytes, context), send, counted?.bytes);
    } finally {
      counted?.release();
    }
  });
}

/** Number of bytes as which a table's body above FREE_BYTES counts at least, because the answer to a table may be longer than its body. */
const COLUMNS_BYTES_COUNTED = 512 * 1024;

function sendNow(view: View, args: unknown, context: Context, set: ResponseHead): Response {
  const { body, provenance } = runToCompletion(perform(view, args, context, 'invalid_body'));
  if (provenance) Object.assign(set.headers, provenanceHeaders(provenance));
  return respondJson(set, body);
}

const BINARY_TYPE = 'application/octet-stream';
const IS_BINARY = /^application\/octet-stream\s*(?:;|$)/i;
const BINARY_FIELDS = fieldsOf({ 'Content-Type': BINARY_TYPE });

function addToolRoute(app: HttpApp, tool: Operation, deps: OperationDeps): void {
  const { context, loaded, budget } = deps;
  app.post(`/api/v1/tools/${tool.name}`, async ({ request, account, set }) => {
    const query = queryOf(request.url);
    const view = isExtended(query) ? extendedView(tool) : plainToolView(tool);
    const caller = { request, account: account!.id, set };
    const [args, at] = [await readJson(request, { budget, account: caller.account }), query.get('at')];
    // A tool that reads no market data takes only a few microseconds, so it does not need the scheduler.
    if (!tool.ofMarket) return sendNow(view, args, context, set);
    await loaded();
    const dated = at !== null && isRecord(args) ? { ...args, at } : args;
    const ofArguments = keyOfArguments(dated);
    const key = ofArguments && `POST ${view.answers ? 'tool' : 'extended'} ${tool.name} ${ofArguments}`;
    return answer(deps, caller, view, () => dated, { key, code: 'invalid_body', isCacheable: false });
  });
}

interface Caller {
  readonly request: Request;
  readonly account: string;
  readonly set: ResponseHead;
}

/** Runs steps in the scheduler, as a job that counts for the account of the request. */
type RunSteps = <Result>(steps: Steps<Result>) => Promise<Result>;

/** Runs the steps in the scheduler and sends the result. Other requests run between the steps. `ownBytes` counts the body's bytes. */
async function compute<Result>(
  { scheduler, limiter, budget }: OperationDeps,
  { name }: Operation,
  { request, account, set }: Caller,
  steps: Steps<Result>,
  send: (result: Result, run: RunSteps) => Response | Promise<Response>,
  ownBytes = 0,
): Promise<Response> {
  let cost = 1;
  const chargeTokens = (tokens: number) => {
    cost += tokens;
    if (limiter) Object.assign(set.headers, rateLimitHeaders(limiter.policy, charge(limiter, account, tokens), cost));
  };
  const run: RunSteps = (steps) =>
    scheduler.run({
      account,
      name,
      steps,
      isPrompt: true,
      isDropped: () => request.signal.aborted,
      charge: chargeTokens,
    });
  return send(await run(withCapacity(budget, account, ownBytes, steps)), run);
}

/**
 * Runs the steps. Throws `ClientError` (429 or 503) before the first step if the byte budget is exhausted. The check ignores `ownBytes`,
 * which is the number of bytes that the budget already counts for this request.
 */
function* withCapacity<Result>(
  budget: ByteBudget,
  account: string,
  ownBytes: number,
  steps: Steps<Result>,
): Steps<Result> {
  budget.assertCapacity(account, 1 - ownBytes);
  return yield* steps;
}

function* writeColumns(view: View, bytes: Uint8Array, context: Context): Steps<Uint8Array> {
  const args = readTableArguments(view.input, bytes) ?? parseJson(decode(bytes));
  if (bytes.length > STEP_BYTES) yield { message: 'Reading the arguments' };
  const { body } = yield* perform(view, args, context, 'invalid_body');
  return (yield* writeJson(body)).bytes();
}

/** Number of bytes of JSON that the server can parse in about 5 ms. */
const STEP_BYTES = 512 * 1024;

/** Maximum number of values in an answer that is written at once, in about 3 ms. */
const VALUES_AT_ONCE = 50_000;

/** Time for which a report on the present moment is sent again, ms. The report states its moment, and changed data ends it at once. */
export const MOMENT_MS = 50;

interface AnswerRules {
  /** The key of the cached answer. Undefined if the answer is not cached. */
  readonly key: string | undefined;
  readonly code: ClientErrorCode;
  readonly isCacheable: boolean;
}

/** Sends the cached answer of a request. If there is none, computes, caches and sends the answer. `args` returns the arguments of the request. */
function answer(
  deps: OperationDeps,
  caller: Caller,
  view: View,
  args: () => unknown,
  { key, code, isCacheable }: AnswerRules,
): Response | Promise<Response> {
  const { answers, context, budget } = deps;
  const cached = key === undefined ? undefined : answers.get<CachedResponse>(key);
  // A repeat costs no further tokens, because nothing is computed.
  if (cached) return sendResponse(cached, budget, caller, true);
  const recording = answers.record(key, view.operation.ofNow && MOMENT_MS);
  return compute(deps, view.operation, caller, written(view, args(), recording.context, code), async (given, run) => {
    const body = 'picture' in given ? await pngOf(given.picture, run) : given.body;
    const response = cacheResponse(recording, { view, ...given, body }, isCacheable, context);
    return sendResponse(response, budget, caller, false);
  });
}

/** Computes an answer, and writes it as JSON text or draws it as SVG text. */
function* written(view: View, args: unknown, context: Context, code: ClientErrorCode) {
  const { body, provenance, picture, echoes, digits } = yield* perform(view, args, context, code);
  const shared = { provenance, isReplay: 'at' in echoes };
  if (picture) return { ...shared, picture };
  yield { message: 'Writing the answer' };
  // The provenance in an extended answer is written when the answer is sent.
  const { provenance: _, ...figures } = body;
  const sent = view.answers ? body : figures;
  const isShort = digits === undefined && countValues(sent) <= VALUES_AT_ONCE;
  return { ...shared, body: isShort ? JSON.stringify(sent) : (yield* writeJson(sent, digits)).toString() };
}

function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Returns the arguments in the query. A list is comma-separated or a repeated parameter. No other field accepts repeated ones. */
function queryArguments({ operation, input }: View, query: URLSearchParams): Record<string, unknown> {
  const isTaken = (name: string) => !operation.rest!.ignoresUnknown || Object.hasOwn(input.properties, name);
  const names = [...new Set(query.keys())].filter(isTaken);
  return Object.fromEntries(
    names.map((name) => {
      const schema = input.properties[name];
      const given = query.getAll(name);
      if (schema?.type === 'array')
        return [name, given.flatMap((each) => each.split(',')).map((each) => valueIn(schema.items, each))];
      return [name, given.length > 1 ? given : valueIn(schema, given[0]!)];
    }),
  );
}

/** Converts a value of the query to a number or a text, as required by the schema of the value. */
function valueIn(schema: TSchema | undefined, text: string): number | string {
  return NUMERIC.has(schema?.type) && text.trim() !== '' ? Number(text) : text;
}

const NUMERIC: ReadonlySet<unknown> = new Set(['number', 'integer']);

/** Returns the units of a binary request. Throws `ClientError` (400) if the query has another parameter or repeats `units`. */
function unitsOf(query: URLSearchParams): string | undefined {
  const [first, ...others] = [...query];
  if (others.length === 0 && (first?.[0] ?? 'units') === 'units') return first?.[1];
  throw new ClientError('invalid_parameter', 'A binary request may have only the query parameter units, once', {
    hint: 'Send ?units=raw or ?units=market, or no query.',
    fieldErrors: [{ field: '/units', expected: 'must be the only parameter, given once' }],
  });
}

function isExtended(query: URLSearchParams): boolean {
  const given = query.get('extended') ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new ClientError('invalid_parameter', 'The query parameter extended must be true or false', {
    hint: 'Send ?extended=true for the extended answer.',
    fieldErrors: [{ field: '/extended', expected: 'must be true or false' }],
  });
}
