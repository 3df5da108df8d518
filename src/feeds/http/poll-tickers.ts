import { ClientError } from '../../core/errors.ts';
import { buildChain } from '../../market/build-chain.ts';
import type { Chain } from '../../market/chain.ts';
import { ContractBatch, type ContractRow } from '../../market/contract-batch.ts';
import type { Delivery } from '../../market/feed.ts';
import { spotOf } from '../implied-spot.ts';
import { unreadable } from '../rejections.ts';

/** Polls the tickers in turn. Yields each snapshot, or a rejection with the reason and the origin, such as `cboe:SPY`. */
export async function* pollTickers(
  feed: string,
  tickers: readonly string[],
  snapshotOf: (ticker: string, signal: AbortSignal) => Promise<ProviderSnapshot>,
  signal: AbortSignal | undefined,
  snapshotMsMax = SNAPSHOT_MS_MAX,
): AsyncGenerator<Delivery> {
  for (const ticker of tickers) {
    if (signal?.aborted) return;
    let delivery: Delivery;
    const timeout = AbortSignal.timeout(snapshotMsMax);
    const signalOrTimeout = signal ? AbortSignal.any([signal, timeout]) : timeout;
    try {
      delivery = { kind: 'chain', ...(await snapshotOf(ticker, signalOrTimeout)) };
    } catch (error) {
      if (signal?.aborted) return;
      if (!(error instanceof ClientError || timeout.aborted)) throw error;
      const reason =
        error instanceof ClientError ? error.message : `a snapshot took more than ${snapshotMsMax / 1_000} s`;
      delivery = { kind: 'rejection', origin: `${feed}:${ticker}`, reason, ticker };
    }
    yield delivery;
  }
}

/** Maximum time for all requests of one snapshot, ms. The quotes of a snapshot should have nearly the same time. */
const SNAPSHOT_MS_MAX = 600_000;

/** Returns the interval between two polls, ms. The interval is `leastMs`, or longer if one poll takes longer at `ratePerMinute`. */
export function pollIntervalMs(requests: number, ratePerMinute: number, leastMs: number): number {
  return Math.max(leastMs, Math.ceil(requests / ratePerMinute) * 60_000);
}

/** A chain as a provider delivered it. */
export interface ProviderSnapshot {
  readonly chain: Chain;
  /** Number of contracts that the provider listed, including unusable contracts. */
  readonly offered: number;
}

/** Contracts that a feed collected from the answers for one snapshot. */
export interface CollectedContracts {
  readonly rows: readonly ContractRow[];
  /** Counts of rejected contracts, by reason. */
  readonly refused: Readonly<Record<string, number>>;
  /** Number of contracts that the provider listed, including unusable contracts. */
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
  using contracts = ContractBatch.of(rows);
  const spot = spotOf(collected.spot, contracts, contracts.rows, asOf, [], NO_SPOT);
  const head = { underlying, asOf, spot, source: `${feed}:${underlying}`, simulated: false, refused };
  return { chain: buildChain(head, contracts), offered };
}

const NO_SPOT = 'the provider gives no price of the underlying, and no quotes imply a price';
