import { type Static, type TObject, Type } from '@sinclair/typebox';
import { DEFAULT_SIGN } from '../../analytics/chain/options.ts';
import { downsample } from '../../analytics/downsample.ts';
import type { Horizon } from '../../analytics/exposure/horizons.ts';
import { signMarginPct } from '../../analytics/exposure/sign-margin.ts';
import { ivRank } from '../../analytics/iv-rank.ts';
import { ClientError } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import { addDays, iso, newYorkDate, newYorkInstant } from '../../market/calendar.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';
import { moment, rangeOf } from '../engine/moment.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { MOMENTS_FOUND } from '../engine/request-cost.ts';
import { count, defaulted, integerIn, objectOf, oneOf, textField, wordField } from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import {
  columnOf,
  dateColumn,
  momentColumn,
  nullableColumn,
  numberColumn,
  numberOrNull,
  textList,
  totalCount,
} from '../engine/wrapped-schemas.ts';
import { CHARM_EXPOSURE } from '../gex/charm.ts';
import { MARGIN_OF_ROW } from '../gex/gamma-regime.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { openInterestNotes, provenanceOf } from '../reading/market-reading.ts';
import { YEAR_DAYS, yearIvRank } from '../reading/year-iv-rank.ts';
import { horizonArgument, recordsAt } from './horizon.ts';

/** The arguments that select a range of stored levels. */
export const rangeInput = {
  from: Type.Optional(moment('Begin, included; by default, 364 days before the newest levels that are not after `to`')),
  to: Type.Optional(moment('End, included (of a date, its last moment); by default, the newest levels')),
  per: defaulted(
    oneOf(['snapshot', 'day'], 'snapshot: one row per snapshot; day: only the last snapshot of each New York day.'),
    'day',
  ),
};

const input = objectOf({
  ticker,
  ...rangeInput,
  horizon: horizonArgument,
  points: defaulted(
    integerIn('Maximum rows of the answer. If the range has more rows, evenly spaced rows are selected.', 1, 5_000),
    500,
  ),
});

/** The columns of stored levels. */
export const levelColumns = {
  as_of: momentColumn('When the quotes were taken, ISO 8601, ascending.'),
  day: dateColumn('New York date of the quotes, YYYY-MM-DD.'),
  spot: numberColumn('Spot, dollars.'),
  net_gex: numberColumn('Net gamma exposure, dollars per 1 % move.'),
  gross_gex: numberColumn('Sum of absolute gamma exposures, dollars per 1 % move.'),
  sign_margin_pct: numberColumn(MARGIN_OF_ROW),
  gex_flip: numberColumn('Spot at which net dealer gamma changed sign, dollars.'),
  flip_resolved: columnOf(
    Type.Boolean(),
    'False if net gamma had one sign within 50 % of spot: gex_flip is then the spot at which it was nearest 0.',
  ),
  call_wall: numberColumn('Strike at or above spot with most call gamma, dollars.'),
  put_wall: numberColumn('Strike at or below spot with most put gamma, dollars.'),
  max_pain: numberColumn('Strike at which the options of the dominant expiry would have paid out least, dollars.'),
  expiry: dateColumn('Dominant expiry, YYYY-MM-DD.'),
  net_dex: numberColumn('Delta exposure, dollars.'),
  net_vex: numberColumn('Vanna exposure, dollars per vol point.'),
  net_cex: numberColumn(`${CHARM_EXPOSURE}, dollars.`),
  atm_iv_30d: nullableColumn(
    'At-the-money volatility of the surface at 30 days, decimal per calendar year; null if no series determined a smile.',
  ),
};

