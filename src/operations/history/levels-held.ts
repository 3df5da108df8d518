import { type Static, Type } from '@sinclair/typebox';
import { DEFAULT_SIGN } from '../../analytics/chain/options.ts';
import {
  DAYS_MIN,
  LEVEL_KINDS,
  type LevelKind,
  type LevelOutcome,
  type LevelScore,
  type OutcomeRate,
  scoreLevels,
  TOUCH_DEVIATIONS,
} from '../../analytics/exposure/level-outcomes.ts';
import { StepCache, type Steps } from '../../core/steps.ts';
import type { Market } from '../../market/market.ts';
import { defineOperation } from '../engine/operation.ts';
import { RECORD_DAYS } from '../engine/request-cost.ts';
import {
  count,
  defaulted,
  describedObject,
  flagField,
  integerIn,
  namedObject,
  objectOf,
  textField,
  wordField,
} from '../engine/schemas.ts';
import { ticker } from '../engine/shared-fields.ts';
import {
  columnOf,
  dateColumn,
  dateOrNull,
  momentColumn,
  nullableColumn,
  numberColumn,
  numberOrNull,
  textList,
} from '../engine/wrapped-schemas.ts';
import { storedMonthNotes } from '../gex/level-horizons.ts';
import { conventionOf, signConvention } from '../reading/dealer-sign.ts';
import { dueNotes, newestProvenance } from './gex-history.ts';
import { type LevelPeriod, levelPeriod, readLevelDays } from './level-days.ts';

const percent = (description: string) => numberOrNull(`${description}, percent of days; null if too_few_days.`);

const rate = (description: string) =>
  namedObject('OutcomeRate', description, {
    count: count('Number of days.'),
    pct: percent('Share of days'),
    low_pct: percent('Lower end of the 95 % Wilson interval of pct'),
    high_pct: percent('Upper end of the 95 % Wilson interval of pct'),
    control_pct: percent('Share that a level at the same distance has'),
  });

const VERDICTS = [
  'no better than distance',
  'held more often than a level at the same distance',
  'held less often than a level at the same distance',
  'too few days',
] as const satisfies readonly LevelScore['verdict'][];

const score = (description: string, fields: Record<keyof LevelOutcome, string>) =>
  describedObject(description, {
    n: count('Number of days with this level.'),
    too_few_days: flagField(`True if n is below ${DAYS_MIN}. The shares are then null.`),
    held: rate(fields.held),
    touched: rate(fields.touched),
    crossed: rate(fields.crossed),
    verdict: wordField(
      VERDICTS,
      'no better than distance: the control is within the interval of held; held more often than a level at the same distance; held ' +
        'less often than a level at the same distance; or too few days.',
    ),
  });

const TOUCHED = `Some spot seen was within ${TOUCH_DEVIATIONS} daily deviations of`;
const OUTCOMES: Record<LevelKind, Record<keyof LevelOutcome, string>> = {
  call_wall: {
    held: 'The close was at or below the call wall.',
    touched: `${TOUCHED} the call wall.`,
    crossed: 'Some spot seen was above the call wall.',
  },
  put_wall: {
    held: 'The close was at or above the put wall.',
    touched: `${TOUCHED} the put wall.`,
    crossed: 'Some spot seen was below the put wall.',
  },
  band: {
    held: 'The close was between the put wall and the call wall, or at one of them.',
    touched: `${TOUCHED} one of the walls.`,
    crossed: 'Some spot seen was above the call wall or below the put wall.',
  },
  flip: {
    held: 'The close was on the same side of the flip as spot, or at the flip.',
    touched: `${TOUCHED} the flip.`,
    crossed: 'Some spot seen was on the other side of the flip than spot.',
  },
};

type OutcomeColumn = `${LevelKind}_${keyof LevelOutcome}`;

const flags = (description: string) => columnOf(Type.Union([Type.Boolean(), Type.Null()]), description);

const outcomeColumns = Object.fromEntries(
  LEVEL_KINDS.flatMap((kind) =>
    Object.entries(OUTCOMES[kind]).map(([outcome, description]) => [
      `${kind}_${outcome}`,
      flags(kind === 'flip' ? `${description} Null if the flip was not resolved.` : description),
    ]),
  ),
) as unknown as Record<OutcomeColumn, ReturnType<typeof flags>>;

