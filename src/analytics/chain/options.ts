import { isDate } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';

/** The options of an analysis. The defaults select Zomma's own methods. Other values reproduce the figures that other tools publish. */
export interface AnalysisOptions {
  /** `parity`: the forward that the quotes imply. `flat`: spot carried at `rate` and `dividend`. */
  readonly forward: 'parity' | 'flat';
  /** The interest rate that is used if the quotes imply no interest rate. Continuously compounded, decimal per year. */
  readonly rate: number;
  /** The dividend yield that is used if the quotes imply no forward. Continuous, decimal per year. */
  readonly dividend: number;
  /** `recomputed`: gamma computed from the IV. `feed`: the gamma of the feed, which is rounded. */
  readonly gamma: 'recomputed' | 'feed';
  /**
   * `otm`: the call and the put of a strike get the IV that the out-of-the-money quote implies. `feed`: the call and the put of a strike
   * get the feed's IV of the out-of-the-money contract. `feed` works like `otm` if the model price at the feed's IV is more than one tick
   * outside a two-sided quote. `own`: each contract gets the IV that the feed gives for it.
   */
  readonly iv: 'otm' | 'feed' | 'own';
  readonly expiries: ExpirySelection;
  /** Selects whether open interest or volume weights the contracts in the figures. */
  readonly weight: 'open_interest' | 'volume';
  /** Known cash dividends with future ex-dates. Only figures for the coming day use dividends, because forwards come from the quotes. */
  readonly cashDividends: readonly CashDividend[];
}

/** The options of an analysis, with the convention for the dealer sign. */
export interface ChainReadOptions extends AnalysisOptions {
  readonly sign: SignConvention;
}

/**
 * The assumed position of the dealers. `calls_long_puts_short`: long every call and short every put. `flow`: in each print with a known
 * side, dealers take the opposite side of the customers.
 */
export type SignConvention = 'calls_long_puts_short' | 'flow';

export const DEFAULT_SIGN: SignConvention = 'calls_long_puts_short';

/** The series that an analysis uses. */
export type ExpirySelection =
  | { readonly kind: 'all' }
  /** Series that expire on the New York day of the snapshot. */
  | { readonly kind: '0dte' }
  | { readonly kind: 'date'; readonly date: string }
  /** Series that settle up to the close of the session that is open at the snapshot, or else of the next one. */
  | { readonly kind: 'session' }
  /** Series that settle within `days` days of the snapshot. */
  | { readonly kind: 'next'; readonly days: number };

/** Parses `all`, `0dte`, `session`, `YYYY-MM-DD` or `next:N` (N days). Returns `undefined` for any other text. */
export function parseExpiries(text: string): ExpirySelection | undefined {
  if (text === 'all' || text === '0dte' || text === 'session') return { kind: text };
  const next = /^next[: ]?(\d{1,4})$/.exec(text);
  if (next) return { kind: 'next', days: Number(next[1]) };
  return isDate(text) ? { kind: 'date', date: text } : undefined;
}

export const DEFAULT_OPTIONS: AnalysisOptions = {
  forward: 'parity',
  rate: 0.04,
  dividend: 0,
  gamma: 'recomputed',
  iv: 'otm',
  expiries: { kind: 'all' },
  weight: 'open_interest',
  cashDividends: [],
};
