import { memoize } from '../core/cache.ts';
import {
  closeOf,
  daysBetween,
  isTradingDay,
  newYorkDate,
  nextTradingDay,
  openOf,
  previousTradingDay,
  YEAR_MS,
} from './calendar.ts';

/** The variance that accrues while the exchange is closed, as a fraction of the variance of a full session (6.5 hours). */
export interface ClockWeights {
  /** The variance from the close of a trading day to the open of the next day. */
  readonly night: number;
  /** The variance that each day without trading adds to a night. */
  readonly shutDay: number;
}

/** With this value instead of weights, variance accrues evenly over calendar time. Many simulated markets work in this way. */
export const CALENDAR = 'calendar';

/** In option prices, a day without trading has 0 to 0.12 times the variance of a session. */
export const DEFAULT_WEIGHTS: ClockWeights = { night: 0.15, shutDay: 0.05 };

/**
 * Measures trading time: sessions have full weight, half days that of their hours, nights and days without trading little. Volatilities per
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
    this.perYear = SESSIONS_A_YEAR + TRADING_DAYS_A_YEAR * night + (DAYS_A_YEAR - TRADING_DAYS_A_YEAR) * shutDay;
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
    const { open, close, next, shutDays } = tradingDay(this.day);
    const { night, shutDay } = this.gaps;
    this.sums.push(this.sums.at(-1)! + (close - open) / SESSION_MS + night + shutDays * shutDay);
    this.opens.push(tradingDay(next).open);
    this.closes.push(close);
    this.day = next;
  }
}

/** The period of ten years in which the clock counts sessions one by one. */
const SESSIONS_KNOWN_MS = 10 * YEAR_MS;
const SESSION_MS = 6.5 * 3_600_000;
const DAYS_A_YEAR = 365.25;
/** An average year has 104.36 days of weekends and about 9.6 holidays on weekdays. Two or three trading days of a year are half days. */
const TRADING_DAYS_A_YEAR = 251.3;
const SESSIONS_A_YEAR = 250.2;

/** Maximum number of cached trading days. `Temporal` takes microseconds per instant. A volatility surface needs three years of days. */
const DAYS_CACHED_MAX = 10_000;

const tradingDay = memoize(DAYS_CACHED_MAX, (date: string) => {
  const next = nextTradingDay(date);
  return { open: openOf(date), close: closeOf(date), next, shutDays: daysBetween(date, next) - 1 };
});
