import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { parseExpiries } from '../analytics/chain/options.ts';
import { selectedSeries } from '../analytics/chain/prepare.ts';
import { invalidArgument } from '../core/errors.ts';
import type { Steps } from '../core/steps.ts';
import { isDate } from '../market/calendar.ts';
import { type Context, type Operation, type Provenance, pickFields } from '../operations/engine/operation.ts';
import { cursor, cursorAt, pageFrom } from '../operations/engine/pages.ts';
import { extendedView, figuresView, perform } from '../operations/engine/perform.ts';
import { count, number, objectOf, textField } from '../operations/engine/schemas.ts';
import { validate } from '../operations/engine/validate.ts';
import { textList } from '../operations/engine/wrapped-schemas.ts';
import { signScenariosOf } from '../operations/gex/sign-figures.ts';
import { settledSince } from '../operations/reading/market-reading.ts';
import { REGISTRY } from '../operations/registry.ts';
import { asColumns, nearStrikes, type PagedTable, pageOf } from './resource-pages.ts';
import { provenanceInWords } from './tool-answer.ts';

type Body = Record<string, unknown>;

/** The form of a resource about a ticker. */
interface TickerForm {
  /** The operation that computes the answer. */
  readonly operation: keyof typeof REGISTRY;
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  /** States the content and the parameters of the query. */
  readonly description: string;
  /** The arguments of the operation that the query can have. */
  readonly takes: readonly string[];
  /** The tables of the answer. An answer without tables is one page. */
  readonly tables: readonly PagedTable[];
  /** Default and maximum of the parameter `near`. Absent if the resource does not take it. */
  readonly near?: { readonly default?: number; readonly maximum: number };
  /** Returns the fields of the resource from those of the operation's answer. Absent if the resource has the fields of the answer. */
  readonly fields?: (full: TProperties) => TProperties;
  /** What is the same on all pages. The default is the snapshot. Prints and stored levels also arrive between two snapshots. */
  readonly pins?: 'moment';
}

const NEAR = { maximum: 1_000 };
const PAGED = 'Takes columns, limit, cursor, at';
const NEAREST = 'First page nearest spot. Takes near (rows)';

/** The fields of the levels' answer that their resource has. It also has `chain`. */
const LEVELS: readonly string[] = [
  ...REGISTRY.get_live_gex_nodes.rest!.answers!,
  ...[
    'regime',
    'regime_probability',
    'sign_margin_pct',
    'spot_in_flip_zone',
    'flip_resolved',
    'gross_gex_mil',
    'net_dex_mil',
    'net_vex_mil',
    'net_cex_mil',
    'by_flow',
  ],
];

const signScenarios = signScenariosOf({ withFlips: false });

