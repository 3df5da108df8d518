import { ClientError } from '../../core/errors.ts';
import type { Market } from '../../market/market.ts';

/** The initial load from a drop folder or from the simulated market. Until `begin` is called, the load counts as complete. */
export interface Loading {
  /** Starts the load. The load is complete when the promise `loaded` resolves or rejects. */
  begin(loaded: Promise<unknown>): void;
  readonly isComplete: boolean;
  /** Waits until the load is complete, for at most `mostMs`. */
  waitUntilComplete(mostMs: number): Promise<void>;
  /** Ends all running calls of `waitUntilComplete` when the service stops. */
  cancelWaits(): void;
}

export function createLoading(): Loading {
  let running: Promise<unknown> | undefined;
  const canceled = Promise.withResolvers<void>();
  return {
    begin(loaded) {
      running = loaded.finally(() => {
        running = undefined;
      });
    },
    get isComplete() {
      return running === undefined;
    },
    async waitUntilComplete(mostMs) {
      if (running === undefined) return;
      const timeout = Promise.withResolvers<void>();
      const timer = setTimeout(timeout.resolve, mostMs);
      await Promise.race([running, timeout.promise, canceled.promise]);
      clearTimeout(timer);
    },
    cancelWaits: () => canceled.resolve(),
  };
}

/** The value of the header `Retry-After`, seconds. The value is small, because the load delivers new chains continuously. */
const RETRY_AFTER_S = 1;

/** Returns a market whose method `chain` throws `ClientError` (loading) for a ticker without a chain, until the load is complete. */
export function marketWhileLoading(market: Market, loading: Pick<Loading, 'isComplete'>): Market {
  return {
    ...market,
    chain(ticker) {
      if (loading.isComplete) return market.chain(ticker);
      const chain = market.findChain(ticker);
      if (chain) return chain;
      throw new ClientError('loading', `No option chain of ${market.nameOf(ticker)} has been loaded yet`, {
        hint: 'Retry shortly: the service has just started and is loading its data.',
        retryAfterS: RETRY_AFTER_S,
      });
    },
  };
}
