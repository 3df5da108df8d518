import { ClientError } from '../errors.ts';
import type { Market } from '../market/market.ts';

/** The initial load at start-up: of a drop folder or the simulated market. It is complete from the start if nothing is loaded. */
export interface Loading {
  /** Begins a load, which is complete when `loaded` resolves or rejects. */
  begin(loaded: Promise<unknown>): void;
  readonly isComplete: boolean;
  /** Waits for the end of the load, for at most `mostMs`. */
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

/** Short, because a load delivers new chains all the time. */
const RETRY_AFTER_S = 1;

/** A market during the initial load. Until it is complete, `chain` throws `ClientError` (loading) if the ticker has no chain yet. */
export function whileLoading(market: Market, loading: Pick<Loading, 'isComplete'>): Market {
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
