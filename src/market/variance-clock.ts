import { memoize } from '../core/cache.ts';
import {
  addDays,
  closeOf,
  daysBetween,
  isTradingDay,
  isWeekend,
  newYorkDate,
  nextTradingDay,
  openOf,
  previousTradingDay,
  YEAR_MS,
} from './calendar.ts';

/** The variance that accrues while the exchange is closed, as a fraction of the variance of a full session (6.5 hours). */
export interface ClockWeights {
  /** The variance from the close of a trading day to the next open. A weekday without trading adds as much again: futures trade on it. */
  readonly night: number;
  /** The variance that each Saturday and each Sunday adds to a night. */
  readonly shutDay: number;
  /** The fit of `night`. Absent if `night` is not fitted. */
  readonly nightFit?: NightFit;
}

/** The data from which the weight of a night is fitted: dates on which options settle both at the open and at the close. */
export interface NightFit {
  /** The number of these dates. */
  readonly pairs: number;
  /** The standard error of the weight. */
  readonly error: number;
}

/** With this value instead of weights, variance accrues evenly over calendar time. Many simulated markets work in this way. */
export const CALENDAR = 'calendar';

/** The weights where a chain determines none. docs/methods/surface.md says where they come from. */
export const DEFAULT_WEIGHTS: ClockWeights = { night: 0.5, shutDay: 0.05 };

/**
 * Measures trading time: sessions have full weight, half days that of their hours, nights and days without trading less. Volatilities per
 * year of trading time do not change over a weekend. An average calendar year is one year of this clock.
 */
export class VarianceClock {
  private readonly perYear: number;
  private readonly gaps: ClockWeights;
  /** The instants at which the exchange opens on the first day and on each later trading day, ms since the epoch. */
  private readonly opens: number[] = [];
  /** The closes of these days, without the last one. */
  private readonly closes: number[] = [];
  /** The number of sessions from the first instant in `opens` to each instant in `opens`. */
  private readonly sums: number[] = [];
  private day: string;
  /** The number of sessions from the open of the first day to the start of the clock. */
  private readonly startSessions: number;

  /** Creates a clock that starts at a given instant, ms since the epoch. */
  constructor(
    readonly startMs: number,
    readonly weights: ClockWeights | typeof CALENDAR = DEFAULT_WEIGHTS,
  ) {
    this.gaps = weights === CALENDAR ? DEFAULT_WEIGHTS : weights;
    const { night, shutDay } = this.gaps;
    this.perYear = SESSIONS_A_YEAR + NIGHTS_A_YEAR * night + WEEKEND_DAYS_A_YEAR * shutDay;
    const date = newYorkDate(startMs);
    this.day = isTradingDay(date) && startMs >= tradingDay(date).open ? date : previousTradingDay(date);
    this.opens.push(tradingDay(this.day).open);
    this.sums.push(0);
    this.startSessions = this.sessionsTo(startMs);
  }

  /** Returns the years of trading time from the start of the clock to an instant. The instant must not be before the start. */
  years(atMs: number): number {
    if (this.weights === CALENDAR) return (atMs - this.startMs) / YEAR_MS;
    // More than ten years after the start, variance accrues evenly over calendar time. Without this limit, a corrupt expiry in the year
    // 9999 would make the clock count three million days.
    const near = Math.min(atMs, this.startMs + SESSIONS_KNOWN_MS);
    return this.sessions(near) / this.perYear + (atMs - near) / YEAR_MS;
  }

  /** Returns the number of sessions from the start of the clock to an instant within ten years, linear in the weights. */
  sessions(atMs: number): number {
    return this.sessionsTo(atMs) - this.startSessions;
  }

  /** Returns the number of sessions from the open of the first day to an instant. */
  private sessionsTo(atMs: number): number {
    while (this.opens.at(-1)! <= atMs) this.extend();
    let [low, high] = [0, this.opens.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.opens[middle]! <= atMs) low = middle;
      else high = middle;
    }
    const [from, to] = [this.opens[low]!, this.opens[low + 1]!];
    const close = this.closes[low]!;
    const session = (close - from) / SESSION_MS;
    const gap = this.sums[low + 1]! - this.sums[low]! - session;
    const open = (Math.min(atMs, close) - from) / SESSION_MS;
    return this.sums[low]! + open + gap * (Math.max(0, atMs - close) / (to - close));
  }

  /** Appends the open of the next trading day. */
  private extend(): void {
    const { open, close, next, nights, weekendDays } = tradingDay(this.day);
    const gap = nights * this.gaps.night + weekendDays * this.gaps.shutDay;
    this.sums.push(this.sums.at(-1)! + (close - open) / SESSION_MS + gap);
    this.opens.push(tradingDay(next).open);
    this.closes.push(close);
    this.day = next;
  }
}

/** The period of ten years in which the clock counts sessions one by one. */
const SESSIONS_KNOWN_MS = 10 * YEAR_MS;
const SESSION_MS = 6.5 * 3_600_000;
/** An average year has 251.3 trading days, of which two or three are half days, and about 9.6 weekdays without trading. */
const SESSIONS_A_YEAR = 250.2;
const NIGHTS_A_YEAR = 251.3 + 9.6;
const WEEKEND_DAYS_A_YEAR = 365.25 - NIGHTS_A_YEAR;

/** Maximum number of cached trading days. `Temporal` takes microseconds per instant. A volatility surface needs three years of days. */
const DAYS_CACHED_MAX = 10_000;

const tradingDay = memoize(DAYS_CACHED_MAX, (date: string) => {
  const next = nextTradingDay(date);
  const shut = Array.from({ length: daysBetween(date, next) - 1 }, (_, i) => addDays(date, i + 1));
  const weekendDays = shut.filter(isWeekend).length;
  return { open: openOf(date), close: closeOf(date), next, nights: 1 + shut.length - weekendDays, weekendDays };
});
