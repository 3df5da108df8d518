import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { cleaned, cleanLine } from '../core/clean-text.ts';
import { ClientError, invalidField } from '../core/errors.ts';
import { nearestNames } from '../core/nearest-names.ts';
import type { Steps } from '../core/steps.ts';
import { isDate } from '../market/calendar.ts';
import { isTicker } from '../market/option-symbol.ts';
import type { Context, Operation } from '../operations/engine/operation.ts';
import { extendedView, perform, restView } from '../operations/engine/perform.ts';
import { TICKER_MAX } from '../operations/engine/shared-fields.ts';
import { REGISTRY } from '../operations/registry.ts';
import { shortenColumns, shortenDays, shortenMatrix } from './short-columns.ts';
import { sixDigits } from './six-digits.ts';
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
  /** Returns a page of the list: fixed resources, and the levels of every ticker with a chain. Throws `ProtocolError` for a bad cursor. */
  list(context: Context, cursor?: string): ResourcePage;
  /** Reads a resource. Throws `ResourceNotFoundError` if no resource has the URI, or if the resource's operation throws `ClientError`. */
  read(uri: string, context: Context): Steps<ReadResourceResult>;
  /** Returns the canonical form of a URI, as used in notifications. Throws `ResourceNotFoundError` if no resource can have this URI. */
  canonical(uri: string, context: Context): string;
}

const OPERATION = REGISTRY as unknown as Readonly<Record<keyof typeof REGISTRY, Operation>>;

const JSON_TYPE = 'application/json';

/** The resources of a ticker, with their operations: the levels, a summary of the chain, and shortened answers. */
export const TICKER_RESOURCES = {
  levels: {
    operation: 'get_live_gex_nodes',
    uriTemplate: 'zomma://gex/{ticker}',
    name: 'gex',
    title: 'Latest levels',
    description: 'GEX levels of the newest snapshot, a summary of its chain, and its age.',
  },
  profile: {
    operation: 'get_gex_profile',
    uriTemplate: 'zomma://gex/{ticker}/profile',
    name: 'gex-profile',
    title: 'Gamma profile',
    description: 'Net dealer gamma at each spot level: the 450 rows nearest spot.',
  },
  strikes: {
    operation: 'get_gex_by_strike',
    uriTemplate: 'zomma://gex/{ticker}/strikes/{expiry}',
    name: 'gex-strikes',
    title: 'GEX by strike',
    description: 'Dealer exposures at each strike of an expiry (YYYY-MM-DD, 0dte or all): the 450 rows nearest spot.',
  },
  matrix: {
    operation: 'get_gex_matrix',
    uriTemplate: 'zomma://gex/{ticker}/matrix',
    name: 'gex-matrix',
    title: 'GEX by strike and expiry',
    description: 'Net gamma of each series at each strike near spot: the next 20 series, 2,500 values.',
  },
  record: {
    operation: 'get_level_record',
    uriTemplate: 'zomma://gex/{ticker}/record',
    name: 'gex-record',
    title: 'Whether levels held',
    description:
      'On how many days of a year walls and flip held, compared with levels at the same distance, and the last 60 days.',
  },
} as const;

const MARKDOWN_TYPE = 'text/markdown';

const METHODS_OF_TOOL = {
  uriTemplate: 'zomma://methods/{tool}',
  name: 'methods-of-tool',
  title: 'Methods of a tool',
  description: 'What each figure of a tool means, its unit and sign, how it is computed, and its limits.',
  mimeType: MARKDOWN_TYPE,
};

