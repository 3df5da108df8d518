import type { CashDividend } from './cash-dividend.ts';
import type { Chain } from './chain.ts';
import type { PrintBatch } from './print-batch.ts';
import type { Close, Print } from './prints.ts';

/** A source of market data. A feed delivers valid data, and for all other data a rejection with a reason. */
export interface Feed {
  /** The kind of source: `simulated`, `files`, `cboe` and others. At most one feed of each kind runs. */
  readonly name: string;
  readonly simulated: boolean;
  readonly pace: Pace;
  /** The tickers that each poll requests. Empty if the feed takes all data of its source. */
  readonly tickers: readonly string[];
  /**
   * Yields the data that is new since the last poll. The first poll yields all data of the source. `nowMs` is the wall clock. When `signal`
   * is aborted, ends early without an error. Delivers an error of the source as a rejection, and never throws the error.
   */
  poll(nowMs: number, signal?: AbortSignal): AsyncIterable<Delivery>;
  /** Yields the data that the source sends without a request, until `signal` is aborted. Reconnects if the connection is lost. */
  stream?(signal: AbortSignal): AsyncIterable<Delivery>;
}

/** Returns whether a feed works without a network, because it is simulated or requests no tickers. */
export function isLocal({ simulated, tickers }: Feed): boolean {
  return simulated || tickers.length === 0;
}

/** The times of polls. */
export interface Pace {
  /** Time between two polls, ms. */
  readonly everyMs: number;
  /** With `session`, polls run in trading hours. With `always`, polls run at all times. */
  readonly hours: 'always' | 'session';
  /** The delay of the source's quotes, ms. Polling hours begin and end this much later, so that they include the quotes of the close. */
  readonly delayMs: number;
}

/** Prints as objects or as columns. Files have a million prints, so they become columns. */
export type Prints = readonly Print[] | PrintBatch;

/** One delivery of a feed: market data, a rejection, a change of the connection or a checkpoint. */
export type Delivery =
  /** A snapshot. `offered` is the number of contracts that the source listed, including unusable contracts. */
  | ({ readonly kind: 'chain'; readonly chain: Chain; readonly offered?: number } & ChainRemarks)
  /** Prints. `refused` has the numbers of rejected rows, by reason. */
  | { readonly kind: 'prints'; readonly prints: Prints; readonly refused?: Readonly<Record<string, number>> }
  | { readonly kind: 'closes'; readonly closes: readonly Close[] }
  | { readonly kind: 'dividends'; readonly dividends: readonly CashDividend[] }
  /** A rejection of data, or a failed request, with the reason and, if known, the ticker. */
  | { readonly kind: 'rejection'; readonly origin: string; readonly reason: string; readonly ticker?: string }
  /** Old files of a drop folder cannot be deleted. `reason` is the code of the system. `count` is 0 when they can be deleted again. */
  | { readonly kind: 'undeleted'; readonly count: number; readonly reason: string }
  /** Previous rejections of this origin no longer apply. The feed has read the origin again, or the origin no longer exists. */
  | { readonly kind: 'resolved'; readonly origin: string }
  /** The stream of a source connected or disconnected. The feed misses prints while the stream is down. */
  | { readonly kind: 'connection'; readonly up: boolean; readonly at: number; readonly reason?: string }
  /** A checkpoint for the next start, stored with the deliveries before it in one transaction. A value of null removes the checkpoint. */
  | { readonly kind: 'checkpoint'; readonly key: string; readonly value: string | null };

/** What a person should know about the chain of a file. */
export interface ChainRemarks {
  /** The name of the second file that has values of the contracts, and the number of contracts that it lacks. */
  readonly second?: { readonly file: string; readonly absent: number };
  /** What was odd in the file, such as the first cell that could not be read, or values that the chain lacks. */
  readonly notes?: readonly string[];
}

/** The result of loading one file. Rows can be contracts, prints, closes or dividends. */
export interface LoadedFile {
  readonly path: string;
  readonly rows: number;
  /** Number of written rows: new prints, and the contracts, closes and dividends that are new or replace others. */
  readonly kept: number;
  /** Number of rows that were stored before: prints with the same id, and contracts, closes and dividends with the same values. */
  readonly known: number;
  /** Number of stored prints that the file corrected or canceled. */
  readonly changed: number;
  /** Numbers of rejected rows, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** The reasons why chains or the whole file were rejected. */
  readonly refusals: readonly string[];
  /** What is notable about stored data, such as a chain without levels. Absent if nothing is. */
  readonly notices?: readonly string[];
  /** Of a second file, the names of the files whose contracts have its values. Absent for other files. */
  readonly used_by?: readonly string[];
}

/** The result of loading the end-of-day chain of a ticker. `known` means that the store has a snapshot of the day's close. */
export interface LoadedDay {
  readonly day: string;
  readonly state: 'stored' | 'known' | 'no_data' | 'rejected';
  readonly contracts: number;
  /** The reason of a rejection. */
  readonly reason?: string;
}
