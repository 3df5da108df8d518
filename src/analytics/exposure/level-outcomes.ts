import { byRange, type Steps } from '../../core/steps.ts';
import { firstAtLeast } from './strike-index.ts';

/** The levels known before a trading day opened, and the prices of the day, in dollars. */
export interface LevelDay {
  /** The spot from which the levels were computed. */
  readonly spot: number;
  readonly callWall: number;
  readonly putWall: number;
  /** The gamma flip, or null if it was not resolved. */
  readonly gexFlip: number | null;
  /** The standard deviation of the day's price move, implied by the options, above 0. */
  readonly deviation: number;
  readonly close: number;
  /** The recorded spots between the open and the close, and the close itself, in any order. */
  readonly seen: readonly number[];
}

/** The levels whose outcomes are counted. `band` is the range from the put wall to the call wall. */
export const LEVEL_KINDS = ['call_wall', 'put_wall', 'band', 'flip'] as const;
export type LevelKind = (typeof LEVEL_KINDS)[number];

/** The outcome of a level on one day. */
export interface LevelOutcome {
  /** The close did not go beyond the level. */
  readonly held: boolean;
  /** At least one recorded spot was within `TOUCH_DEVIATIONS` of the level. */
  readonly touched: boolean;
  /** At least one recorded spot was beyond the level. */
  readonly crossed: boolean;
}

/** The observed frequency of an outcome. Shares are between 0 and 1, or null if there are fewer than `DAYS_MIN` days. */
export interface OutcomeRate {
  readonly count: number;
  readonly share: number | null;
  /** The 95 % Wilson interval of `share`. */
  readonly low: number | null;
  readonly high: number | null;
  /** The expected share for a random level at the same distance. */
  readonly control: number | null;
}

export interface LevelScore {
  /** Number of days with this level. */
  readonly days: number;
  readonly held: OutcomeRate;
  readonly touched: OutcomeRate;
  readonly crossed: OutcomeRate;
  /** The result of comparing the level with control levels, in words. */
  readonly verdict: ReturnType<typeof verdictOf>;
  /** The outcome of the level on each given day. Null for a day without this level. */
  readonly outcomes: readonly (LevelOutcome | null)[];
}

/** A spot touches a level if their distance is at most this number of daily standard deviations. */
export const TOUCH_DEVIATIONS = 0.1;
/** `TOUCH_DEVIATIONS` with a margin for rounding errors. */
const REACH = TOUCH_DEVIATIONS + 1e-9;
/** No rates are given for fewer days than `DAYS_MIN`, because their confidence intervals would be too wide to be useful. */
export const DAYS_MIN = 20;

type Counts = [held: number, touched: number, crossed: number];

/** The number of pairs of days that one step compares, in about 2 ms. */
const STEP_PAIRS = 16_384;

/**
 * Counts how often each level was held, touched and crossed, and the same for control levels: a level moved to another day, as many daily
 * deviations from spot. If levels are unrelated to the moves of their days, both have the same expected shares.
 */
export function* scoreLevels(days: readonly LevelDay[]): Steps<Record<LevelKind, LevelScore>> {
  const moves = days.map(moveOf);
  const scores: Partial<Record<LevelKind, LevelScore>> = {};
  for (const kind of LEVEL_KINDS) {
    const corridors = days.map((day) => corridorOf(kind, day));
    const own: Counts = [0, 0, 0];
    /** For each outcome, a sum over all days. A day adds the share of the other days on which its level has the outcome. */
    const control: Counts = [0, 0, 0];
    yield { message: 'Comparing levels with levels at the same distance' };
    yield* byRange(days.length, Math.max(1, Math.floor(STEP_PAIRS / days.length)), 'Comparing levels', (from, to) => {
      for (let day = from; day < to; day++) {
        const corridor = corridors[day];
        if (!corridor) continue;
        countOutcome(own, moves[day]!, corridor);
        const others: Counts = [0, 0, 0];
        for (let other = 0; other < moves.length; other++) {
          if (other !== day) countOutcome(others, moves[other]!, corridor);
        }
        for (const [i, count] of others.entries()) control[i]! += count / (days.length - 1);
      }
    });
    scores[kind] = scoreOf(own, control, corridors, moves);
  }
  return scores as Record<LevelKind, LevelScore>;
}