export const getLevelRecord = defineOperation({
  name: 'get_level_record',
  ofMarket: true,
  title: 'Whether levels held',
  page: 'history',
  description:
    'On how many days the call wall, the put wall, the band between them and the gamma flip held, were touched and were crossed, with the ' +
    'same shares for levels at the same distance from spot. The levels of a day are those of the last snapshot before its open. The spots ' +
    'seen are those of snapshots between open and close, and the close: what the price did between two of them is not known.',
  example: { ticker: 'SPY', days: 365 },
  input: objectOf({
    ticker,
    days: defaulted(
      integerIn('Length of the period in calendar days. It ends with the New York day of the newest levels.', 1, 3_650),
      365,
    ),
  }),
  full: objectOf({
    ticker: textField('Underlying symbol.'),
    from: dateOrNull('First date of the period, YYYY-MM-DD; null if no levels are stored.'),
    to: dateOrNull('Last date of the period, YYYY-MM-DD; null if no levels are stored.'),
    count: count('Number of counted days: rows of each column of days.'),
    left_out: namedObject('DaysLeftOut', 'Trading days of the period that are not counted, by reason.', {
      no_levels: count('Number of trading days without levels from the trading day before or from before the open.'),
      no_volatility: count('Number of trading days whose levels have no volatility at 30 days.'),
      no_close: count('Number of trading days without a known close, such as a day that has not closed yet.'),
    }),
    spots_per_day: numberOrNull(
      'Mean number of spots seen per counted day, the close included; null if count is 0. The fewer spots, the more touches and crossings ' +
        'are missed.',
    ),
    call_wall: score('The call wall.', OUTCOMES.call_wall),
    put_wall: score('The put wall.', OUTCOMES.put_wall),
    band: score('The band from the put wall to the call wall.', OUTCOMES.band),
    flip: score('The gamma flip, on days on which it was resolved.', OUTCOMES.flip),
    days: namedObject('CountedDays', 'The counted days, as columns.', {
      date: dateColumn('Trading day, YYYY-MM-DD, ascending.'),
      at: momentColumn('When the quotes behind the levels were taken, ISO 8601: a value for the argument at.'),
      spot: numberColumn('Spot at that moment, dollars.'),
      deviation: numberColumn(
        'One daily deviation, dollars: spot times atm_iv_30d at that moment, over the square root of 252.',
      ),
      call_wall: numberColumn('Call wall, dollars.'),
      put_wall: numberColumn('Put wall, dollars.'),
      gex_flip: nullableColumn('Gamma flip, dollars; null if it was not resolved.'),
      close: numberColumn('Close of the day, dollars.'),
      spots: columnOf(Type.Integer(), 'Number of spots seen, the close included: times per day.'),
      ...outcomeColumns,
    }),
    sign_convention: signConvention,
    notes: textList('Caveats on the figures.'),
  }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/record', mayLackData: true },
  *run(input, context) {
    const { market } = context;
    const name = market.tracked(input.ticker);
    const period = levelPeriod(name, input.days, market);
    const steps = () => scoredPeriod(name, period, market);
    const tokens = Math.ceil(period.dates.length / RECORD_DAYS);
    const work = { message: 'Reading the levels of each day', tokens, steps };
    // Without a chain of the ticker, nothing holds the cached record.
    const record = yield* records.of(market.findChain(name) ?? {}, period.version, work);
    const notes = [
      ...(record.count > 0 ? [] : ['No day of the period has levels from before its open, a volatility and a close.']),
      ...dueNotes(name, context),
    ];
    const [newest] = market.newestLevels([name]);
    return {
      result: { ...record, notes },
      ...newestProvenance(name, context, [...notes, ...storedMonthNotes(newest)]),
    };
  },
});

/** The record of each chain's ticker that was computed last, without notes. */
const records = new StepCache<object, ScoredPeriod>(() => 1);

type ScoredPeriod = ReturnType<typeof scoredPeriod> extends Steps<infer Result> ? Result : never;

/** Reads the days of a period, and counts the outcomes of their levels. */
function* scoredPeriod(name: string, period: LevelPeriod, market: Market) {
  const { days, leftOut } = yield* readLevelDays(name, period, market);
  const scores = yield* scoreLevels(days);
  return {
    ticker: name,
    from: period.from,
    to: period.to,
    count: days.length,
    left_out: leftOut,
    spots_per_day: days.length > 0 ? days.reduce((sum, { spots }) => sum + spots, 0) / days.length : null,
    call_wall: reportScore(scores.call_wall),
    put_wall: reportScore(scores.put_wall),
    band: reportScore(scores.band),
    flip: reportScore(scores.flip),
    days: {
      date: days.map(({ date }) => date),
      at: days.map(({ levelsAt }) => new Date(levelsAt).toISOString()),
      spot: days.map(({ spot }) => spot),
      deviation: days.map(({ deviation }) => deviation),
      call_wall: days.map(({ callWall }) => callWall),
      put_wall: days.map(({ putWall }) => putWall),
      gex_flip: days.map(({ gexFlip }) => gexFlip),
      close: days.map(({ close }) => close),
      spots: days.map(({ spots }) => spots),
      ...outcomesAsColumns(scores),
    },
    sign_convention: conventionOf({ sign: DEFAULT_SIGN }),
  };
}

export type LevelRecordAnswer = Static<(typeof getLevelRecord)['full']>;

function reportScore({ days, held, touched, crossed, verdict }: LevelScore): Static<ReturnType<typeof score>> {
  return {
    n: days,
    too_few_days: days < DAYS_MIN,
    held: reportRate(held),
    touched: reportRate(touched),
    crossed: reportRate(crossed),
    verdict,
  };
}

function reportRate({ count, share, low, high, control }: OutcomeRate) {
  const percentOf = (value: number | null) => (value === null ? null : 100 * value);
  return {
    count,
    pct: percentOf(share),
    low_pct: percentOf(low),
    high_pct: percentOf(high),
    control_pct: percentOf(control),
  };
}

function outcomesAsColumns(scores: Readonly<Record<LevelKind, LevelScore>>) {
  const columns = LEVEL_KINDS.flatMap((kind) =>
    (['held', 'touched', 'crossed'] as const).map((outcome) => [
      `${kind}_${outcome}`,
      scores[kind].outcomes.map((each) => each?.[outcome] ?? null),
    ]),
  );
  return Object.fromEntries(columns) as Record<OutcomeColumn, (boolean | null)[]>;
}
