import { ClientError } from '../errors.ts';
import type { Market } from '../market/market.ts';

/** The initial load at start-up: of a drop folder or the simulated market. It is over from the start if nothing is loaded. */
export interface Loading {
  /** Begins a load, which is over when `loaded` resolves or rejects. */
  begin(loaded: Promise<unknown>): void;
  readonly isOver: boolean;
  /** Waits for the end of the load, for at most `mostMs`. */
  over(mostMs: number): Promise<void>;
  /** Ends every wait, because the service stops. */
  giveUp(): void;
}

export function createLoading(): Loading {
  let running: Promise<unknown> | undefined;
  const givenUp = Promise.withResolvers<void>();
  return {
    begin(loaded) {
      running = loaded.finally(() => {
        running = undefined;
      });
    },
    get isOver() {
      return running === undefined;
    },
    async over(mostMs) {
      if (running === undefined) return;
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, mostMs);
      await Promise.race([running, late.promise, givenUp.promise]);
      clearTimeout(timer);
    },
    giveUp: () => givenUp.resolve(),
  };
}

/** Short, because a load delivers new chains all the time. */
const RETRY_AFTER_S = 1;

/** A market during the initial load. Until it is over, `chain` throws `ClientError` (loading) if the ticker has no chain yet. */
export function whileLoading(market: Market, loading: Pick<Loading, 'isOver'>): Market {
  return {
    ...market,
    chain(ticker) {
      if (loading.isOver) return market.chain(ticker);
      const chain = market.findChain(ticker);
      if (chain) return chain;
      throw new ClientError('loading', `No option chain of ${market.nameOf(ticker)} has been loaded yet`, {
        hint: 'Retry shortly: the service has just started and is loading its data.',
        retryAfterS: RETRY_AFTER_S,
      });
    },
  };
}
