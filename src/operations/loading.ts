import { Failure } from '../errors.ts';
import type { Market } from '../market/market.ts';

/** The first load of what lies at hand, a folder or the simulated market. Over from the start where nothing is loaded. */
export interface Loading {
  /** Under way until `loaded` settles. */
  begin(loaded: Promise<unknown>): void;
  readonly isOver: boolean;
  /** Waits for its end, but no longer than so many milliseconds. */
  over(mostMs: number): Promise<void>;
  /** Releases all waiting requests, because the service stops. */
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

/** A load brings something new all the time: who asks again soon loses little. */
const RETRY_AFTER_S = 1;

/** A market whose missing chains may be on their way: while it is loading, asking for one throws `Failure('loading')`. */
export function whileLoading(market: Market, loading: Pick<Loading, 'isOver'>): Market {
  return {
    ...market,
    chain(ticker) {
      if (loading.isOver) return market.chain(ticker);
      const chain = market.findChain(ticker);
      if (chain) return chain;
      throw new Failure('loading', `No option chain of ${market.nameOf(ticker)} has been loaded yet`, {
        hint: 'The service has just started and is loading its data: retry shortly.',
        retryAfterS: RETRY_AFTER_S,
      });
    },
  };
}
