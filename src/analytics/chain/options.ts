import { isDate } from '../../market/calendar.ts';

/** How a chain is read. The defaults are Zomma's own; the others reproduce figures that other tools publish. */
export interface AnalysisOptions {
  /** `parity`: the forward the quotes imply; `flat`: spot carried at `rate` and `dividend`. */
  readonly forward: 'parity' | 'flat';
  /** Continuously compounded, decimal per year, where the quotes do not imply one. */
  readonly rate: number;
  readonly dividend: number;
  /** `recomputed` from IV, or the `feed`'s own (rounded) gamma. */
  readonly gamma: 'recomputed' | 'feed';
  /** `otm`: the out-of-the-money side's IV serves call and put, tested against its quote; `own`: each contract's as given. */
  readonly iv: 'otm' | 'own';
  readonly expiries: ExpirySelection;
  /** What a contract counts by. */
  readonly weight: 'open_interest' | 'volume';
}

/** With dealers' side, which is taken once a chain is made ready. */
export interface ReadOptions extends AnalysisOptions {
  readonly sign: SignConvention;
}

/** Dealers long every call and short every put, or the other side of each signed print. */
export type SignConvention = 'calls_long_puts_short' | 'flow';

export const DEFAULT_SIGN: SignConvention = 'calls_long_puts_short';

export type ExpirySelection =
  | { readonly kind: 'all' }
  /** Expiring on the snapshot's own New York day. */
  | { readonly kind: '0dte' }
  | { readonly kind: 'date'; readonly date: string }
  /** Settling within so many days of the snapshot. */
  | { readonly kind: 'next'; readonly days: number };

/** `all`, `0dte`, `YYYY-MM-DD` or `next:N` (days); undefined for anything else. */
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