/** The fixed resources, the methods of every tool, and the resources of every ticker with a chain. */
export const RESOURCES: Resources = {
  templates: [
    ...Object.values(TICKER_RESOURCES).map(({ operation: _, ...each }) => ({ ...each, mimeType: JSON_TYPE })),
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
    title: OPERATION.get_target_universe.title,
    description: 'The tickers by theme, which of them have data, and how old it is.',
    mimeType: JSON_TYPE,
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

/**
 * Returns a page of the list of resources. The cursor of a page is the first ticker of the page. Pages therefore do not skip or repeat a
 * ticker if another ticker is added or removed between two requests.
 */
function listResources({ market }: Context, cursor?: string): ResourcePage {
  if (cursor !== undefined && !isTicker(cursor)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid params: cursor must be the nextCursor of a page');
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

/**
 * Returns links to the full columns if a tool's answer about a ticker is a summary of them. Returns no links for any other answer, or for a
 * past time, because the columns are from the newest snapshot.
 */
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
    mimeType: JSON_TYPE,
  };
}

function* readResource(uri: string, context: Context): Steps<ReadResourceResult> {
  const text = methodsAt(uri);
  if (text !== undefined) return { contents: [{ uri, mimeType: MARKDOWN_TYPE, text }] };
  try {
    const content = yield* contentOf(uri, context);
    if (content === undefined) throw notFound(uri, ...NO_RESOURCE);
    return { contents: [{ uri, mimeType: JSON_TYPE, text: JSON.stringify(sixDigits(cleaned(content))) }] };
  } catch (error) {
    if (error instanceof ClientError) throw notFound(uri, error.message, error.hint);
    throw error;
  }
}

/** Returns the methods at a URI. Throws `ResourceNotFoundError` for the URI of an unknown tool. */
function methodsAt(uri: string): string | undefined {
  if (uri === 'zomma://methods') return METHODS_OVERVIEW;
  const [, tool] = /^zomma:\/\/methods\/(.*)$/s.exec(uri) ?? [];
  if (tool === undefined) return undefined;
  const text = METHODS.get(tool);
  if (text !== undefined) return text;
  const nearest = nearestNames(tool, [...METHODS.keys()]).map((name) => `zomma://methods/${name}`);
  throw notFound(uri, 'No tool has this name', `Nearest: ${nearest.join(', ')}.`);
}

function* contentOf(uri: string, context: Context): Steps<Record<string, unknown> | undefined> {
  if (uri === 'zomma://universe') return yield* universeWithAges(context);
  const { ticker, columns, expiry } = partsOf(uri) ?? {};
  if (ticker === undefined) return undefined;
  if (columns === undefined) return yield* levelsOf({ ticker }, context);
  // The validation would name the arguments of the REST route.
  if (expiry !== undefined && !EXPIRY.test(expiry) && !isDate(expiry)) {
    const hint = 'get_option_quotes with only ticker lists the expiries.';
    throw invalidField('invalid_parameter', '/expiry', 'must be a date YYYY-MM-DD, 0dte or all', hint);
  }
  const view = extendedView(OPERATION[TICKER_RESOURCES[columns].operation]);
  const args = { ticker, ...(expiry && { expiries: expiry }) };
  return SHORTENED[columns]((yield* perform(view, args, context, 'invalid_parameter')).body);
}

/** Returns the universe in the format of the REST API, with the age of each ticker's newest data and a list of the tickers without data. */
function* universeWithAges(context: Context): Steps<Record<string, unknown>> {
  const { body } = yield* perform(restView(OPERATION.get_target_universe), {}, context, 'invalid_parameter');
  const { market, universe, nowMs } = context;
  const now = nowMs();
  const ages = market.tickersWithChain().map((ticker) => {
    const age = now - (market.quotedAt(ticker) ?? now);
    return [ticker, ageInWords(Math.max(0, Math.round(age / 1_000)))] as const;
  });
  const withData = new Set(ages.map(([ticker]) => ticker));
  return {
    ...body,
    age_of_data: Object.fromEntries(ages),
    without_data: [...universe.tickers].filter((ticker) => !withData.has(ticker)),
  };
}

/** The functions that shorten longer answers. The key is the URI segment that names the answer. */
const SHORTENED = {
  profile: shortenColumns,
  strikes: shortenColumns,
  matrix: shortenMatrix,
  record: shortenDays,
} as const;

const GEX_URI =
  /^zomma:\/\/gex\/(?<name>[^/\s]{1,40})(?:\/(?<columns>profile|strikes|matrix|record)(?:(?<=strikes)\/(?<expiry>[\w:-]{1,10}))?)?$/;

/** Matches the expiries in a URI that are no date. */
const EXPIRY = /^(?:all|0dte|next:\d{1,4})$/;

/** The components of a URI for a ticker's resource. If the URI of `strikes` has no expiry, the answer contains all expiries. */
interface GexUri {
  /** The ticker as the client wrote it. */
  readonly ticker: string;
  readonly columns: keyof typeof SHORTENED | undefined;
  readonly expiry: string | undefined;
}

function partsOf(uri: string): GexUri | undefined {
  const { name, columns, expiry } = GEX_URI.exec(uri)?.groups ?? {};
  if (name === undefined) return undefined;
  try {
    const ticker = decodeURIComponent(name).normalize('NFKC');
    return ticker.length > TICKER_MAX ? undefined : { ticker, columns: columns as GexUri['columns'], expiry };
  } catch {
    // The URI has an invalid percent escape.
    return undefined;
  }
}

/** Returns the canonical form of a URI. The ticker may have no chain yet, because clients can subscribe before the first snapshot. */
function canonicalUri(uri: string, { market }: Context): string {
  if (FIXED.some((each) => each.uri === uri) || methodsAt(uri) !== undefined) return uri;
  const parts = partsOf(uri);
  if (parts === undefined) throw notFound(uri, ...NO_RESOURCE);
  const segments = [parts.columns, parts.expiry].filter((each) => each !== undefined);
  return [levelsUri(market.nameOf(parts.ticker)), ...segments].join('/');
}

const NO_RESOURCE = [
  'There is no such resource',
  'Resources: zomma://universe, zomma://methods, zomma://methods/{tool}, zomma://gex/{ticker}, and the same with /profile, ' +
    '/strikes/{expiry}, /matrix or /record.',
] as const;

/** Computes the levels in the format of the REST API, with the regime, the gross exposure, a summary of the chain and the provenance. */
function* levelsOf(input: { ticker: string }, context: Context): Steps<Record<string, unknown>> {
  const { body } = yield* perform(restView(OPERATION.get_live_gex_nodes), input, context, 'invalid_parameter');
  const { regime, sign_margin_pct, flip_resolved, gross_gex_mil, contracts, series, provenance } = (yield* perform(
    extendedView(OPERATION.get_live_gex_nodes),
    input,
    context,
    'invalid_parameter',
  )).body;
  const expiries = [...new Set((series as { expiry: string }[]).map(({ expiry }) => expiry))];
  const chain = { ...(contracts as object), expiries };
  return { ...body, regime, sign_margin_pct, flip_resolved, gross_gex_mil, chain, provenance };
}

function notFound(uri: string, message: string, hint: string | undefined): ResourceNotFoundError {
  return new ResourceNotFoundError(cleanLine(uri), cleaned(hint ? `${message}. ${hint}` : message));
}
