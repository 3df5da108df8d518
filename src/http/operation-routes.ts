import type { TProperties, TSchema } from '@sinclair/typebox';
import type { Account } from '../access/access.ts';
import type { ByteBudget } from '../access/byte-budget.ts';
import { charge, rateLimitHeaders } from '../access/rate-limit.ts';
import { ClientError, type ClientErrorCode, invalidArgument } from '../core/errors.ts';
import { isRecord } from '../core/json-shape.ts';
import { runToCompletion, type Steps } from '../core/steps.ts';
import { keyOfArguments } from '../operations/engine/answer-cache.ts';
import { type AnswerTable, selectFields, tableOf } from '../operations/engine/answer-tables.ts';
import { contextAt } from '../operations/engine/moment.ts';
import { type BinaryForm, type Context, type Operation, pickFields } from '../operations/engine/operation.ts';
import {
  extendedView,
  perform,
  plainToolView,
  routeView,
  TABLE_FORMATS,
  type TableFormat,
  type View,
} from '../operations/engine/perform.ts';
import { objectOf } from '../operations/engine/schemas.ts';
import { readTableArguments } from '../operations/engine/table-arguments.ts';
import { validate } from '../operations/engine/validate.ts';
import { OPERATIONS, TOOLS } from '../operations/registry.ts';
import { pngOf } from '../picture/render-png.ts';
import { type AnswerFormat, acceptedFormat, contentType, formatsOf, notOffered } from './answer-format.ts';
import { countBody, decode, FREE_BYTES, isDrained, parseJson, readBytes, readJson } from './body.ts';
import { type CachedResponse, cacheResponse, isSendable, provenanceHeaders, sendResponse } from './cached-response.ts';
import { respondCompressed } from './compressed-response.ts';
import { respondCounted } from './counted-response.ts';
import { fieldsOf, type HttpApp, onlyValue, type ResponseHead, respondJson, strictQuery } from './http-app.ts';
import type { HttpDeps } from './http-deps.ts';
import { countValues, writeJson } from './json-text.ts';
import { writeColumnsJson, writeCsv } from './table-text.ts';

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
  const view = routeView(operation);
  const formats = formatsOf(view);
  if (method === 'GET') {
    const handle =
      (formatFor: (request: Request) => AnswerFormat | undefined, taken: readonly string[]) =>
      async ({ request, params, account, set }: RouteContext) => {
        const loading = operation.ofMarket && loaded();
        if (loading) await loading;
        const caller = { request, account: account!.id, set };
        const accepted = formatFor(request);
        const isPicture = accepted === 'image' || NAMED_FORMAT.exec(request.url)?.[1] === 'image';
        const args = () => ({
          ...(accepted === 'image' && { format: accepted }),
          ...queryArguments(
            view,
            strictQuery(request.url, isPicture ? taken.filter((name) => !SELECTING.includes(name)) : taken),
          ),
          ...(params as object),
        });
        // The path and the query as the client has sent them hold all arguments. Only the format may come from a header field.
        const key = `GET ${accepted ?? ''} ${request.url.slice(request.url.indexOf('/', 'https://'.length))}`;
        const rules = { key, code: 'invalid_parameter', isCacheable: !operation.ofNow, accepted } as const;
        return answer(deps, caller, view, args, rules);
      };
    app.get(
      routerPath(path),
      handle((request) => acceptedBy(request, formats), queryNames(view)),
    );
    // The path of a picture has one kind of answer, so `Accept` is not read: some generated clients always ask for JSON.
    if (operation.picture)
      app.get(
        routerPath(picturePath(path)),
        handle(() => 'image', pictureNames(view)),
      );
    return;
  }
  // An operation without columns takes only a few microseconds, so it does not need the scheduler.
  if (bodyBytesMax === undefined) {
    app.post(routerPath(path), async ({ request, account, set }) => {
      strictQuery(request.url);
      acceptedFormat(request.headers.get('accept'), ['json']);
      return sendNow(view, await readJson(request, { budget, account: account!.id }), context, set);
    });
    return;
  }
  const handle = async ({ request, account, set }: Omit<RouteContext, 'params'>) => {
    const isBinary = binary !== undefined && hasColumns(request);
    const query = strictQuery(request.url, isBinary ? binary.parameters : ['format'], IN_BODY);
    if (isBinary && !IS_BINARY_PATH.test(request.url)) acceptedFormat(request.headers.get('accept'), ['binary']);
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
      if (isBinary) {
        const options = binaryOptions(view, binary, query);
        const bytes = await readBytes(request, bodyBytesMax);
        releaseIfSmall(bytes.byteLength);
        const send = (columns: Uint8Array) => respondCounted(budget, caller, columns, BINARY_FIELDS);
        return await compute(deps, operation, caller, binary.compute(bytes, options), send, counted?.bytes);
      }
      const format = namedFormat(query, formats) ?? acceptedFormat(request.headers.get('accept'), formats);
      const bytes = new Uint8Array(await readBytes(request, bodyBytesMax));
      releaseIfSmall(bytes.length);
      const send = async (written: Uint8Array | string | AnswerTable, run: RunSteps) =>
        respondCompressed(
          budget,
          caller,
          await bodyOf(written, format, run),
          fieldsOf({ 'Content-Type': contentType(format) }),
        );
      const steps = writeColumns(view, bytes, context, format);
      return await compute(deps, operation, caller, steps, send, counted?.bytes);
    } finally {
      counted?.release();
    }
  };
  app.post(routerPath(path), handle);
  if (binary) app.post(routerPath(binaryPath(path)), handle);
}

