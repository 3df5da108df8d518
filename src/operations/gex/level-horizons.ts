import type { Static } from '@sinclair/typebox';
import { gexBySeries } from '../../analytics/exposure/gex-by-series.ts';
import type { LevelSet } from '../../analytics/exposure/gex-levels.ts';
import { HORIZON_DAYS, type HorizonLevels } from '../../analytics/exposure/horizons.ts';
import { type WallStrength, wallStrengths } from '../../analytics/exposure/wall-strength.ts';
import type { FittedSurface } from '../../analytics/surface/fitted-surface.ts';
import type { Steps } from '../../core/steps.ts';
import { iso, newYorkDate, openOf, sessionEnd } from '../../market/calendar.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { defineOperation } from '../engine/operation.ts';
import { count, dateField, momentField, namedObject, number, objectOf } from '../engine/schemas.ts';
import { nullable, numberOrNull, textList } from '../engine/wrapped-schemas.ts';
import { chainInput, optionsOf } from '../reading/analysis-options.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { conventionOf, flowSignNotes, signConvention } from '../reading/dealer-sign.ts';
import {
  headFields,
  levelsByHorizonOf,
  levelsOf,
  type MarketReading,
  openInterestNotes,
  provenanceOf,
  readMarketAs,
  reportHead,
} from '../reading/market-reading.ts';
import { touchOdds } from '../reading/touch-odds.ts';
import { MILLION } from './gex-report.ts';
import { variantFields, variantSchema } from './level-variants.ts';

/** The longer of the two periods for which the odds of a touch are given, sessions. */
const SESSIONS = 5;

const wallOdds = (which: string) =>
  namedObject('WallOdds', `How near, how likely to be touched and how firm the ${which} wall is.`, {
    strike: number('The wall, dollars.'),
    distance_sd: numberOrNull('Distance from spot as a multiple of session_move; null if session_move is null.'),
    touch_1_session: numberOrNull(
      'Probability that the price touches the wall by session_ends_at, risk-neutral, 0 to 1; null without a surface.',
    ),
    touch_5_sessions: numberOrNull('The same by five_sessions_end_at, 0 to 1; null without a surface.'),
    wall_lead_pct: numberOrNull(
      'Gamma by which the wall exceeds the second strike of its side, percent of its gamma; null if no strike is on its side.',
    ),
    wall_stability: numberOrNull(
      "Probability that the wall stays at its strike when the day's turnover is in open interest, 0 to 1; null if the chain has no " +
        'volumes, or contracts are not weighted by open interest.',
    ),
  });

const levelsOfHorizon = namedObject('LevelsOfHorizon', undefined, {
  series: count('Rows of `series` that settle within the horizon: series of a root and an expiry.'),
  last_settlement: momentField('When the last of them settles, ISO 8601.'),
  gross_share_pct: number('Gross gamma of the horizon, percent of the gross gamma of all selected expiries.'),
  ...variantSchema,
  max_pain: number('Strike at which the options of the dominant expiry of the horizon pay out least, dollars.'),
  expiry: dateField('Dominant expiry of the horizon, YYYY-MM-DD.'),
  call: wallOdds('call'),
  put: wallOdds('put'),
});

const NULL_SET = 'null if no call or no put with gamma settles within it';

/** The fields of the levels by horizon. */
const horizonFields = {
  session_ends_at: momentField('Close of the session that is open at the quotes, or else of the next one, ISO 8601.'),
  five_sessions_end_at: momentField('Close of the fifth session, that of session_ends_at being the first, ISO 8601.'),
  session_move: numberOrNull(
    'One standard deviation of the price over a whole session, by the surface at the money, dollars: from the quotes to the same time ' +
      'of the next session, or to session_ends_at if no session is open; null without a surface.',
  ),
  '35d': nullable(levelsOfHorizon, `Levels of the options that settle within ${HORIZON_DAYS} days; ${NULL_SET}.`),
  session: nullable(levelsOfHorizon, `Levels of the options that settle up to session_ends_at; ${NULL_SET}.`),
  all: { ...levelsOfHorizon, description: 'Levels of all selected expiries.' },
  notes: textList('Caveats: which levels are null, and how much of the turnover wall_stability knows.'),
};

export const levelsByHorizon = namedObject(
  'LevelsByHorizon',
  'The levels of the coming session, of 35 days and of all selected expiries, and how near and how firm their walls are.',
  horizonFields,
);

export const getGexHorizons = defineOperation({
  name: 'get_gex_horizons',
  ofMarket: true,
  title: 'GEX levels by horizon',
  page: 'ticker',
  description:
    'The GEX levels of three sets of options: those that settle by the end of the session, within 35 days, and all. With the distance of ' +
    'each wall in standard deviations of a session, the odds to touch it within one and five sessions, its lead over the second strike, ' +
    'and how likely it stays at its strike overnight. Dealers are assumed long calls and short puts. Dollars.',
  example: { ticker: 'SPY' },
  input: chainInput,
  full: objectOf({ ...headFields, ...horizonFields, sign_convention: signConvention }),
  rest: { method: 'GET', path: '/api/v1/nodes/gex/{ticker}/horizons' },
  *run(input, context) {
    const reading = yield* readMarketAs(optionsOf(input), input.ticker, context);
    const { chain, prepared } = reading;
    const horizons = yield* horizonsOf(reading);
    return {
      result: { ...reportHead(chain), ...horizons, sign_convention: conventionOf(prepared) },
      provenance: provenanceOf(chain, context, [
        ...openInterestNotes(chain),
        ...horizons.notes,
        ...flowSignNotes(prepared),
      ]),
    };
  },
});

export type Horizons = Static<typeof levelsByHorizon>;
export type WallOdds = Horizons['all']['call'];

