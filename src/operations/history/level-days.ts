import type { LevelDay } from '../../analytics/exposure/level-outcomes.ts';
import { dailyMove } from '../../analytics/exposure/whipsaw.ts';
import { byRange } from '../../core/steps.ts';
import {
  addDays,
  closeOf,
  isTradingDay,
  newYorkDate,
  newYorkInstant,
  nextTradingDay,
  openOf,
  previousTradingDay,
} from '../../market/calendar.ts';
import type { Market } from '../../market/market.ts';

/** A trading day whose prices are compared with the levels. */
export interface CountedDay extends LevelDay {
  readonly date: string;
  /** The moment of the levels' snapshot, ms since the epoch. */
  readonly levelsAt: number;
  /** The number of spots seen on the day. This number includes the close. */
  readonly spots: number;
}

/** The trading days of a period, and what their answer depends on. */
export interface LevelPeriod {
  /** First and last date of the period, YYYY-MM-DD. Null if no levels are stored. */
  readonly from: string | null;
  readonly to: string | null;
  /** The trading days before whose open levels are stored, ascending. Only these days can be counted. */
  readonly dates: readonly string[];
  /** Number of earlier trading days of the period. */
  readonly before: number;
  /** The closes that a feed delivered, dollars by date. */
  readonly closes: ReadonlyMap<string, number>;
  /** A text that changes when levels or closes of the period are stored. */
  readonly version: string;
}

/** Returns the period of `days` calendar days that ends on the New York day of the newest levels. */
export function levelPeriod(name: string, days: number, market: Market): LevelPeriod {
  const newest = market.lastLevelsAt(name, Number.MAX_SAFE_INTEGER);
  if (newest === undefined) return { from: null, to: null, dates: [], before: 0, closes: new Map(), version: '' };
  const to = newYorkDate(newest);
  const from = addDays(to, 1 - days);
  const all = tradingDays(from, to);
  const before = firstIndex(all, (date) => market.lastLevelsAt(name, openOf(date) - 1) !== undefined);
  const closes = new Map(market.officialCloses(name, from, to).map(({ date, close }) => [date, close]));
  const sum = closes.values().reduce((total, close) => total + close, 0);
  const version = `${from} ${newest} ${market.levelsVersion(name)} ${closes.size} ${sum}`;
  return { from, to, dates: all.slice(before), before, closes, version };
}

/** Returns the index of the first item with a property that all later items have too. Returns the number of items if none has it. */
function firstIndex<Item>(items: readonly Item[], has: (item: Item) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const half = (from + to) >> 1;
    if (has(items[half]!)) to = half;
    else from = half + 1;
  }
  return from;
}

/** Reads the days of a period with levels, a volatility and a close. Counts the days that are left out for each reason. */
export function* readLevelDays(name: string, { dates, before, closes }: LevelPeriod, market: Market) {
  const counted: CountedDay[] = [];
  const leftOut: Record<LeftOut, number> = { no_levels: before, no_volatility: 0, no_close: 0 };
  yield* byRange(dates.length, DAYS_PER_STEP, 'Reading the levels of each day', (first, end) => {
    for (const date of dates.slice(first, end)) {
      const day = readDay(name, date, closes.get(date), market);
      if (typeof day === 'string') leftOut[day]++;
      else counted.push(day);
    }
  });
  return { days: counted, leftOut };
}

/** The reason why a trading day is left out. */
type LeftOut = 'no_levels' | 'no_volatility' | 'no_close';

/** Number of trading days that one step reads. A day with a snapshot each second takes about 5 ms. */
const DAYS_PER_STEP = 2;

/** Reads a trading day. If the day is left out, returns the reason. `official` is the close of the day, if a feed delivered the close. */
function readDay(name: string, date: string, official: number | undefined, market: Market): CountedDay | LeftOut {
  const [openMs, closeMs] = [openOf(date), closeOf(date)];
  const levelsAt = market.lastLevelsAt(name, openMs - 1);
  // Levels that are older than the previous open are not used, because the price move since then would cover several days.
  if (levelsAt === undefined || levelsAt < openOf(previousTradingDay(date))) return 'no_levels';
  const [levels] = market.levels(name, [levelsAt]);
  if (!levels?.atmIv30d) return 'no_volatility';
  const close = official ?? spotAfter(closeMs, name, date, market);
  if (close === undefined) return 'no_close';
  const seen = market.levelSpots(name, openMs, closeMs - 1);
  return {
    date,
    levelsAt,
    spot: levels.spot,
    deviation: dailyMove(levels.spot, levels.atmIv30d),
    callWall: levels.callWall,
    putWall: levels.putWall,
    gexFlip: levels.flipResolved ? levels.gexFlip : null,
    close,
    seen: [...seen.map(({ spot }) => spot), close],
    spots: seen.reduce((sum, { records }) => sum + records, 1),
  };
}

/** Returns the spot of a day's last snapshot. Returns `undefined` if the last snapshot is from before the close. */
function spotAfter(closeMs: number, name: string, date: string, market: Market): number | undefined {
  const lastAt = market.lastLevelsAt(name, newYorkInstant(addDays(date, 1), '00:00') - 1);
  return lastAt !== undefined && lastAt >= closeMs ? market.levels(name, [lastAt])[0]?.spot : undefined;
}

/** Returns the trading days from `from` to `to`, both included. */
function tradingDays(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = isTradingDay(from) ? from : nextTradingDay(from); day <= to; day = nextTradingDay(day)) days.push(day);
  return days;
}