export const getGexHistory = defineOperation({
  name: 'get_gex_history',
  ofMarket: true,
  title: 'History of GEX levels',
  page: 'history',
  description:
    'Levels of a ticker over time as columns, computed when each snapshot arrived: gamma, delta, vanna and charm exposure, flip, walls, ' +
    'max pain and at-the-money volatility at 30 days, with the rank of the volatility over a year. Dealers are assumed long calls and ' +
    'short puts. Dollars.',
  example: { ticker: 'SPY', per: 'day' },
  input,
  full: objectOf({
    ticker: textField('Underlying symbol.'),
    per: wordField(['snapshot', 'day'], 'snapshot or day: the argument per.'),
    count: count('Rows of each column.'),
    downsampled_from: Type.Optional(totalCount('Rows in the range. Present if evenly spaced rows were selected.')),
    ...levelColumns,
    iv_rank: numberOrNull(
      'Position of the newest atm_iv_30d between iv_low and iv_high, percent; null if iv_days is below 20, or if both are equal.',
    ),
    iv_percentile: numberOrNull(
      'Share of the other iv_days with a lower atm_iv_30d than the newest, percent; null if iv_days is below 20.',
    ),
    iv_days: count('Number of days with an atm_iv_30d, of the 365 days that end with the newest levels.'),
    iv_low: numberOrNull('Lowest atm_iv_30d of these days, decimal per year; null if iv_days is 0.'),
    iv_high: numberOrNull('Highest atm_iv_30d of these days, decimal per year; null if iv_days is 0.'),
    sign_convention: signConvention,
    notes: textList('Caveats on the figures.'),
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/history' },
  *run(request, context) {
    const { market } = context;
    const name = market.tracked(request.ticker);
    const { newest, times } = yield* levelTimesIn(name, request, context);
    const iv = newest === undefined ? ivRank([]) : yearIvRank(name, newest, market);
    const shown = downsample(times, request.points);
    const { found: rows, notes: leftOut } = recordsAt(market.levels(name, shown), request.horizon);
    const notes = [
      ...(shown.length > 0 ? leftOut : [noLevelsNote(newest)]),
      ...dueNotes(name, context, request.horizon),
      ...pastNotes(market.findChain(name)?.simulated ?? false, context),
    ];
    const result = {
      ticker: name,
      per: request.per,
      count: rows.length,
      ...(shown.length < times.length && { downsampled_from: times.length }),
      ...columnsOfLevels(rows),
      iv_rank: iv.rank,
      iv_percentile: iv.percentile,
      iv_days: iv.days,
      iv_low: iv.low,
      iv_high: iv.high,
      sign_convention: conventionOf({ sign: DEFAULT_SIGN }),
      notes,
    };
    const last = rows.at(-1);
    // Levels of the newest chain, and an answer without rows, have the provenance of the newest chain.
    const past = last?.asOf === market.findChain(name)?.asOf ? undefined : withSource(last, context);
    return {
      result,
      ...(past ? { provenance: provenanceOf(past, context, notes) } : newestProvenance(name, context, notes)),
    };
  },
});

export type GexHistory = Static<(typeof getGexHistory)['full']>;

/** Returns the moments of a ticker's stored levels in a range, ascending, and the newest moment before its end, ms since the epoch. */
export function* levelTimesIn(name: string, range: Static<TObject<typeof rangeInput>>, context: Context, paid?: Paid) {
  const { fromMs, toMs } = rangeOf(range);
  const newest = context.market.lastLevelsAt(name, toMs);
  const yearAgo = newest === undefined ? 0 : newYorkInstant(addDays(newYorkDate(newest), 1 - YEAR_DAYS), '00:00');
  return { newest, times: yield* findTimes(name, fromMs ?? yearAgo, toMs, range.per, context, paid) };
}

/** The number of moments that may be found before the request pays a further token. The tickers of one request share the object. */
export interface Paid {
  moments: number;
}

/** Returns the moments of a ticker's stored levels in a period, ascending, ms since the epoch. The request pays for them before they are found. */
export function* findTimes(
  name: string,
  fromMs: number,
  toMs: number,
  per: 'snapshot' | 'day',
  { market }: Context,
  paid: Paid = { moments: MOMENTS_FOUND[per] },
): Steps<number[]> {
  const parts: number[][] = [];
  // The newest part is found first. Each part is one step.
  for (let untilMs = toMs; ; ) {
    if (paid.moments === 0) {
      yield { message: 'Finding the moments of the levels', tokens: 1 };
      paid.moments = MOMENTS_FOUND[per];
    }
    const most = paid.moments;
    const part = market.levelTimes(name, fromMs, untilMs, per, most);
    paid.moments -= part.length;
    parts.unshift(part);
    if (part.length < most) return parts.length > 1 ? parts.flat() : part;
    const [first] = part as [number, ...number[]];
    untilMs = (per === 'day' ? newYorkInstant(newYorkDate(first), '00:00') : first) - 1;
  }
}

/** Returns stored levels with the source of their snapshot. Returns `undefined` if there are no levels, or if they are removed. */
export function withSource(levels: LevelRecord | undefined, { market }: Context): NewestLevels | undefined {
  return levels && market.at(levels.asOf).newestLevels([levels.underlying])[0];
}

/** Returns the columns `levelColumns` of stored levels. */
export function columnsOfLevels(rows: readonly LevelRecord[]) {
  return {
    as_of: rows.map(({ asOf }) => iso(asOf)),
    day: rows.map(({ day }) => day),
    spot: rows.map(({ spot }) => spot),
    net_gex: rows.map(({ netGex }) => netGex),
    gross_gex: rows.map(({ grossGex }) => grossGex),
    sign_margin_pct: rows.map(({ netGex, grossGex }) => signMarginPct(netGex, grossGex)),
    gex_flip: rows.map(({ gexFlip }) => gexFlip),
    flip_resolved: rows.map(({ flipResolved }) => flipResolved),
    call_wall: rows.map(({ callWall }) => callWall),
    put_wall: rows.map(({ putWall }) => putWall),
    max_pain: rows.map(({ maxPain }) => maxPain),
    expiry: rows.map(({ expiry }) => expiry),
    net_dex: rows.map(({ dex }) => dex),
    net_vex: rows.map(({ vex }) => vex),
    net_cex: rows.map(({ cex }) => cex),
    atm_iv_30d: rows.map(({ atmIv30d }) => atmIv30d),
  };
}

/** Returns a note on snapshots without levels. In a replay, throws `ClientError` (unavailable), because the answer would change later. */
export function dueNotes(names: string | readonly string[], { market }: Context, horizon: Horizon = 'all'): string[] {
  const due = market.levelsDue([names].flat(), horizon !== 'all');
  if (due === 0) return [];
  if (!market.isPast) return [`The levels of ${countOf(due)} are not computed yet. Retry shortly.`];
  throw new ClientError(
    'unavailable',
    `The levels of ${countOf(due)} up to the requested moment are not computed yet`,
    {
      hint: 'Retry shortly. The answer is final when these levels are computed.',
    },
  );
}

function countOf(snapshots: number): string {
  return `${snapshots} snapshot${snapshots === 1 ? '' : 's'}`;
}

/** Returns the provenance of a ticker's newest chain. Returns an empty object if the ticker has no chain. */
export function newestProvenance(name: string, context: Context, notes: readonly string[]) {
  const chain = context.market.findChain(name);
  return chain ? { provenance: provenanceOf(chain, context, [...openInterestNotes(chain), ...notes]) } : {};
}

/** Returns a note if rows may be missing because the history of the simulated market is still being generated. `simulated` is the kind of the data. */
export function pastNotes(simulated: boolean, { feedStates }: Context): string[] {
  if (!simulated) return [];
  const past = feedStates().find((state) => state.past !== null)?.past;
  if (!past || past.done >= past.total) return [];
  return [
    `The past of the simulated market is being filled: ${past.done} of ${past.total} snapshots of all tickers are complete. ` +
      'Rows may be missing. Retry shortly.',
  ];
}

function noLevelsNote(newest: number | undefined): string {
  return newest === undefined
    ? 'No levels of this ticker are stored up to the end of the range. The service stores levels when snapshots arrive.'
    : `No levels of this ticker are stored in the range. The newest levels before its end are of ${iso(newest)}.`;
}
