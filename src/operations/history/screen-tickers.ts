import { Type } from '@sinclair/typebox';
import type { Horizon } from '../../analytics/exposure/horizons.ts';
import {
  gammaOfRecord,
  gammaRegime,
  regimeProbability,
  SIGN_MARGIN_MIN_PCT,
  SIGN_PROBABILITY_MIN,
} from '../../analytics/exposure/sign-margin.ts';
import { shownName } from '../../core/clean-text.ts';
import { byRange, type Steps } from '../../core/steps.ts';
import { iso } from '../../market/calendar.ts';
import { hasOpenInterest } from '../../market/chain.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';
import { isTicker } from '../../market/option-symbol.ts';
import { insteadOf } from '../../market/ticker-errors.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { PAGE_MAX } from '../engine/pages.ts';
import { SCREENED_TICKERS } from '../engine/request-cost.ts';
import { defaulted, objectOf, oneOf } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import { textList, totalCount } from '../engine/wrapped-schemas.ts';
import { FIRM_PROBABILITY } from '../gex/gamma-regime.ts';
import { MILLION } from '../gex/gex-report.ts';
import { ageInFigures, provenanceOf } from '../reading/market-reading.ts';
import { newestIvRank } from '../reading/year-iv-rank.ts';
import { whipsawIndexOf, whipsawIndexOfLevels } from '../surface/radar-whipsaw.ts';
import { dueNotes, pastNotes } from './gex-history.ts';
import { atHorizon, horizonChoice, withoutHorizonNotes } from './horizon.ts';
import {
  type Condition,
  conditionsOf,
  NUMBER_COLUMNS,
  ORDERS,
  type ScreenRow,
  screenRow,
  sortRows,
  WHIPSAW,
} from './screen-columns.ts';

/** Maximum number of rows in an answer. A row takes up to 105 tokens of a model's context. */
const ROWS = 15;
/** Maximum number of sources, and of tickers, that a note names. */
const SOURCES_NAMED = 4;
const TICKERS_NAMED = 3;
const CONDITIONS_MAX = 8;
/** If fewer days than this have levels, a note states that the rank is not computed from a whole year. */
const RANK_DAYS_WHOLE = 200;
/**
 * Number of tickers whose levels one step reads. To read a year of volatilities takes up to a quarter of a millisecond per ticker. If the
 * levels are in memory, a ticker takes a few microseconds.
 */
export const TICKERS_PER_STEP = 64;

/** The schema of the argument `tickers` of an operation over several tickers. */
export const tickerList = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: ticker.maxLength! }), {
    description: 'Default: all.',
    minItems: 1,
    maxItems: PAGE_MAX,
  }),
);

const input = objectOf({
  tickers: tickerList,
  where: Type.Optional(
    Type.Array(Type.String(), {
      description: 'All must hold: column of sort_by, < <= > >=, number; or regime=negative_gamma, spot_vs_flip=above.',
      maxItems: CONDITIONS_MAX,
    }),
  ),
  horizon: horizonChoice,
  sort_by: defaulted(oneOf(['ticker', ...NUMBER_COLUMNS], 'Column.'), 'flip_distance_pct'),
  order: defaulted(oneOf(ORDERS, 'size: largest absolute value first.'), 'asc'),
  limit: defaulted(Type.Integer({ description: 'Rows.', minimum: 1, maximum: PAGE_MAX }), ROWS),
});