/** The resources of a ticker, by the segment of the URI after the ticker. */
export const TICKER_RESOURCES = {
  levels: {
    operation: 'get_live_gex_nodes',
    uriTemplate: 'zomma://gex/{ticker}',
    name: 'gex',
    title: 'Latest levels',
    description:
      "GEX levels of the newest snapshot, the same with dealers' positions by flow, a summary of its chain, and its age. Takes expiry, at.",
    takes: ['expiry'],
    tables: [],
    fields: ({ contracts, ...full }) => ({
      ...(pickFields(full, LEVELS) as TProperties),
      sign_scenarios: signScenarios,
      chain: Type.Object(
        { ...contracts!.properties, expiries: textList('Expiries of these contracts, YYYY-MM-DD.') },
        {
          description: contracts!.description!,
        },
      ),
    }),
  },
  expiries: {
    operation: 'get_gex_by_expiry',
    uriTemplate: 'zomma://gex/{ticker}/expiries',
    name: 'gex-expiries',
    title: 'GEX by expiry',
    description: `GEX, max pain, volatility and skew of each series, in order of settlement. ${PAGED}, sign=flow (dealers' positions by prints).`,
    takes: ['sign'],
    tables: [{ keys: ['expiry', 'root', 'settlement'], order: 'first' }],
  },
  strikes: {
    operation: 'get_gex_by_strike',
    uriTemplate: 'zomma://gex/{ticker}/strikes/{expiry}',
    name: 'gex-strikes',
    title: 'GEX by strike',
    description: `Dealer exposures at each strike of an expiry (YYYY-MM-DD, 0dte or all). ${NEAREST}. ${PAGED}, sign=flow.`,
    takes: ['sign'],
    tables: [{ keys: ['strike'], order: 'near' }],
    near: NEAR,
  },
  interest: {
    operation: 'get_open_interest_changes',
    uriTemplate: 'zomma://gex/{ticker}/interest/{expiry}',
    name: 'gex-interest',
    title: 'Where open interest has built',
    description: `Change of open interest by strike since a moment, largest build first, of contracts live at both. Takes since (default previous_close). ${PAGED}.`,
    takes: ['since'],
    tables: [{ keys: ['strike'], order: 'first' }],
  },
  matrix: {
    operation: 'get_gex_matrix',
    uriTemplate: 'zomma://gex/{ticker}/matrix',
    name: 'gex-matrix',
    title: 'GEX by strike and expiry',
    description: `Net gamma of each series at the strikes nearest spot, in order of settlement. Takes near (strikes, default 25), measure. ${PAGED}, sign=flow.`,
    takes: ['sign', 'measure'],
    tables: [{ keys: ['expiry', 'root', 'settlement'], order: 'first', aside: ['strike', 'by_strike'] }],
    near: { default: 25, maximum: 150 },
    fields: (full) => ({
      ...full,
      farther_strikes_left_out: count('Strikes of the band that near leaves out. The sums include them. Absent if 0.'),
    }),
  },
  profile: {
    operation: 'get_gex_profile',
    uriTemplate: 'zomma://gex/{ticker}/profile',
    name: 'gex-profile',
    title: 'Gamma profile',
    description: `Net dealer gamma at each spot level. ${NEAREST}. ${PAGED}, sign=flow.`,
    takes: ['sign'],
    tables: [{ keys: ['spot'], order: 'near' }],
    near: NEAR,
  },
  surface: {
    operation: 'get_volatility_surface',
    uriTemplate: 'zomma://gex/{ticker}/surface',
    name: 'gex-surface',
    title: 'Volatility surface',
    description: `Smile figures at constant maturities and at each settlement, and implied moves of events. ${PAGED}.`,
    takes: [],
    tables: [
      { at: 'maturities', keys: ['days'], order: 'first' },
      { at: 'events', keys: ['after', 'before'], order: 'first' },
      { at: 'expiries', keys: ['expiry'], order: 'first' },
      { at: 'refused', keys: ['series'], order: 'first' },
    ],
    fields: ({ quotes: _quotes, grid: _grid, parameters: _parameters, smiles: _smiles, ...figures }) => figures,
  },
  quotes: {
    operation: 'get_option_quotes',
    uriTemplate: 'zomma://gex/{ticker}/quotes/{expiry}',
    name: 'gex-quotes',
    title: 'Quotes of an expiry',
    description: `Bid, ask, volatility, open interest, volume and Greeks of each contract. ${NEAREST}, put_call, strike_min, strike_max. ${PAGED}.`,
    takes: ['put_call', 'strike_min', 'strike_max'],
    tables: [{ keys: ['strike', 'put_call', 'root'], order: 'near', aside: ['series'] }],
    near: NEAR,
    fields: ({ quotes, greeks_iv, expiries: _expiries, straddle_move: _straddle, ...head }) => {
      const { nearest: _nearest, ...row } = quotes!.items.properties;
      return { ...head, ...row, greeks_iv: greeks_iv! };
    },
  },
  flow: {
    operation: 'get_flow_by_aggressor',
    uriTemplate: 'zomma://gex/{ticker}/flow',
    name: 'gex-flow',
    title: 'Flow by aggressor',
    description: `Premium that customers bought and sold, by manner (sweep, block), expiry and day. Takes days, min_premium (dollars). ${PAGED}.`,
    takes: ['days', 'min_premium'],
    tables: [
      { at: 'by_manner', keys: ['manner'], order: 'first' },
      { at: 'by_day', keys: ['day'], order: 'last' },
      { at: 'by_expiry', keys: ['expiry'], order: 'first' },
    ],
    pins: 'moment',
  },
  prints: {
    operation: 'get_signed_prints',
    uriTemplate: 'zomma://gex/{ticker}/prints',
    name: 'gex-prints',
    title: 'Large prints',
    description: `Single large option prints with their aggressors, newest first. Takes days, min_premium (dollars). ${PAGED}.`,
    takes: ['days', 'min_premium'],
    tables: [{ keys: ['at', 'expiry', 'put_call', 'strike'], order: 'first' }],
    fields: (full) => ({ ...full, min_premium: number('Least premium of the prints, dollars.') }),
    pins: 'moment',
  },
  history: {
    operation: 'get_gex_history',
    uriTemplate: 'zomma://gex/{ticker}/history',
    name: 'gex-history',
    title: 'History of levels',
    description: `Stored levels and volatility over time, first page newest. Takes from, to, per (day, snapshot). ${PAGED}.`,
    takes: ['from', 'to', 'per'],
    tables: [{ keys: ['as_of'], order: 'last' }],
    pins: 'moment',
  },
  record: {
    operation: 'get_level_record',
    uriTemplate: 'zomma://gex/{ticker}/record',
    name: 'gex-record',
    title: 'Whether levels held',
    description: `On how many days walls and flip held, compared with levels at the same distance; the days, first page newest. Takes days. ${PAGED}.`,
    takes: ['days'],
    tables: [{ at: 'days', keys: ['date'], order: 'last' }],
    pins: 'moment',
  },
} as const satisfies Readonly<Record<string, TickerForm>>;