/** The parts of a request that a route reads. */
interface RouteContext {
  readonly request: Request;
  readonly params: unknown;
  readonly account: Account | undefined;
  readonly set: ResponseHead;
}

/** Number of bytes as which a table's body above FREE_BYTES counts at least, because the answer to a table may be longer than its body. */
const COLUMNS_BYTES_COUNTED = 512 * 1024;

function sendNow(view: View, args: unknown, context: Context, set: ResponseHead): Response {
  const { body, provenance } = runToCompletion(perform(view, args, context, 'invalid_body'));
  if (provenance) Object.assign(set.headers, provenanceHeaders(provenance));
  return respondJson(set, body);
}

const IN_BODY = 'Send the arguments as fields of the body.';

const BINARY_TYPE = 'application/octet-stream';
const IS_BINARY = /^application\/octet-stream\s*(?:;|$)/i;
const IS_BINARY_PATH = /^[^?]*\.f64(?:\?|$)/;

/** Returns whether the body has binary columns: by its type, or because every body at the path has them. */
function hasColumns({ url, headers }: Request): boolean {
  return IS_BINARY.test(headers.get('content-type') ?? '') || IS_BINARY_PATH.test(url);
}

const BINARY_FIELDS = fieldsOf({ 'Content-Type': BINARY_TYPE });