export const screenTickers = defineOperation({
  name: 'screen_tickers',
  ofMarket: true,
  title: 'Screen of tickers',
  page: { absent: 'The view Compare filters and sorts the tickers by the same stored levels.' },
  description:
    'Filters and sorts tickers by their newest levels: flip_distance_pct (percent of spot, unsigned), net_gex_mil (million dollars per 1 % ' +
    'move, + damps moves, - amplifies them), net_over_gross_pct, iv_rank (percent), whipsaw_risk_index (0 to 100).',
  example: { where: ['iv_rank>=50', 'net_gex_mil<0'], sort_by: 'iv_rank', order: 'desc' },
  input,
  full: objectOf({
    rows: Type.Array(screenRow, {
      description:
        'Per ticker. Dollars: spot_price, gex_flip. Percent: flip_distance_pct (of spot, unsigned; spot_vs_flip is the side), ' +
        'net_over_gross_pct, iv_rank. net_gex_mil: million dollars per 1 % move. atm_iv_30d: decimal per year. regime. age_s: seconds ' +
        '(over REST: as_of), stale if old. whipsaw_risk_index: 0 to 100, only if named in where or sort_by.',
    }),
    matched: totalCount('Tickers that meet the conditions.'),
    without_data: textList('Requested tickers without stored levels.'),
    notes: Type.Optional(textList('Caveats of an answer without provenance, because no ticker has data.')),
  }),
  tool: {
    question: 'which tickers: highest IV rank, nearest to their flip',
    method: 'screen-screen_tickers-get-apiv1screen',
    units: ['percent of spot', 'million dollars per 1 % move, + damps moves, - amplifies', '0 to 100'],
    answers: ['rows', 'matched', 'without_data'],
    echoes: ['notes'],
  },
  rest: { method: 'GET', path: '/api/v1/screen', mayLackData: true },
  *run(request, context, isWanted) {
    const conditions = conditionsOf(request.where ?? []);
    const names = namesOf(request.tickers, context);
    const { horizon } = request;
    const { readings, withoutData, withoutHorizon } = yield* readLevels(names, horizon, context);
    const rows = readings.map(({ row }) => row);
    const named = new Set<string>([...conditions.map(({ column }) => column), request.sort_by]);
    const { scanned, matched } = yield* matchingRows(readings, conditions, named.has(WHIPSAW), context);
    const shown = sortRows(matched, request.sort_by, request.order).slice(0, request.limit);
    // Ages change every second, so the answer of the route has moments in their place. Only an extended answer has a provenance.
    const hasMoment = isWanted('as_of');
    const hasAge = !hasMoment || isWanted('provenance') || named.has('age_s');
    const notes = [
      ...conditions.flatMap(({ note }) => note ?? []),
      ...undeterminedNotes(conditions, rows, matched),
      ...regimeNotesOf(shown, readings),
      ...nullNotes(named, rows, scanned),
      ...rankNotes(readings),
      ...staleNotes(matched),
      ...dueNotes(names, context, horizon),
      ...withoutHorizonNotes(withoutHorizon, 'tickers', horizon),
      ...pastNotes(readings[0]?.levels.simulated ?? false, context),
      ...missingNotes(request.tickers, withoutData, context),
    ];
    const tickers = new Set((shown.length > 0 ? shown : rows).map((row) => row.ticker));
    const levels = readings.filter(({ row }) => tickers.has(row.ticker)).map((reading) => reading.levels);
    const provenance = provenanceOfOldest(levels, notes, context);
    return {
      // If a request has no `tickers`, a note gives only the number of tickers without data, because the names would be longer than the
      // rows.
      result: {
        rows: shown.map((row) => shownRow(row, { hasMoment, hasAge })),
        matched: matched.length,
        without_data: request.tickers ? withoutData.map(shownTicker) : [],
        ...(!provenance && { notes }),
      },
      ...(provenance && { provenance }),
    };
  },
});

/** Returns a row with the moment of its quotes, their age, or both. The last fields are moment, age and `stale`. */
function shownRow(
  { as_of, age_s, stale, ...figures }: ScreenRow,
  { hasMoment, hasAge }: { readonly hasMoment: boolean; readonly hasAge: boolean },
): ScreenRow {
  return {
    ...figures,
    ...(hasMoment && as_of !== undefined && { as_of }),
    ...(hasAge && age_s !== undefined && { age_s }),
    ...(stale && { stale }),
  };
}

/** Returns notes on the limits of the regime if the regime of a row is undetermined, or if it is not firm (see `FIRM_PROBABILITY`). */
function regimeNotesOf(rows: readonly ScreenRow[], readings: readonly Reading[]): string[] {
  const isOpen = ({ regime }: ScreenRow) => regime === 'undetermined';
  const probability = new Map(
    readings.map(({ row, levels }) => [row.ticker, regimeProbability(gammaOfRecord(levels))]),
  );
  const near = rows.filter((row) => !isOpen(row) && probability.get(row.ticker)! < FIRM_PROBABILITY);
  if (near.length === 0 && !rows.some(isOpen)) return [];
  const limit = `regime is undetermined if net_over_gross_pct is within ±${2 * SIGN_MARGIN_MIN_PCT}, or if the sign of net GEX is right with a probability below ${100 * SIGN_PROBABILITY_MIN} %, because dealers' positions are assumed.`;
  return [near.length === 0 ? limit : `${limit} Nearly so (below ${100 * FIRM_PROBABILITY} %): ${fewOf(near)}.`];
}