type Which = keyof typeof TICKER_RESOURCES;

/** The components of a URI for a ticker's resource. */
export interface TickerResource {
  /** The ticker as the client wrote it. */
  readonly ticker: string;
  readonly which: Which;
  /** Undefined if the URI has no expiry. The answer then contains all expiries. */
  readonly expiry: string | undefined;
  /** The text after the question mark. */
  readonly query: string;
}

const OPERATION = REGISTRY as unknown as Readonly<Record<keyof typeof REGISTRY, Operation>>;

/** Maximum number of prints that the pages of `prints` contain, and of rows of the history: the maximum of the operations. */
const ROWS_MAX = 5_000;
/** Maximum number of contracts that the operation returns at once. */
const QUOTES_MAX = 1_000;

/** The schemas of the queries. An error of a query therefore names the parameters of its resource, and no other arguments. */
const QUERIES = Object.fromEntries(
  Object.entries<TickerForm>(TICKER_RESOURCES).map(([which, form]) => [which, querySchema(form)]),
) as Record<Which, TObject>;

function querySchema({ operation, takes, tables, near }: TickerForm): TObject {
  const { properties } = figuresView(OPERATION[operation]).input;
  // The operation fills in its own defaults.
  const own = [...takes, 'at'].map((name) => {
    const { default: _, ...schema } = properties[name]!;
    return [name, Type.Optional(schema as TSchema)];
  });
  const count = (maximum: number, rest = {}) => Type.Optional(Type.Integer({ minimum: 1, maximum, ...rest }));
  const paged = {
    ...(near && { near: count(near.maximum, near.default && { default: near.default }) }),
    ...{ columns: Type.Optional(textField('Names of columns.')), limit: count(ROWS_MAX), cursor },
  };
  return objectOf({ ...Object.fromEntries(own), ...(tables.length > 0 && paged) });
}

