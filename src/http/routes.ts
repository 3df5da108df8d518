import type { Access, Account } from '../access/access.ts';
import type { MemberStore } from '../access/members.ts';
import { Failure } from '../errors.ts';
import type { Context } from '../operations/operation.ts';
import { datedToolView, extendedView, type Performed, perform, restView, type View } from '../operations/perform.ts';
import { OPERATIONS, TOOLS } from '../operations/registry.ts';
import { myKey, telegramLinkage } from './account.ts';
import { readJson } from './body.ts';
import { conditional } from './conditional.ts';
import { DOCS_FILES } from './docs-page.ts';
import { createKeptAnswers, type KeptAnswers, provenanceHeaders } from './kept-answers.ts';
import type { GexStreams } from './live/gex-streams.ts';

/** A route as data: the router, the 405 answers and the OpenAPI page all read this list. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With `{parameter}` segments. */
  readonly path: string;
  /** Its answer has no end: there is no HEAD of it. */
  readonly stream?: true;
  handle(request: RouteRequest): Response | Promise<Response>;
}

export interface RouteRequest {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Undefined on public paths. */
  readonly account: Account | undefined;
}

export interface RouteParts {
  readonly context: Context;
  readonly access: Access;
  readonly members: MemberStore;
  readonly gexStreams: GexStreams;
  /** Changes with every write to what the context reads. */
  readonly version: () => string;
  /** The OpenAPI page, ready to send. */
  readonly openapi: () => Record<string, unknown>;
}

/** Every plain HTTP route; the MCP stream's two are beside them. */
export function routesOf({ context, access, members, gexStreams, version, openapi }: RouteParts): Route[] {
  return [
    { method: 'GET', path: '/health', handle: () => Response.json({ status: 'online' }) },
    { method: 'GET', path: '/openapi.json', handle: () => Response.json(openapi()) },
    ...docsRoutes(),
    { method: 'GET', path: '/api/v1/auth/my-key', handle: ({ query }) => Response.json(myKey(query, access)) },
    {
      method: 'GET',
      path: '/api/v1/auth/telegram-status',
      handle: ({ query }) => Response.json(telegramLinkage(query, members)),
    },
    {
      method: 'GET',
      path: '/api/v1/stream/gex/{ticker}',
      stream: true,
      handle: ({ request: { headers }, params, query, account }) =>
        gexStreams.open({ account: account!, headers, tickers: params.ticker!, query }),
    },
    ...operationRoutes(context, createKeptAnswers(version, context.nowMs)),
    ...toolRoutes(context),
  ];
}

function docsRoutes(): Route[] {
  return Object.entries(DOCS_FILES).map(([path, file]) => ({
    method: 'GET',
    path,
    handle: ({ request }) => conditional(request, file),
  }));
}

/** The operations' own routes: arguments from the path on GET, from the body on POST. */
function operationRoutes(context: Context, answers: KeptAnswers): Route[] {
  return OPERATIONS.flatMap((operation): Route[] => {
    if (!operation.rest) return [];
    const { method, path, bodyBytesMax } = operation.rest;
    const view = restView(operation);
    return [
      {
        method,
        path,
        handle:
          method === 'POST'
            ? async ({ request }) =>
                answer(perform(view, await readJson(request, bodyBytesMax), context, 'invalid_body'))
            : ({ request, params, query }) => {
                const given = () => ({ ...queryArguments(view, path, query), ...params });
                const performed = () => perform(view, given(), context, 'invalid_parameter');
                return operation.ofNow ? answer(performed()) : conditional(request, answers.of(request.url, performed));
              },
      },
    ];
  });
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

/** Every tool over plain HTTP, in its default or its extended form. */
function toolRoutes(context: Context): Route[] {
  return TOOLS.map((tool) => ({
    method: 'POST',
    path: `/api/v1/tools/${tool.name}`,
    handle: async ({ request, query }) => {
      const view = isExtended(query) ? extendedView(tool) : datedToolView(tool);
      const [args, at] = [await readJson(request), query.get('at')];
      const asked = at !== null && tool.ofMarket && isRecord(args) ? { ...args, at } : args;
      return answer(perform(view, asked, context, 'invalid_body'));
    },
  }));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isExtended(query: URLSearchParams): boolean {
  const given = query.get('extended') ?? 'false';
  if (given === 'true' || given === 'false') return given === 'true';
  throw new Failure('invalid_parameter', 'The query parameter extended must be true or false', {
    hint: 'Send ?extended=true for the extended answer.',
    faults: [{ field: '/extended', expected: 'must be true or false' }],
  });
}

function answer({ body, provenance }: Performed): Response {
  return Response.json(body, provenance && { headers: provenanceHeaders(provenance) });
}