/** The prices of a day, as distances from `spot`, in daily deviations. */
interface Move {
  readonly close: number;
  readonly low: number;
  readonly high: number;
  /** Ascending. */
  readonly seen: Float64Array;
}

/** The range of prices that are not beyond a level, in the unit of `Move`. One end of the range may be infinite. */
type Corridor = Readonly<{ lower: number; upper: number }>;

function moveOf(day: LevelDay): Move {
  const distance = distancesOf(day);
  const seen = Float64Array.from(day.seen, distance).sort();
  return { close: distance(day.close), low: seen[0]!, high: seen.at(-1)!, seen };
}

function distancesOf({ spot, deviation }: LevelDay): (price: number) => number {
  return (price) => (price - spot) / deviation;
}

function corridorOf(kind: LevelKind, day: LevelDay): Corridor | null {
  const { spot, callWall, putWall, gexFlip } = day;
  const distance = distancesOf(day);
  const [below, above] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  switch (kind) {
    case 'call_wall':
      return { lower: below, upper: distance(callWall) };
    case 'put_wall':
      return { lower: distance(putWall), upper: above };
    case 'band':
      return { lower: distance(putWall), upper: distance(callWall) };
    case 'flip':
      if (gexFlip === null) return null;
      return gexFlip >= spot ? { lower: below, upper: distance(gexFlip) } : { lower: distance(gexFlip), upper: above };
  }
}

/** Adds 1 to the count of each outcome that `move` has for the corridor. */
function countOutcome(counts: Counts, move: Move, { lower, upper }: Corridor): void {
  const { close, low, high } = move;
  if (close >= lower && close <= upper) counts[0]++;
  if (isTouched(move, lower) || isTouched(move, upper)) counts[1]++;
  if (low < lower || high > upper) counts[2]++;
}

function outcomeOf(move: Move, corridor: Corridor): LevelOutcome {
  const counts: Counts = [0, 0, 0];
  countOutcome(counts, move, corridor);
  const [held, touched, crossed] = counts;
  return { held: held === 1, touched: touched === 1, crossed: crossed === 1 };
}

/** Returns whether at least one recorded spot is within `TOUCH_DEVIATIONS` of a level. */
function isTouched({ low, high, seen }: Move, level: number): boolean {
  if (level < low - REACH || level > high + REACH) return false;
  const first = firstAtLeast(seen, level - REACH);
  return first < seen.length && seen[first]! <= level + REACH;
}

function scoreOf(
  own: Counts,
  control: Counts,
  corridors: readonly (Corridor | null)[],
  moves: readonly Move[],
): LevelScore {
  const days = corridors.filter((each) => each !== null).length;
  const rate = (outcome: 0 | 1 | 2) => rateOf(own[outcome], days, control[outcome]);
  const [held, touched, crossed] = [rate(0), rate(1), rate(2)];
  const outcomes = corridors.map((corridor, day) => corridor && outcomeOf(moves[day]!, corridor));
  return { days, held, touched, crossed, verdict: verdictOf(held), outcomes };
}

function rateOf(count: number, days: number, controlSum: number): OutcomeRate {
  if (days < DAYS_MIN) return { count, share: null, low: null, high: null, control: null };
  const [low, high] = wilsonInterval(count, days);
  return { count, share: count / days, low, high, control: controlSum / days };
}

/** The 97.5 % quantile of the standard normal distribution. */
const Z_95 = 1.959964;

/** Returns the 95 % Wilson score interval of the share `count` / `of`. Both ends of the interval are between 0 and 1. */
export function wilsonInterval(count: number, of: number): [low: number, high: number] {
  const [share, square] = [count / of, (Z_95 * Z_95) / of];
  const middle = share + square / 2;
  const half = Math.sqrt(square * (share * (1 - share) + square / 4));
  // The two conditions avoid rounding errors: the lower end is exactly 0 for a share of 0, and the upper end is exactly 1 for a share of 1.
  return [count === 0 ? 0 : (middle - half) / (1 + square), count === of ? 1 : (middle + half) / (1 + square)];
}

function verdictOf({ low, high, control }: OutcomeRate) {
  if (low === null || high === null || control === null) return 'too few days';
  if (control < low) return 'held more often than a level at the same distance';
  return control > high ? 'held less often than a level at the same distance' : 'no better than distance';
}
