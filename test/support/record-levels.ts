import type { MarketStore } from '../../src/market/store.ts';
import { createLevelRecorder } from '../../src/operations/history/level-recorder.ts';

/** Computes the levels of all snapshots of a store, as a server does shortly after they have arrived. */
export async function recordLevels(store: MarketStore): Promise<void> {
  const recorder = createLevelRecorder({ store, largePrintMinUsd: 100_000, observe: () => {} });
  recorder.wake();
  await recorder.idle();
  await recorder.stop();
}
