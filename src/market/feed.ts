import type { Chain } from './chain.ts';
import type { Close, Print } from './prints.ts';

/** A source of market data. Feeds parse and validate; what they deliver is whole or it is a refusal with its reason. */
export interface Feed {
  readonly name: string;
  readonly simulated: boolean;
  /** How long to wait between two polls. */
  readonly pollIntervalMs: number;
  /** What is new since the last poll; everything present on the first. `nowMs` is the wall clock. */
  poll(nowMs: number): AsyncIterable<Delivery>;
}

export type Delivery =
  | { readonly kind: 'chain'; readonly chain: Chain }
  /** Prints, and how many rows beside them are none, by reason. */
  | { readonly kind: 'prints'; readonly prints: readonly Print[]; readonly refused?: Readonly<Record<string, number>> }
  | { readonly kind: 'closes'; readonly closes: readonly Close[] }
  /** Something offered as market data that could not be taken, with the reason. */
  | { readonly kind: 'refusal'; readonly origin: string; readonly reason: string };

/** What became of one file that was loaded. Rows are contracts, prints or closes. */
export interface LoadedFile {
  readonly path: string;
  readonly rows: number;
  /** Rows written: new prints; contracts and closes also in the place of what stood. */
  readonly kept: number;
  /** Prints that were known before. */
  readonly known: number;
  /** Rows that could not be taken, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Why chains, or the whole file, could not be taken. */
  readonly refusals: readonly string[];
}
