import type { Chain } from './chain.ts';
import type { Close, Print } from './prints.ts';

/** A source of market data. Feeds parse and validate; what they deliver is whole or it is a refusal with its reason. */
export interface Feed {
  /** Kind of source: `simulated`, `files`, `cboe`, ...; one of each at most. */
  readonly name: string;
  readonly simulated: boolean;
  readonly pace: Pace;
  /** Tickers that it asks for in every poll; none where it takes what it is given. */
  readonly tickers: readonly string[];
  /**
   * What is new since the last poll; everything present on the first. `nowMs` is the wall clock. Ends early, without a fault,
   * once `signal` is aborted. Throws nothing that a source can cause: that is a refusal.
   */
  poll(nowMs: number, signal?: AbortSignal): AsyncIterable<Delivery>;
  /** What the source sends of itself, reconnecting where it must, until `signal` is aborted. */
  stream?(signal: AbortSignal): AsyncIterable<Delivery>;
}

/** Whether a feed has its data without a network: no asking for tickers, or none that is real. */
export function isAtHand({ simulated, tickers }: Feed): boolean {
  return simulated || tickers.length === 0;
}

/** When a source is worth asking. */
export interface Pace {
  /** From one poll to the next, ms. */
  readonly everyMs: number;
  /** In trading hours alone, or at all times. */
  readonly hours: 'always' | 'session';
  /** How far its quotes are behind the market, ms: hours are shifted by it, so that the close is seen. */
  readonly delayMs: number;
}

export type Delivery =
  /** A snapshot, and how many contracts the source listed for it, be they usable or not. */
  | { readonly kind: 'chain'; readonly chain: Chain; readonly offered?: number }
  /** Prints, and how many rows beside them are none, by reason. */
  | { readonly kind: 'prints'; readonly prints: readonly Print[]; readonly refused?: Readonly<Record<string, number>> }
  | { readonly kind: 'closes'; readonly closes: readonly Close[] }
  /** Something offered, or asked for, that could not be taken, with the reason; of which ticker, where that is known. */
  | { readonly kind: 'refusal'; readonly origin: string; readonly reason: string; readonly ticker?: string }
  /** What was refused of an origin says nothing any more: it is read anew, or gone. */
  | { readonly kind: 'settled'; readonly origin: string }
  /** The stream of a source is up from here on, or down: while it is down its prints are missed. */
  | { readonly kind: 'connection'; readonly up: boolean; readonly at: number; readonly reason?: string }
  /** What the feed wants to know again after a restart; kept in one transaction with what came before it. Null forgets. */
  | { readonly kind: 'mark'; readonly key: string; readonly value: string | null };

/** What became of one file that was loaded. Rows are contracts, prints or closes. */
export interface LoadedFile {
  readonly path: string;
  readonly rows: number;
  /** Rows written: new prints; contracts and closes also in the place of what stood. */
  readonly kept: number;
  /** Prints that were known before. */
  readonly known: number;
  /** Of those, how many were corrected or cancelled. */
  readonly changed: number;
  /** Rows that could not be taken, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Why chains, or the whole file, could not be taken. */
  readonly refusals: readonly string[];
}
