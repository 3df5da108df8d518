import { newYorkDate, newYorkInstant, previousTradingDay } from '../../src/market/calendar.ts';
import type { Chain } from '../../src/market/chain.ts';
import { createLevelRecorder } from '../../src/operations/history/level-recorder.ts';
import type { Store } from '../../src/store/sqlite.ts';
import { dayBefore } from '../operations/small-market.ts';
import { keepLevels } from '../store/samples.ts';

/** Computes the levels of all snapshots of a store, as a server does shortly after they have arrived. */
export async function recordLevels(store: Store): Promise<void> {
  const recorder = createLevelRecorder({ store, largePrintMinUsd: 100_000, observe: () => {} });
  recorder.wake();
  await recorder.idle();
  await recorder.stop();
}

/** Stores levels of a chain's ticker after the close of each of the 40 sessions before it, then the chain at the close before and now. */
export async function savePast(store: Store, chain: Chain): Promise<void> {
  const { underlying, simulated } = chain;
  for (let day = newYorkDate(chain.asOf), i = 0; i < 40; i++) {
    day = previousTradingDay(day);
    keepLevels(store, { underlying, simulated, spot: chain.spot, asOf: newYorkInstant(day, '16:30') });
  }
  store.saveChain(dayBefore(chain));
  store.saveChain(chain);
  await recordLevels(store);
}
