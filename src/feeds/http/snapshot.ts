import { buildChain, type ContractRow } from '../../market/build-chain.ts';
import type { Chain } from '../../market/chain.ts';
import { spotOf } from '../implied-spot.ts';
import { unreadable } from '../refused.ts';

/** A chain as a provider gave it. */
export interface Snapshot {
  readonly chain: Chain;
  /** Contracts that the provider listed. */
  readonly offered: number;
}

/** Contracts gathered from the answers that make one snapshot. */
export interface Gathered {
  readonly rows: readonly ContractRow[];
  readonly refused: Readonly<Record<string, number>>;
  /** How many were listed. */
  readonly offered: number;
  /** Price of the underlying, where the provider tells it. */
  readonly spot: number | undefined;
}

/** Makes the chain of what a feed gathered. Throws a Failure where none can come of it. */
export function snapshotFrom(feed: string, underlying: string, asOf: number, gathered: Gathered): Snapshot {
  const { rows, refused, offered } = gathered;
  if (offered === 0) throw unreadable('no contracts are listed');
  if (rows.length === 0) throw unreadable(`none of ${offered} contracts can be read`);
  const spot = spotOf(gathered.spot, rows, asOf);
  if (Number.isNaN(spot)) throw unreadable('no price of the underlying is given, and no quotes imply one');
  const head = { underlying, asOf, spot, source: `${feed}:${underlying}`, simulated: false, refused };
  return { chain: buildChain(head, rows), offered };
}