interface Query {
  readonly near?: number;
  readonly columns?: string;
  readonly limit?: number;
  readonly cursor?: string;
  readonly [argument: string]: unknown;
}

/** Returns a page of a ticker's resource. Throws `ClientError` if the query is invalid, or if the ticker lacks the data. */
export function* readTickerResource(
  uri: string,
  { ticker, which, expiry, query: text }: TickerResource,
  context: Context,
): Steps<Body> {
  const form: TickerForm = TICKER_RESOURCES[which];
  const query = queryValues(QUERIES[which], text);
  const {
    near,
    columns,
    limit,
    cursor: given,
    ...args
  } = validate(QUERIES[which], query, 'invalid_parameter') as Query;
  const selection = { which, expiry, ...(args as Record<string, string | number>) };
  const page = pageFrom(given, ticker, context, selection, form.pins);
  const { body, provenance } = yield* answerOf(which, { ticker, ...args }, expiry, page.context);
  const { notes, ...answer } = body;
  const whole = {
    ...answer,
    provenance: provenance
      ? provenanceInWords(withSettled(which, ticker, expiry, provenance, context), 'at' in args)
      : { notes },
  };
  if (form.tables.length === 0) return whole;
  yield { message: 'Choosing the rows of the page' };
  const asOf = page.asOf ?? (form.pins ? context.nowMs() : Date.parse(provenance!.as_of));
  const addressOf = (row: number) => {
    const next = new URLSearchParams(encodedPlus(text));
    next.set('cursor', cursorAt({ underlying: context.market.nameOf(ticker), asOf }, row, selection));
    return `${uri.split('?')[0]}?${decodeURIComponent(next.toString())}`;
  };
  const asked = { columns: columns?.split(','), limit, from: page.row };
  return which === 'matrix'
    ? pageOf(nearStrikes(whole, near!), form.tables, asked, addressOf)
    : pageOf(whole, form.tables, { ...asked, near }, addressOf);
}

/** Notes in a table by strike that series have settled since. A difference to a newer table would show each settlement as a fall. */
function withSettled(
  which: Which,
  ticker: string,
  expiry: string | undefined,
  provenance: Provenance,
  context: Context,
): Provenance {
  const chain = context.market.at(Date.parse(provenance.as_of)).findChain(ticker);
  if ((which !== 'strikes' && which !== 'matrix') || !chain) return provenance;
  const selection = parseExpiries(expiry?.toLowerCase() ?? 'all')!;
  const notes = settledSince(
    selectedSeries(chain, selection, () => chain.asOf),
    context,
  );
  return { ...provenance, notes: [...provenance.notes, ...notes, ...(notes.length > 0 ? [SETTLED_IN_SUMS] : [])] };
}

const SETTLED_IN_SUMS =
  'The sums by strike include series that have settled. For the change since then, read /interest/{expiry}?since=, which compares live contracts.';

/** Returns the values of a query. Converts numbers. A repeated parameter becomes a list, which no parameter accepts. */
function queryValues({ properties }: TObject, text: string): Record<string, unknown> {
  const params = new URLSearchParams(encodedPlus(text));
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      const [value = ''] = values;
      const isNumber = NUMERIC.has(properties[name]?.type) && value.trim() !== '';
      return [name, values.length > 1 ? values : isNumber ? Number(value) : value];
    }),
  );
}

const NUMERIC: ReadonlySet<unknown> = new Set(['number', 'integer']);

/** Returns a query whose plus signs are not read as spaces, because a moment may have the offset `+01:00`. */
function encodedPlus(query: string): string {
  return query.replaceAll('+', '%2B');
}

type Answer = { readonly body: Body; readonly provenance: Provenance | undefined };

