import { ClientError } from '../../core/errors.ts';
import type { Market } from '../../market/market.ts';

/** The initial load of a drop folder or of the simulated market at the start. Before `begin` is called, the load counts as complete. */
export interface Loading {
  /** Begins the load. The load is complete when `loaded` resolves or rejects. */
  begin(loaded: Promise<unknown>): void;
  readonly isComplete: boolean;
  /** Waits until the load is complete, for at most `mostMs`. */
  waitUntilComplete(mostMs: number): Promise<void>;
  /** Ends every wait, because the service stops. */
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

/** The value of `Retry-After`, seconds. The time is short, because the load delivers new chains continuously. */
const RETRY_AFTER_S = 1;

/**
 * Returns the market with another `chain`: until the load is complete, it throws `ClientError` (loading) if the ticker has no chain yet.
 */
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
