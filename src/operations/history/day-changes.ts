import { gammaOfRecord, gammaRegime, signMarginPct } from '../../analytics/exposure/sign-margin.ts';
import { dailyMove } from '../../analytics/exposure/whipsaw.ts';
import { byRange } from '../../core/steps.ts';
import { iso, newYorkInstant, previousTradingDay } from '../../market/calendar.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import type { Market } from '../../market/market.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';
import { defineOperation } from '../engine/operation.ts';
import { SCREENED_TICKERS } from '../engine/request-cost.ts';
import { count, objectOf } from '../engine/schemas.ts';
import {
  momentColumn,
  nullableColumn,
  nullableMomentColumn,
  numberColumn,
  textColumn,
  textList,
} from '../engine/wrapped-schemas.ts';
import { MARGIN_OF_ROW, regimeColumn } from '../gex/gamma-regime.ts';
import { newestIvRank } from '../reading/year-iv-rank.ts';
import { dueNotes, pastNotes } from './gex-history.ts';
import { namesOf, provenanceOfOldest, shownTicker, TICKERS_PER_STEP, tickerList } from './screen-tickers.ts';

/** Maximum number of rows of an answer, 300 bytes each. */
const ROWS_MAX = 1_000;

export const getDayChanges = defineOperation({
  name: 'get_day_changes',
  ofMarket: true,
  title: 'Changes on the day',
  page: 'compare',
  description:
    'One row per ticker with stored levels: spot, flip, walls, net gamma and volatility of the newest snapshot, beside spot and flip of the ' +
    'last snapshot of an earlier New York day, which stands for the previous close. Dollars.',
  example: { tickers: ['SPY', 'QQQ'] },
  input: objectOf({ tickers: tickerList }),
  full: objectOf({
    ticker: textColumn('Underlying symbols: those of the universe first, then the others by name.'),
    as_of: momentColumn('When the newest quotes were taken, ISO 8601.'),
    spot: numberColumn('Spot, dollars.'),
    previous_as_of: nullableMomentColumn(
      'When the last quotes of an earlier New York day than that of as_of were taken, ISO 8601; null if none are stored.',
    ),
    previous_spot: nullableColumn('Spot of these earlier quotes, dollars; null if previous_as_of is null.'),
    change_pct: nullableColumn(
      'Change of spot from previous_spot, percent; null if previous_as_of is null or before the previous trading day.',
    ),
    gex_flip: nullableColumn(
      'Spot at which net dealer gamma changes sign, dollars; null if it has one sign within 50 % of spot.',
    ),
    previous_gex_flip: nullableColumn(
      'The same of the earlier quotes, dollars; null if previous_as_of is null or the flip was not resolved.',
    ),
    call_wall: numberColumn('Strike at or above spot with most call gamma, dollars.'),
    put_wall: numberColumn('Strike at or below spot with most put gamma, dollars.'),
    net_gex: numberColumn('Net gamma exposure, dollars per 1 % move.'),
    sign_margin_pct: numberColumn(MARGIN_OF_ROW),
    regime: regimeColumn(
      'positive_gamma or negative_gamma, by the sign of net GEX; undetermined if the sign is not certain.',
    ),
    atm_iv_30d: nullableColumn(
      'At-the-money volatility at 30 days, decimal per calendar year; null if no series determines a smile.',
    ),
    iv_rank: nullableColumn(
      'Position of atm_iv_30d between the lowest and the highest of a year, percent; null with fewer than 20 days of levels.',
    ),
    daily_move: nullableColumn(
      'One standard deviation of the price over a trading day by atm_iv_30d, dollars; null if atm_iv_30d is null.',
    ),
    without_data: textList('Requested tickers without stored levels.'),
    left_out: count(`Number of further tickers: an answer has at most ${ROWS_MAX}. Name them in tickers.`),
    notes: textList('Caveats on the figures.'),
  }),
  rest: { method: 'GET', path: '/api/v1/changes' },
  *run(request, context) {
    const { market } = context;
    const all = namesOf(request.tickers, context);
    const names = all.slice(0, ROWS_MAX);
    const [rows, withoutData]: [DayChange[], string[]] = [[], []];
    yield { message: 'Reading the levels', tokens: Math.ceil(names.length / SCREENED_TICKERS) };
    yield* byRange(names.length, TICKERS_PER_STEP, 'Reading the levels', (from, to) => {
      const part = names.slice(from, to);
      for (const [i, levels] of market.newestLevels(part).entries()) {
        if (levels) rows.push(changeOf(levels, market));
        else withoutData.push(part[i]!);
      }
    });
    const notes = [
      ...(rows.length === 0 ? ['No levels of these tickers are stored up to this moment.'] : []),
      ...dueNotes(names, context),
      ...pastNotes(rows[0]?.levels.simulated ?? false, context),
    ];
    const result = {
      ...columnsOf(rows),
      without_data: request.tickers ? withoutData.map(shownTicker) : [],
      left_out: all.length - names.length,
      notes,
    };
    const levels = rows.map((row) => row.levels);
    const provenance = provenanceOfOldest(levels, notes, context);
    return { result, ...(provenance && { provenance }) };
  },
});