/** Returns the tickers of rows or, if they are many, their number. `after` returns a text for the end of a ticker. */
function fewOf(rows: readonly ScreenRow[], after = (_row: ScreenRow) => ''): string | number {
  const isFew = rows.length > 0 && rows.length <= TICKERS_NAMED;
  return isFew ? rows.map((row) => `${row.ticker}${after(row)}`).join(', ') : rows.length;
}

/** Returns the name of a ticker without data. Hides any text that is not a ticker, because a model may take the text for an instruction. */
export function shownTicker(name: string): string {
  return isTicker(name) ? name : '(not a ticker)';
}

/** Returns the names of the requested tickers, without duplicates. Default: the universe and all other tickers with data. */
export function namesOf(tickers: readonly string[] | undefined, { market, universe }: Context): string[] {
  return [
    ...new Set(tickers?.map((each) => market.nameOf(each)) ?? [...universe.tickers, ...market.tickersWithChain()]),
  ];
}

/** The row of a ticker, and the origin of the ticker's quotes. */
interface Reading {
  readonly row: ScreenRow;
  readonly levels: NewestLevels;
  /** The number of days with a volatility, from which the rank is computed. */
  readonly rankDays: number;
}

/** Reads the newest levels of the tickers. Also returns the tickers without stored levels, and the number of those without the horizon. */
function* readLevels(
  names: readonly string[],
  horizon: Horizon,
  context: Context,
): Steps<{ readings: Reading[]; withoutData: string[]; withoutHorizon: number }> {
  const [readings, withoutData]: [Reading[], string[]] = [[], []];
  let withoutHorizon = 0;
  yield { message: 'Reading the levels', tokens: Math.ceil(names.length / SCREENED_TICKERS) };
  yield* byRange(names.length, TICKERS_PER_STEP, 'Reading the levels', (from, to) => {
    const part = names.slice(from, to);
    for (const [i, levels] of context.market.newestLevels(part).entries()) {
      const ofHorizon = levels && atHorizon(levels, horizon);
      if (ofHorizon) readings.push(readRow(part[i]!, ofHorizon, levels, context));
      else if (levels) withoutHorizon++;
      else withoutData.push(part[i]!);
    }
  });
  return { readings, withoutData, withoutHorizon };
}

/** Returns the row of a ticker. `levels` are the newest levels, and `shown` those of the horizon. */
function readRow(name: string, shown: NewestLevels, levels: NewestLevels, context: Context): Reading {
  const { spot, netGex, grossGex, asOf } = shown;
  const flip = shown.flipResolved ? shown.gexFlip : null;
  const { age_s, stale } = ageInFigures(asOf, context);
  const { rank, days } = newestIvRank(levels, context.market);
  return {
    levels,
    rankDays: days,
    row: {
      ticker: name,
      spot_price: spot,
      gex_flip: flip,
      flip_distance_pct: flip === null ? null : (100 * Math.abs(spot - flip)) / spot,
      spot_vs_flip: flip === null ? null : spot >= flip ? 'above' : 'below',
      regime: gammaRegime(gammaOfRecord(levels)),
      net_gex_mil: netGex / MILLION,
      net_over_gross_pct: grossGex > 0 ? (100 * netGex) / grossGex : 0,
      atm_iv_30d: levels.atmIv30d,
      iv_rank: rank,
      as_of: iso(asOf),
      age_s,
      ...(stale && { stale: true as const }),
    },
  };
}

/**
 * Returns the rows that meet all conditions. If `withWhipsaw` is true, the rows have the whipsaw index. The whipsaw index is computed last,
 * and only for rows that meet the other conditions. The index needs the stored closes, and for levels of an earlier version of the program,
 * it needs a surface. `scanned` is the list of rows for which the index was computed.
 */
function* matchingRows(
  readings: readonly Reading[],
  conditions: readonly Condition[],
  withWhipsaw: boolean,
  context: Context,
): Steps<{ scanned: readonly ScreenRow[]; matched: readonly ScreenRow[] }> {
  // Conditions on the whipsaw index are ignored until the index is computed.
  const isMatch = (row: ScreenRow) => conditions.every(({ column, isMetBy }) => !(column in row) || isMetBy(row));
  const candidates = readings.filter(({ row }) => isMatch(row));
  if (!withWhipsaw) return { scanned: [], matched: candidates.map(({ row }) => row) };
  const scanned: ScreenRow[] = [];
  for (const [i, { levels, row }] of candidates.entries()) {
    if (i % TICKERS_PER_STEP === TICKERS_PER_STEP - 1) yield { message: 'Computing the whipsaw index' };
    const stored = whipsawIndexOfLevels(levels, context);
    const index = stored === undefined ? yield* whipsawIndexOf(row.ticker, context) : stored;
    scanned.push({ ...row, [WHIPSAW]: index });
  }
  return { scanned, matched: scanned.filter(isMatch) };
}

