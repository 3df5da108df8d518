import type { ReadResourceResult, ResourceTemplateType } from '@modelcontextprotocol/server';
import { cleaned, cleanLine } from '../core/clean-text.ts';
import { ClientError, invalidArgument } from '../core/errors.ts';
import { nearestNames } from '../core/nearest-names.ts';
import type { Steps } from '../core/steps.ts';
import { isTicker } from '../market/option-symbol.ts';
import type { Context, Operation } from '../operations/engine/operation.ts';
import { perform, restView } from '../operations/engine/perform.ts';
import { TICKER_MAX } from '../operations/engine/shared-fields.ts';
import { SIMULATED_NOTE } from '../operations/reading/market-reading.ts';
import { REGISTRY } from '../operations/registry.ts';
import { INVALID_PARAMS, McpError, UnknownResource } from './protocol-errors.ts';
import { RESOURCE_METHODS } from './resource-methods.ts';
import { fittingCount } from './resource-pages.ts';
import { sixDigits } from './six-digits.ts';
import { readTickerResource, TICKER_RESOURCES, type TickerResource } from './ticker-resources.ts';
import { ageInWords } from './tool-answer.ts';
import { METHODS, METHODS_OVERVIEW } from './tool-methods.ts';

/** The description of a resource in `resources/list` and in the links of an answer. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

export interface ResourcePage {
  readonly resources: ListedResource[];
  /** Cursor of the next page. Absent for the last page. */
  readonly nextCursor?: string;
}

/** The resources that clients can read. */
export interface Resources {
  readonly templates: ResourceTemplateType[];
  /** Returns a page of the list: fixed resources, and the levels of every ticker with a chain. Throws `McpError` for a bad cursor. */
  list(context: Context, cursor?: string): ResourcePage;
  /** Reads a resource. Throws `UnknownResource` if no resource has the URI, or if the resource's operation throws `ClientError`. */
  read(uri: string, context: Context): Steps<ReadResourceResult>;
  /** Returns the canonical form of a URI, as used in notifications. Throws `UnknownResource` if no resource can have this URI. */
  canonical(uri: string, context: Context): string;
}

/** The media type of the resources that are data. */
export const RESOURCE_JSON_TYPE = 'application/json';

const MARKDOWN_TYPE = 'text/markdown';

const METHODS_OF_TOOL = {
  uriTemplate: 'zomma://methods/{tool}',
  name: 'methods-of-tool',
  title: 'Methods of a tool or a resource',
  description:
    'What each figure of a tool means, its unit and sign, how it is computed, and its limits. For a resource such as flow: its fields.',
  mimeType: MARKDOWN_TYPE,
};

/** The fixed resources, the methods of every tool, and the resources of every ticker with a chain. */
export const RESOURCES: Resources = {
  templates: [
    ...Object.values(TICKER_RESOURCES).map(({ uriTemplate, name, title, description }) => ({
      ...{ uriTemplate, name, title, description, mimeType: RESOURCE_JSON_TYPE },
    })),
    METHODS_OF_TOOL,
  ],
  list: listResources,
  read: readResource,
  canonical: canonicalUri,
};

const FIXED: readonly ListedResource[] = [
  {
    uri: 'zomma://universe',
    name: 'universe',
    title: REGISTRY.get_target_universe.title,
    description: 'The tickers by theme, which of them have data, and how old it is.',
    mimeType: RESOURCE_JSON_TYPE,
  },
  {
    uri: 'zomma://methods',
    name: 'methods',
    title: 'Methods',
    description: 'Conventions of all figures, and where the methods of each tool are.',
    mimeType: MARKDOWN_TYPE,
  },
];

/** Number of resources on a page. A full page takes about 25 KB. */
const RESOURCES_PER_PAGE = 100;