/** The newest levels of a ticker, and the last ones of an earlier New York day. */
interface DayChange {
  readonly levels: NewestLevels;
  readonly previous: LevelRecord | undefined;
  readonly ivRank: number | null;
}

function changeOf(levels: NewestLevels, market: Market): DayChange {
  const previous = earlierLevels.getOrInsertComputed(levels.earlier, () => {
    const at = market.lastLevelsAt(levels.underlying, newYorkInstant(levels.day, '00:00') - 1);
    return at === undefined ? undefined : market.levels(levels.underlying, [at])[0];
  });
  return { levels, previous, ivRank: newestIvRank(levels, market).rank };
}

/** The last levels of an earlier day, by the field `earlier` of the newest levels. They are read once, as long as they do not change. */
const earlierLevels = new WeakMap<object, LevelRecord | undefined>();

/** Returns the change of spot in percent. Returns null if it would cover several trading days. */
function dayChange({ levels: { day, spot }, previous }: DayChange): number | null {
  const isNear = previous !== undefined && previous.day >= previousTradingDay(day);
  return isNear ? 100 * (spot / previous.spot - 1) : null;
}

const flipOf = (levels: LevelRecord | undefined) => (levels?.flipResolved ? levels.gexFlip : null);

function columnsOf(rows: readonly DayChange[]) {
  const newest = rows.map(({ levels }) => levels);
  const before = rows.map(({ previous }) => previous);
  return {
    ticker: newest.map(({ underlying }) => underlying),
    as_of: newest.map(({ asOf }) => iso(asOf)),
    spot: newest.map(({ spot }) => spot),
    previous_as_of: before.map((levels) => (levels ? iso(levels.asOf) : null)),
    previous_spot: before.map((levels) => levels?.spot ?? null),
    change_pct: rows.map(dayChange),
    gex_flip: newest.map(flipOf),
    previous_gex_flip: before.map(flipOf),
    call_wall: newest.map(({ callWall }) => callWall),
    put_wall: newest.map(({ putWall }) => putWall),
    net_gex: newest.map(({ netGex }) => netGex),
    sign_margin_pct: newest.map(({ netGex, grossGex }) => signMarginPct(netGex, grossGex)),
    regime: newest.map((levels) => gammaRegime(gammaOfRecord(levels)) as string),
    atm_iv_30d: newest.map(({ atmIv30d }) => atmIv30d),
    iv_rank: rows.map(({ ivRank }) => ivRank),
    daily_move: newest.map(({ spot, atmIv30d }) => (atmIv30d === null ? null : dailyMove(spot, atmIv30d))),
  };
}