/** Computes the levels of each horizon of a market reading, and the odds and the firmness of their walls. */
export function* horizonsOf(reading: MarketReading): Steps<Horizons> {
  const { chain, prepared } = reading;
  const { asOf, spot } = chain;
  const whole: HorizonLevels = { ...(yield* levelsOf(reading)), prepared };
  const { session, '35d': month } = yield* levelsByHorizonOf(reading);
  const surface = yield* surfaceOfPrepared(prepared);
  const move = surface.hasLaws ? spot * Math.sqrt(surface.lawAt(sessionAhead(asOf)).atmVariance) : null;
  const reports = new Map<HorizonLevels, Horizons['all']>();
  const report = function* (levels: HorizonLevels): Steps<Horizons['all']> {
    const known = reports.get(levels);
    if (known) return known;
    const strengths = yield* wallStrengths(levels.prepared);
    const odds = function* (which: 'call' | 'put') {
      return yield* reportWall(levels.walls[which].strike, strengths[which], surface, move, asOf);
    };
    const { grossOfAll } = gexBySeries(prepared);
    const { exposures, dominant, maxPain } = levels;
    const { series } = levels.prepared;
    const reported = {
      series: series.length,
      last_settlement: iso(series.at(-1)!.series.settlesAt),
      gross_share_pct: grossOfAll > 0 ? Math.min(100, (100 * exposures.grossGex) / grossOfAll) : 0,
      ...variantFields(levels),
      max_pain: maxPain,
      expiry: dominant.series.expiry,
      call: yield* odds('call'),
      put: yield* odds('put'),
    };
    reports.set(levels, reported);
    return reported;
  };
  const horizons = {
    session_ends_at: iso(sessionEnd(asOf)),
    five_sessions_end_at: iso(sessionEnd(asOf, SESSIONS)),
    session_move: move,
    '35d': month && (yield* report(month)),
    session: session && (yield* report(session)),
    all: yield* report(whole),
  };
  return { ...horizons, notes: horizonNotes(asOf, horizons) };
}

function* reportWall(
  strike: number,
  { leadPct, stability }: WallStrength,
  surface: FittedSurface,
  move: number | null,
  asOf: number,
): Steps<WallOdds> {
  const touch = function* (sessions: number) {
    return surface.hasLaws ? yield* touchOdds(surface, strike, sessionEnd(asOf, sessions)) : null;
  };
  return {
    strike,
    distance_sd: move === null ? null : Math.abs(strike - surface.spot) / move,
    touch_1_session: yield* touch(1),
    touch_5_sessions: yield* touch(SESSIONS),
    wall_lead_pct: leadPct,
    wall_stability: stability,
  };
}

/** Returns the end of a whole session ahead: during a session the same time of the next session, else the close of the next session. */
function sessionAhead(asOf: number): number {
  const end = sessionEnd(asOf);
  return isOpen(asOf) ? sessionEnd(asOf, 2) - (end - asOf) : end;
}

function isOpen(asOf: number): boolean {
  return asOf >= openOf(newYorkDate(sessionEnd(asOf)));
}

/** Returns caveats on the levels by horizon: which are missing, and how much of the day's turnover `wall_stability` knows. */
function horizonNotes(asOf: number, horizons: Omit<Horizons, 'notes'>): string[] {
  const { session_ends_at, session, '35d': month, all } = horizons;
  const missing = [
    ...(session ? [] : [`by the end of the session, ${session_ends_at}: session`]),
    ...(month ? [] : [`within ${HORIZON_DAYS} days: 35d`]),
  ].map((which) => `No call or no put with gamma settles ${which} is null.`);
  const hasStability = [all.call, all.put].some(({ wall_stability }) => wall_stability !== null);
  return [
    ...missing,
    ...(hasStability && isOpen(asOf)
      ? ['The session is open: wall_stability counts the turnover up to the quotes, and falls as more is traded.']
      : []),
  ];
}

/** The figures of two sets of levels that are compared. */
type Compared = Pick<LevelRecord, 'netGex' | 'callWall' | 'putWall'>;

/** Returns the figures of computed levels for `monthNotes`. */
export function comparedLevels({ exposures, walls }: LevelSet): Compared {
  return { netGex: exposures.gex, callWall: walls.call.strike, putWall: walls.put.strike };
}

/** Returns a note on levels of all expiries if those of 35 days differ in the sign of net GEX or in a wall. */
export function monthNotes(all: Compared, month: Compared | null): string[] {
  const which = `Levels are of all expiries. Those of the next ${HORIZON_DAYS} days differ`;
  return month ? differenceNotes(which, all, month) : [];
}

/** Returns a note on levels of 35 days if those of all expiries, of which the friction is, differ in the sign of net GEX or in a wall. */
export function wholeNotes(all: Compared, month: Compared): string[] {
  return differenceNotes(`Levels are of the next ${HORIZON_DAYS} days. Those of all expiries differ`, month, all);
}

function differenceNotes(which: string, shown: Compared, other: Compared): string[] {
  const differences = [
    Math.sign(shown.netGex) === Math.sign(other.netGex)
      ? []
      : `net GEX ${Number((other.netGex / MILLION).toPrecision(3))} million dollars per 1 % move`,
    shown.callWall === other.callWall ? [] : `call wall ${other.callWall}`,
    shown.putWall === other.putWall ? [] : `put wall ${other.putWall}`,
  ].flat();
  return differences.length === 0 ? [] : [`${which}: ${differences.join(', ')}.`];
}

/** Returns the note of `monthNotes` for stored levels. */
export function storedMonthNotes(levels: LevelRecord | undefined): string[] {
  return levels ? monthNotes(levels, levels.byHorizon['35d']) : [];
}
