import { buildChain, type ContractRow } from '../../market/build-chain.ts';
import type { Chain } from '../../market/chain.ts';
import { spotOf } from '../implied-spot.ts';
import { unreadable } from '../rejections.ts';

/** A chain as a provider delivered it. */
export interface ProviderSnapshot {
  readonly chain: Chain;
  /** Number of contracts that the provider listed, usable or not. */
  readonly offered: number;
}

/** Contracts that a feed collected from the answers for one snapshot. */
export interface CollectedContracts {
  readonly rows: readonly ContractRow[];
  /** Counts of rejected contracts, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Number of contracts that the provider listed, usable or not. */
  readonly offered: number;
  /** Price of the underlying, if the provider gives it. */
  readonly spot: number | undefined;
}

/** Builds the chain from the contracts that a feed collected. Throws a `ClientError` if no chain can be built. */
export function snapshotFrom(
  feed: string,
  underlying: string,
  asOf: number,
  collected: CollectedContracts,
): ProviderSnapshot {
  const { rows, refused, offered } = collected;
  if (offered === 0) throw unreadable('the provider lists no contracts');
  if (rows.length === 0) throw unreadable(`none of ${offered} contracts can be read`);
  const spot = spotOf(collected.spot, rows, asOf);
  if (Number.isNaN(spot))
    throw unreadable('the provider gives no price of the underlying, and no quotes imply a price');
  const head = { underlying, asOf, spot, source: `${feed}:${underlying}`, simulated: false, refused };
  return { chain: buildChain(head, rows), offered };
}