function addToolRoute(app: HttpApp, tool: Operation, deps: OperationDeps): void {
  const { context, loaded, budget } = deps;
  app.post(`/api/v1/tools/${tool.name}`, async ({ request, account, set }) => {
    const query = strictQuery(request.url, tool.ofMarket ? ['extended', 'at'] : ['extended']);
    const view = isExtended(query) ? extendedView(tool) : plainToolView(tool);
    const caller = { request, account: account!.id, set };
    const accepted = acceptedFormat(request.headers.get('accept'), tool.picture ? ['json', 'image'] : ['json']);
    const [args, at] = [await readJson(request, { budget, account: caller.account }), onlyValue(query, 'at')];
    // A tool that reads no market data takes only a few microseconds, so it does not need the scheduler.
    if (!tool.ofMarket) return sendNow(view, args, context, set);
    await loaded();
    if (at !== null) contextAt(context, at);
    if (at !== null && isRecord(args) && 'at' in args)
      throw invalidArgument('/at', 'must be in the query or among the arguments, not in both');
    const wished = isRecord(args) && accepted === 'image' ? { format: accepted, ...args } : args;
    const dated = at !== null && isRecord(wished) ? { ...wished, at } : wished;
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
    const decision = limiter && charge(limiter, account, tokens, { paid: cost });
    cost += tokens;
    if (decision) Object.assign(set.headers, rateLimitHeaders(limiter.policy, decision, cost));
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

function* writeColumns(view: View, bytes: Uint8Array, context: Context, format: AnswerFormat) {
  const args = readTableArguments(view.input, bytes) ?? parseJson(decode(bytes));
  if (bytes.length > STEP_BYTES) yield { message: 'Reading the arguments' };
  const { body } = yield* perform(view, args, context, 'invalid_body');
  if (format === 'json') return (yield* writeJson(body)).bytes();
  return yield* writeTable(format, tableOf(view.output, body, undefined));
}

/** Writes a table as text. Returns the table unchanged if the format is a file, which a library writes (see `bodyOf`). */
function* writeTable(format: AnswerFormat, table: AnswerTable, digits?: number): Steps<string | AnswerTable> {
  yield { message: 'Writing the table' };
  if (format === 'csv') return yield* writeCsv(table, digits);
  return format === 'columns' ? yield* writeColumnsJson(table, digits) : table;
}

/** Returns the body of an answer. Writes a table as a file. The first file loads the libraries. */
async function bodyOf<Body extends string | Uint8Array>(
  written: Body | AnswerTable,
  format: AnswerFormat,
  run: RunSteps,
) {
  if (typeof written === 'string' || written instanceof Uint8Array) return written;
  const { writeArrow, writeParquet } = await import('./table-files.ts');
  return run(format === 'arrow' ? writeArrow(written) : writeParquet(written));
}

/**
 * Returns the offered format that `Accept` prefers. Returns undefined if the query names a format, because the query takes precedence. Throws
 * `ClientError` (406) if the route does not offer the format.
 */
function acceptedBy({ url, headers }: Request, offered: readonly AnswerFormat[]): AnswerFormat | undefined {
  const [, named] = NAMED_FORMAT.exec(url) ?? [];
  if (named === undefined) return acceptedFormat(headers.get('accept'), offered);
  if (TABLE_FORMATS.some((each) => each === named && !offered.includes(each))) throw notOffered(offered);
  return undefined;
}

/**
 * Returns the format that the query of a route of columns names, if any. Throws `ClientError`: 406 if the route does not offer the format,
 * and 400 for any other text.
 */
function namedFormat(query: URLSearchParams, offered: readonly AnswerFormat[]): AnswerFormat | undefined {
  const named = onlyValue(query, 'format');
  const format = offered.find((each) => each === named);
  if (named !== null && format === undefined) throw invalidArgument('/format', `must be one of ${offered.join(', ')}`);
  return format;
}

const NAMED_FORMAT = /[?&]format=([^&#]*)/;

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
  /** The format that the header field `Accept` prefers. Undefined if the arguments name the format. */
  readonly accepted?: AnswerFormat | undefined;
}

/** Sends the cached answer of a request. If there is none, computes, caches and sends the answer. `args` returns the arguments of the request. */
function answer(
  deps: OperationDeps,
  caller: Caller,
  view: View,
  args: () => unknown,
  { key, code, isCacheable, accepted }: AnswerRules,
): Response | Promise<Response> {
  const { answers, context, budget } = deps;
  const cached = key === undefined ? undefined : answers.get<CachedResponse>(key);
  // A repeat costs no further tokens, because nothing is computed.
  if (cached && isSendable(cached, caller.request)) return sendResponse(cached, budget, caller, true);
  const recording = answers.record(key, view.operation.ofNow && MOMENT_MS);
  const given = args();
  const format = tableFormatIn(given) ?? accepted ?? 'json';
  const steps = written(view, given, recording.context, code, format);
  return compute(deps, view.operation, caller, steps, async (given, run) => {
    const isPicture = 'picture' in given;
    const body = isPicture ? await pngOf(given.picture, run) : await bodyOf(given.body, format, run);
    const type = contentType(isPicture ? 'image' : format);
    const response = cacheResponse(recording, { view, ...given, body, type }, isCacheable, context);
    return sendResponse(response, budget, caller, false);
  });
}

function tableFormatIn(args: unknown): TableFormat | undefined {
  return TABLE_FORMATS.find((each) => isRecord(args) && args.format === each);
}

/** Computes an answer, and writes it as text, takes a table from it, or draws it as SVG text. */
function* written(view: View, args: unknown, context: Context, code: ClientErrorCode, format: AnswerFormat) {
  const { body, options, provenance, picture, echoes, digits, selection } = yield* perform(view, args, context, code);
  const shared = { provenance, isReplay: 'at' in echoes };
  if (picture) return { ...shared, picture };
  if (format !== 'json') {
    // The answers of the API contract do not state the options of the request, but a file of a table must.
    const table = tableOf(view.output, { ...body, ...(options && { options }) }, provenance, selection);
    return { ...shared, notes: table.notes, body: yield* writeTable(format, table, digits) };
  }
  yield { message: 'Writing the answer' };
  // The provenance in an extended answer is written when the answer is sent.
  const { provenance: _, ...figures } = body;
  const sent = view.answers ? selectFields(body, view.output, selection) : figures;
  const isShort = digits === undefined && countValues(sent) <= VALUES_AT_ONCE;
  return { ...shared, body: isShort ? JSON.stringify(sent) : (yield* writeJson(sent, digits)).toString() };
}

/** Returns the names of the arguments that a GET route takes from the query. */
export function queryNames({ operation, input }: View): string[] {
  return Object.keys(input.properties).filter((name) => !operation.rest!.path.includes(`{${name}}`));
}

/** Returns the names of the arguments that the route of a picture takes from the query: none that choose a format or select from the answer. */
export function pictureNames(view: View): string[] {
  return queryNames(view).filter((name) => name !== 'format' && !SELECTING.includes(name));
}

/** The arguments that select from an answer, which a picture does not have. */
const SELECTING = ['table', 'fields', 'digits'];

/** Returns the path of the picture of an operation's answer. */
export function picturePath(path: string): string {
  return `${path}.png`;
}

/** Returns the path where every body has binary columns of an operation. Its JSON route takes them too, by the type of the body. */
export function binaryPath(path: string): string {
  return `${path}.f64`;
}

function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Returns the arguments in the query. A list is comma-separated or a repeated parameter. No other field accepts repeated ones. */
function queryArguments({ input }: View, query: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(query.keys())].map((name) => {
      const schema = input.properties[name];
      const given = query.getAll(name);
      if (schema?.type === 'array')
        return [name, given.flatMap((each) => each.split(',')).map((each) => valueIn(schema.items, each))];
      if (given.length > 1) throw invalidArgument(`/${name}`, 'must be given once');
      return [name, valueIn(schema, given[0]!)];
    }),
  );
}

/** Converts a value of the query to a number or a text, as required by the schema of the value. */
function valueIn(schema: TSchema | undefined, text: string): number | string {
  return NUMERIC.has(schema?.type) && DECIMAL.test(text) ? Number(text) : text;
}

/** Matches a decimal number. `Number` also reads other forms, such as `0x10`, whose meaning a caller may not expect. */
const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;

const NUMERIC: ReadonlySet<unknown> = new Set(['number', 'integer']);

/** Returns the arguments in the query of a binary request. Throws `ClientError` (400) if one is repeated or not valid. */
function binaryOptions({ input }: View, { parameters }: BinaryForm, query: URLSearchParams): Record<string, unknown> {
  for (const name of parameters) onlyValue(query, name);
  const schema = objectOf(pickFields(input.properties, parameters) as TProperties);
  return validate(schema, Object.fromEntries(query), 'invalid_parameter');
}

function isExtended(query: URLSearchParams): boolean {
  const given = onlyValue(query, 'extended') ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new ClientError('invalid_parameter', 'The query parameter extended must be true or false', {
    hint: 'Send ?extended=true for the extended answer.',
    fieldErrors: [{ field: '/extended', expected: 'must be true or false' }],
  });
}