/**
 * Returns a note if a condition on the regime leaves out tickers whose regime is undetermined, above all near their flip. A filter for a regime
 * near the flip would otherwise suggest that there are no such tickers.
 */
function undeterminedNotes(
  conditions: readonly Condition[],
  rows: readonly ScreenRow[],
  matched: readonly ScreenRow[],
): string[] {
  const onRegime = conditions.filter(({ column }) => column === 'regime');
  const others = conditions.filter(({ column }) => column !== 'regime');
  const undetermined = rows.filter(({ regime }) => regime === 'undetermined');
  if (onRegime.length === 0 || undetermined.some((row) => onRegime.every((each) => each.isMetBy(row)))) return [];
  if (others.some(({ column }) => column === WHIPSAW)) return [];
  const leftOut = undetermined.filter((row) => others.every((each) => each.isMetBy(row)));
  const isNearFlip = others.some(
    ({ column, isMetBy }) =>
      column === 'flip_distance_pct' && rows.some((row) => isMetBy({ ...row, flip_distance_pct: 0 })),
  );
  if (leftOut.length === 0 && (matched.length > 0 || !isNearFlip)) return [];
  const those = fewOf(leftOut, (row) => ` (net GEX ${['-', '0', '+'][1 + Math.sign(row.net_gex_mil)]})`);
  return [
    `If the sign of net GEX is not certain, regime is undetermined. Tickers with it that meet the other conditions: ${those}.`,
  ];
}

/**
 * Returns a note for each requested column that is null for some tickers. If a column is null for a ticker, the ticker is sorted last and
 * meets no condition on the column.
 */
function nullNotes(named: ReadonlySet<string>, rows: readonly ScreenRow[], scanned: readonly ScreenRow[]): string[] {
  return [...named].flatMap((column) => {
    const considered = column === WHIPSAW ? scanned : rows;
    const nulls = considered.filter((row) => row[column as keyof ScreenRow] === null).length;
    return nulls === 0 ? [] : [`${column} is null for ${nulls} of ${considered.length} tickers.`];
  });
}

/** Returns a note if the ranks are computed from much less than a year of levels. */
function rankNotes(readings: readonly Reading[]): string[] {
  const days = readings.reduce((most, { rankDays }) => Math.max(most, rankDays), 0);
  return readings.length === 0 || days >= RANK_DAYS_WHOLE
    ? []
    : [`iv_rank is from at most ${days} stored ${days === 1 ? 'day' : 'days'}, not from a year.`];
}

/** Returns the number of tickers without data or, for requested tickers without data, what has data instead. */
function missingNotes(
  requested: readonly string[] | undefined,
  without: readonly string[],
  context: Context,
): string[] {
  if (without.length === 0) return [];
  if (!requested) return [`Tickers of the universe without data: ${without.length}.`];
  const { market, universe } = context;
  const known = market.tickersWithChain();
  return without.flatMap((name) => {
    const chain = market.findChain(name);
    if (chain && !hasOpenInterest(chain)) return [`${name} has no open interest, so it has no levels.`];
    const instead = insteadOf({ spelling: name, ticker: name }, universe, known);
    return instead === undefined ? [] : [`${shownTicker(name)} has no data. ${instead}`];
  });
}

function staleNotes(rows: readonly ScreenRow[]): string[] {
  const stale = rows.filter((row) => row.stale).length;
  return stale === 0 ? [] : [`The quotes of ${stale} of ${rows.length} tickers are stale.`];
}

/** Returns the provenance of the oldest quotes among the levels of several tickers. Returns `undefined` if there are no levels. */
export function provenanceOfOldest(levels: readonly NewestLevels[], notes: readonly string[], context: Context) {
  if (levels.length === 0) return undefined;
  const oldest = levels.reduce((a, b) => (b.asOf < a.asOf ? b : a));
  const sources = [...new Set(levels.map(({ source }) => shownName(source)))];
  const hasNewer = levels.some(({ asOf }) => asOf > oldest.asOf);
  const ofRows = hasNewer ? [`Age and source are those of the oldest quotes, ${oldest.underlying}.`] : [];
  const ofSources = sources.length > 1 ? [`Sources: ${sources.slice(0, SOURCES_NAMED).join(', ')}.`] : [];
  return provenanceOf(oldest, context, [...ofRows, ...ofSources, ...notes]);
}