/** Returns a page. Its cursor is its first ticker, so pages skip or repeat none if tickers are added or removed between requests. */
function listResources({ market }: Context, cursor?: string): ResourcePage {
  if (cursor !== undefined && !isTicker(cursor)) {
    throw new McpError(INVALID_PARAMS, 'Invalid params: cursor must be the nextCursor of a page');
  }
  const fixed = cursor === undefined ? FIXED : [];
  const room = RESOURCES_PER_PAGE - fixed.length;
  const tickers = market.tickersWithChain(cursor, room + 1);
  const resources = [...fixed, ...tickers.slice(0, room).map((ticker) => linkTo('levels', ticker))];
  const next = tickers[room];
  return next === undefined ? { resources } : { resources, nextCursor: next };
}

/** Returns the URI of a ticker's levels. Notifications of new levels contain this URI. */
export function levelsUri(ticker: string): string {
  return TICKER_RESOURCES.levels.uriTemplate.replace('{ticker}', encodeURIComponent(ticker));
}

/** Returns links to the full columns of a tool's summary of a ticker. None for a past time: columns are of the newest snapshot. */
export function columnResourcesOf(
  tool: Operation,
  args: unknown,
  { market }: Context,
): { uri: string; name: string }[] {
  const { ticker, expiry, at } = args as { ticker?: unknown; expiry?: unknown; at?: unknown };
  if (!SUMMARISES.has(tool.name) || typeof ticker !== 'string' || at !== undefined) return [];
  const links = [
    linkTo('profile', market.nameOf(ticker)),
    linkTo('strikes', market.nameOf(ticker), String(expiry ?? 'all')),
  ];
  return links.map(({ uri, name }) => ({ uri, name }));
}

const SUMMARISES: ReadonlySet<string> = new Set(['get_live_gex_nodes', 'run_strategic_omni_radar']);

function linkTo(which: keyof typeof TICKER_RESOURCES, ticker: string, expiry = 'all'): ListedResource {
  const { uriTemplate, name, title, description } = TICKER_RESOURCES[which];
  return {
    uri: uriTemplate.replace('{ticker}', encodeURIComponent(ticker)).replace('{expiry}', expiry),
    name: `${name}-${ticker}`,
    title: `${title} of ${ticker}`,
    description,
    mimeType: RESOURCE_JSON_TYPE,
  };
}

function* readResource(uri: string, context: Context): Steps<ReadResourceResult> {
  const text = methodsAt(uri);
  if (text !== undefined) return { contents: [{ uri, mimeType: MARKDOWN_TYPE, text }] };
  try {
    const content = yield* contentOf(uri, context);
    if (content === undefined) throw notFound(uri, ...NO_RESOURCE);
    return { contents: [{ uri, mimeType: RESOURCE_JSON_TYPE, text: JSON.stringify(sixDigits(cleaned(content))) }] };
  } catch (error) {
    if (error instanceof ClientError) throw notFound(uri, error.message, error.hint);
    throw error;
  }
}

/** Returns the methods at a URI. Throws `UnknownResource` for the URI of an unknown tool. */
function methodsAt(uri: string): string | undefined {
  if (uri === 'zomma://methods') return METHODS_OVERVIEW;
  const [, tool] = /^zomma:\/\/methods\/(.*)$/s.exec(uri) ?? [];
  if (tool === undefined) return undefined;
  const text = METHODS.get(tool) ?? RESOURCE_METHODS.get(tool)?.();
  if (text !== undefined) return text;
  const names = [...METHODS.keys(), ...RESOURCE_METHODS.keys()];
  const nearest = nearestNames(tool, names).map((name) => `zomma://methods/${name}`);
  throw notFound(uri, 'No tool or resource has this name', `Nearest: ${nearest.join(', ')}.`);
}

function* contentOf(uri: string, context: Context): Steps<Record<string, unknown> | undefined> {
  const [, ofUniverse, cursor] = /^(zomma:\/\/universe)(?:\?cursor=(\S{1,40}))?$/.exec(uri) ?? [];
  if (ofUniverse) return yield* universeWithAges(context, cursor);
  const parts = partsOf(uri);
  return parts && (yield* readTickerResource(uri, parts, context));
}