function* answerOf(which: Which, args: Body, expiry: string | undefined, context: Context): Steps<Answer> {
  const run = (more: object = {}) =>
    perform(
      figuresView(OPERATION[TICKER_RESOURCES[which].operation]),
      { ...args, ...more },
      context,
      'invalid_parameter',
    );
  switch (which) {
    case 'levels':
      return yield* levelsOf(args, context);
    case 'strikes':
    case 'interest':
      return yield* run({ expiries: expiryOf(expiry ?? 'all', ['all', '0dte']) });
    case 'quotes':
      return yield* quotesOf(run, { ...args, expiry: expiryOf(expiry, ['0dte']) });
    case 'prints': {
      const min_premium = args.min_premium ?? context.largePrintMinUsd;
      const { body, provenance } = yield* run({ min_premium, limit: ROWS_MAX });
      return { body: { min_premium, ...body }, provenance };
    }
    case 'history':
      return yield* run({ points: ROWS_MAX });
    case 'surface': {
      const { body, provenance } = yield* run();
      const { quotes: _quotes, grid: _grid, parameters: _parameters, smiles: _smiles, ...figures } = body;
      return { body: figures, provenance };
    }
    default:
      return yield* run();
  }
}

/** Returns the expiry of a URI. Throws `ClientError` if the expiry is neither a date nor one of the words. */
function expiryOf(text: string | undefined, words: readonly string[]): string {
  const expiry = text?.toLowerCase() ?? '';
  if (isDate(expiry) || words.includes(expiry) || /^next:[0-9]{1,4}$/.test(expiry)) return expiry;
  const expected = `must be ${['a date YYYY-MM-DD', ...words].join(' or ')}, as the last part of the URI`;
  throw invalidArgument('/expiry', expected, 'zomma://gex/{ticker}/expiries lists the expiries.');
}

/** Returns the quotes of all contracts of an expiry as columns, in order of strike. */
function* quotesOf(run: (more: object) => Steps<Answer>, args: Body): Steps<Answer> {
  const rows: Body[] = [];
  for (let cursor: unknown; ; ) {
    // With a lowest strike, the operation sorts contracts by strike and not by their distance from spot.
    const { body, provenance } = yield* run({
      strike_min: 0,
      ...args,
      limit: QUOTES_MAX,
      ...(cursor !== undefined && { cursor }),
    });
    const { quotes, greeks_iv, next_cursor, ...head } = body as Body & { quotes: Body[]; greeks_iv: unknown[] };
    rows.push(...quotes.map((row, i) => ({ ...row, greeks_iv: greeks_iv[i] })));
    if (next_cursor === undefined) return { body: { ...head, ...asColumns(rows) }, provenance };
    cursor = next_cursor;
  }
}

/** Computes the levels as over REST, with regime, sums of exposures, levels by flow, summary of the chain and provenance. */
function* levelsOf(args: Body, context: Context): Steps<Answer> {
  const view = extendedView(OPERATION.get_live_gex_nodes);
  const { body, provenance } = yield* perform(view, args, context, 'invalid_parameter');
  const expiries = [...new Set((body.series as { expiry: string }[]).map(({ expiry }) => expiry))];
  const chain = { ...(body.contracts as object), expiries };
  return {
    body: { ...pickFields(body, LEVELS), sign_scenarios: withoutFlips(body.sign_scenarios as Scenarios), chain },
    provenance: provenance && { ...provenance, notes: [...provenance.notes, UNITS_OF_EXPOSURES] },
  };
}

type Scenarios = Readonly<Record<string, Body | null>>;

/** Returns the sign scenarios without their flips, because the flip of the answer's own convention is `gex_flip`. */
function withoutFlips(scenarios: Scenarios): Scenarios {
  return Object.fromEntries(
    Object.entries(scenarios).map(([name, each]) => {
      const { gex_flip: _, ...others } = each ?? {};
      return [name, each && others];
    }),
  );
}

const UNITS_OF_EXPOSURES =
  'net_vex_mil and net_cex_mil: rise of the delta of dealers, million dollars, per vol point and over the coming calendar day. If it is +, they sell to hedge.';
