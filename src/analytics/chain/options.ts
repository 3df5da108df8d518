import { isDate } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import { isIndexRoot } from '../../market/option-symbol.ts';

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
  /**
   * The skew-stickiness ratio (Bergomi 2009), 0 to 2.5, by which the flip, the profile and the hedging over moves shift each smile with spot: 1
   * leaves every strike its volatility, and 0 every ratio of strike to spot (see `smileMover`).
   */
  readonly ssr: number;
  /** Known cash dividends with future ex-dates. Only figures for the coming day use dividends, because forwards come from the quotes. */
  readonly cashDividends: readonly CashDividend[];
}

/** The options of an analysis, with the convention for the dealer sign. */
export interface ChainReadOptions extends AnalysisOptions {
  readonly sign: SignConvention;
}

/**
 * The assumed position of the dealers. `calls_long_puts_short`: long every call and short every put. `short_both`, `long_both`: short or long
 * every option. `flow`: in each print with a known side, dealers take the opposite side of the customers.
 */
export type SignConvention = AssumedSign | 'flow';
export type AssumedSign = 'calls_long_puts_short' | 'short_both' | 'long_both';

export const DEFAULT_SIGN = 'calls_long_puts_short' as const satisfies AssumedSign;

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
  ssr: 1,
  cashDividends: [],
};

/** The ratios that `sticky_strike` and `sticky_moneyness` mean, and the largest ratio. */
const STICKY = { sticky_strike: 1, sticky_moneyness: 0 } as const;
export const SSR_MAX = 2.5;
/** The ratio that `ssr` means without a number: of index options from a month to a few years (Bergomi 2016), and sticky strike of a stock. */
const SSR_OF_INDEX = 1.5;

/** Returns the ratio that `ssr` means for an underlying. */
export function usualSsr(underlying: string): number {
  return isIndexRoot(underlying) ? SSR_OF_INDEX : STICKY.sticky_strike;
}

/** Parses `sticky_strike`, `sticky_moneyness`, `ssr` or `ssr=R` with a ratio R from 0 to 2.5. Returns `undefined` for any other text. */
export function parseSmileDynamics(text: string, underlying: string): number | undefined {
  if (text === 'sticky_strike' || text === 'sticky_moneyness') return STICKY[text];
  if (text === 'ssr') return usualSsr(underlying);
  const ratio = /^ssr=(\d(?:\.\d{1,6})?)$/.exec(text)?.[1];
  return ratio !== undefined && Number(ratio) <= SSR_MAX ? Number(ratio) : undefined;
}