/** Returns a page of the universe in the format of REST, with ages, and with tickers that have data outside the universe. */
function* universeWithAges(context: Context, cursor?: string): Steps<Record<string, unknown>> {
  const { body } = yield* perform(
    restView(REGISTRY.get_target_universe as unknown as Operation),
    {},
    context,
    'invalid_parameter',
  );
  const { market, universe, nowMs } = context;
  const now = nowMs();
  const ages = new Map(
    market.tickersWithChain().map((ticker) => {
      const age = now - (market.quotedAt(ticker) ?? now);
      return [ticker, ageInWords(Math.max(0, Math.round(age / 1_000)))] as const;
    }),
  );
  const tickers = [...new Set([...universe.tickers, ...ages.keys()])];
  const from = cursor === undefined ? 0 : tickers.indexOf(cursor);
  if (from < 0) throw invalidArgument('/cursor', 'must be a ticker of the universe');
  const build = (count: number) => {
    const onPage = new Set(tickers.slice(from, from + count));
    const next = tickers[from + count];
    const themes = Object.entries(body.macro_themes as Record<string, string[]>).map(
      ([theme, names]) => [theme, names.filter((name) => onPage.has(name))] as const,
    );
    return {
      ...body,
      macro_themes: Object.fromEntries(themes.filter(([, names]) => names.length > 0)),
      age_of_data: Object.fromEntries([...ages].filter(([name]) => onPage.has(name))),
      without_data: [...universe.tickers].filter((name) => onPage.has(name) && !ages.has(name)),
      // total_tracked does not count these tickers.
      outside_universe: [...ages.keys()].filter((name) => onPage.has(name) && !universe.tickers.has(name)),
      ...(market.isSimulated && { notes: [SIMULATED_NOTE] }),
      ...(next && { page: { rows: onPage.size, of: tickers.length, next: `zomma://universe?cursor=${next}` } }),
    };
  };
  return build(fittingCount(tickers.length - from, build));
}

const GEX_URI =
  /^zomma:\/\/gex\/(?<name>[^/\s?]{1,40})(?:\/(?<which>[a-z]{1,10})(?:(?<=strikes|interest|quotes)\/(?<expiry>[\w:-]{1,10}))?)?(?:\?(?<query>\S{0,400}))?$/;

function partsOf(uri: string): TickerResource | undefined {
  const { name, which = 'levels', expiry, query = '' } = GEX_URI.exec(uri)?.groups ?? {};
  if (name === undefined || !Object.hasOwn(TICKER_RESOURCES, which)) return undefined;
  try {
    const ticker = decodeURIComponent(name).normalize('NFKC');
    return ticker.length > TICKER_MAX ? undefined : { ticker, which: which as TickerResource['which'], expiry, query };
  } catch {
    // The URI has an invalid percent escape.
    return undefined;
  }
}

/** Returns the canonical form of a URI, without the query. Clients can subscribe to a ticker before its first chain. */
function canonicalUri(uri: string, { market }: Context): string {
  if (FIXED.some((each) => each.uri === uri) || methodsAt(uri) !== undefined) return uri;
  const parts = partsOf(uri);
  if (parts === undefined) throw notFound(uri, ...NO_RESOURCE);
  const segments = [parts.which === 'levels' ? undefined : parts.which, parts.expiry].filter(
    (each) => each !== undefined,
  );
  return [levelsUri(market.nameOf(parts.ticker)), ...segments].join('/');
}

const NO_RESOURCE = [
  'There is no such resource',
  `Resources: zomma://universe, zomma://methods, zomma://methods/{tool}, ${Object.values(TICKER_RESOURCES)
    .map(({ uriTemplate }) => uriTemplate)
    .join(', ')}.`,
] as const;

function notFound(uri: string, message: string, hint: string | undefined): UnknownResource {
  return new UnknownResource(cleanLine(uri), cleaned(hint ? `${message}. ${hint}` : message));
}
