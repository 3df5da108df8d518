import { isDate } from '../../market/calendar.ts';

/** How a chain is analysed. The defaults are Zomma's own. The other values reproduce figures that other tools publish. */
export interface AnalysisOptions {
  /** `parity`: the forward that the quotes imply. `flat`: spot carried at `rate` and `dividend`. */
  readonly forward: 'parity' | 'flat';
  /** Continuously compounded, decimal per year. Used if the quotes do not imply a rate. */
  readonly rate: number;
  readonly dividend: number;
  /** `recomputed` from IV, or the `feed`'s own (rounded) gamma. */
  readonly gamma: 'recomputed' | 'feed';
  /** `otm`: call and put share the IV of the out-of-the-money side, checked against its quote. `own`: each contract has the feed's IV. */
  readonly iv: 'otm' | 'own';
  readonly expiries: ExpirySelection;
  /** The figure that weights a contract. */
  readonly weight: 'open_interest' | 'volume';
}

/** The options with the dealers' sign, which is applied after a chain is prepared. */
export interface ChainReadOptions extends AnalysisOptions {
  readonly sign: SignConvention;
}

/** Dealers are long every call and short every put, or on the opposite side of each signed print. */
export type SignConvention = 'calls_long_puts_short' | 'flow';

export const DEFAULT_SIGN: SignConvention = 'calls_long_puts_short';

export type ExpirySelection =
  | { readonly kind: 'all' }
  /** Expiring on the snapshot's own New York day. */
  | { readonly kind: '0dte' }
  | { readonly kind: 'date'; readonly date: string }
  /** Settling within `days` days of the snapshot. */
  | { readonly kind: 'next'; readonly days: number };

/** Parses `all`, `0dte`, `YYYY-MM-DD` or `next:N` (days). Returns `undefined` for anything else. */
export function parseExpiries(text: string): ExpirySelection | undefined {
  if (text === 'all' || text === '0dte') return { kind: text };
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
};
