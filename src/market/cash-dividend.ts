import { newYorkInstant } from './calendar.ts';

/** A cash dividend of an underlying, as it was known from a moment on. The ex-date of the dividend may be in the future. */
export interface CashDividend {
  readonly ticker: string;
  /** The first trading day on which a buyer of the share does not receive the dividend, `YYYY-MM-DD`. */
  readonly exDate: string;
  /** Dollars per share. */
  readonly amount: number;
  /** The certainty of the dividend, in the source's words, for example `declared`. Null if the source does not state the certainty. */
  readonly status: string | null;
  /** The moment from which the dividend was known with this amount and status, ms since the epoch. Analyses of earlier snapshots ignore it. */
  readonly knownFrom: number;
  readonly simulated: boolean;
}

/** Returns the instant when the session of an ex-date (`YYYY-MM-DD`) opens. From then on, the price excludes the dividend. */
export function exInstant(exDate: string): number {
  return newYorkInstant(exDate, '09:30');
}
