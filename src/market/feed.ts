import type { CashDividend } from './cash-dividend.ts';
import type { Chain } from './chain.ts';
import type { Close, Print } from './prints.ts';

/**
 * A source of market data. A feed parses and validates the data of its source. The feed delivers valid data, and rejections with their
 * reasons.
 */
export interface Feed {
  /** Kind of source: `simulated`, `files`, `cboe`, ... At most one feed of each kind runs. */
  readonly name: string;
  readonly simulated: boolean;
  readonly pace: Pace;
  /** Tickers that each poll requests. Empty if the feed does not request tickers but takes everything that its source has. */
  readonly tickers: readonly string[];
  /**
   * Yields the data that is new since the last poll. The first poll yields all data that the source has. `nowMs` is the wall clock. Ends
   * early, without an error, once `signal` is aborted. Errors of the source are delivered as rejections and never thrown.
   */
  poll(nowMs: number, signal?: AbortSignal): AsyncIterable<Delivery>;
  /** Yields the data that the source sends without a request, until `signal` is aborted. Reconnects if the connection is lost. */
  stream?(signal: AbortSignal): AsyncIterable<Delivery>;
}

/** Returns whether a feed works without a network: it is simulated, or it does not request tickers. */
export function isLocal({ simulated, tickers }: Feed): boolean {
  return simulated || tickers.length === 0;
}

/** The times at which a source is polled. */
export interface Pace {
  /** Time between two polls, ms. */
  readonly everyMs: number;
  /** `session`: only in trading hours. `always`: at all times. */
  readonly hours: 'always' | 'session';
  /**
   * By how much the quotes of the source are delayed, ms. The hours in which the feed polls are shifted by this delay, so that it still
   * polls the quotes of the close.
   */
  readonly delayMs: number;
}

/** One delivery of a feed: market data, a rejection, a change of its connection or a checkpoint. */
export type Delivery =
  /** A snapshot. `offered` is the number of contracts that the source listed, usable or not. */
  | { readonly kind: 'chain'; readonly chain: Chain; readonly offered?: number }
  /** Prints. `refused` is the number of other rows that were rejected, by reason. */
  | { readonly kind: 'prints'; readonly prints: readonly Print[]; readonly refused?: Readonly<Record<string, number>> }
  | { readonly kind: 'closes'; readonly closes: readonly Close[] }
  | { readonly kind: 'dividends'; readonly dividends: readonly CashDividend[] }
  /** Rejected data, or a request that failed, with the reason and, if known, the ticker. */
  | { readonly kind: 'rejection'; readonly origin: string; readonly reason: string; readonly ticker?: string }
  /** Earlier rejections of this origin no longer apply: the origin was read again, or no longer exists. */
  | { readonly kind: 'resolved'; readonly origin: string }
  /** The stream of a source connected or disconnected. Prints are missed while the stream is down. */
  | { readonly kind: 'connection'; readonly up: boolean; readonly at: number; readonly reason?: string }
  /**
   * A checkpoint that the feed needs after a restart. A checkpoint is stored in one transaction with the deliveries before it. A null value
   * removes the checkpoint from the store.
   */
  | { readonly kind: 'checkpoint'; readonly key: string; readonly value: string | null };

/** The result of loading one file. Rows are contracts, prints, closes or dividends. */
export interface LoadedFile {
  readonly path: string;
  readonly rows: number;
  /** Rows that were written: new prints, and all contracts, closes and dividends, even those that replace stored ones. */
  readonly kept: number;
  /** Prints whose id was already stored. */
  readonly known: number;
  /** Number of `known` prints that were corrected or canceled. */
  readonly changed: number;
  /** Numbers of rejected rows, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** The reasons for which chains, or the whole file, were rejected. */
  readonly refusals: readonly string[];
}
