/** A cash dividend of an underlying. The ex-date of the dividend may be in the future. */
export interface CashDividend {
  readonly ticker: string;
  /** The first trading day on which a buyer of the share does not receive the dividend, `YYYY-MM-DD`. */
  readonly exDate: string;
  /** Dollars per share. */
  readonly amount: number;
  /** The certainty of the dividend, in the source's words, for example `declared`. Null if the source does not state the certainty. */
  readonly status: string | null;
  readonly simulated: boolean;
}
