import { closeOf, isHalfDay, isTradingDay, newYorkDate, nextTradingDay, openOf, weekdayOf } from './calendar.ts';

/** The present session of the New York Stock Exchange, or the next session if the exchange is closed. */
export interface TradingSession {
  readonly state: 'open' | 'closed';
  /** The reason why the exchange is closed, which is `night` on a trading day. Null if the exchange is open. */
  readonly reason: 'night' | 'weekend' | 'holiday' | null;
  /** The time at which the session opens or has opened, ms since the epoch. */
  readonly opensAt: number;
  /** The time at which the session closes, ms since the epoch. */
  readonly closesAt: number;
  /** Whether the session closes at 13:00. */
  readonly isHalfDay: boolean;
}

/** Returns the present or next session at an instant, ms since the epoch. A session includes its open and excludes its close. */
export function tradingSession(nowMs: number): TradingSession {
  const today = newYorkDate(nowMs);
  const day = isTradingDay(today) && nowMs < closeOf(today) ? today : nextTradingDay(today);
  const opensAt = openOf(day);
  const isOpen = nowMs >= opensAt;
  return {
    state: isOpen ? 'open' : 'closed',
    reason: isOpen ? null : closedReason(today),
    opensAt,
    closesAt: closeOf(day),
    isHalfDay: isHalfDay(day),
  };
}

function closedReason(date: string): 'night' | 'weekend' | 'holiday' {
  if (isTradingDay(date)) return 'night';
  const weekday = weekdayOf(date);
  return weekday === 0 || weekday === 6 ? 'weekend' : 'holiday';
}
