import { levelRecordOf } from '../analytics/exposure/level-record.ts';
import { FLOW_WINDOW_DAYS, largePrints, opinionPremium } from '../analytics/flow/flow.ts';
import { Failure } from '../errors.ts';
import type { Observe } from '../events.ts';
import { DAY_MS } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { LevelRecord } from '../market/level-record.ts';
import type { MarketStore } from '../market/store.ts';

export interface RecorderParts {
  readonly store: MarketStore;
  /** Least premium of a large print, dollars. */
  readonly largePrintMinUsd: number;
  readonly observe: Observe;
}

export interface LevelRecorder {
  /** Keeps the levels of every snapshot of which they are due by then. */
  wake(): void;
  /** Once what was due at the last waking is kept. */
  idle(): Promise<void>;
  /** Ends after the snapshot in hand. What is left stays due, for the next start. */
  stop(): Promise<void>;
}

/**
 * Keeps the levels of stored snapshots, whoever stored them. What is due stands in the store and each is kept in one
 * transaction: a process that ends loses nothing, and two at it at once keep the same.
 */
export function createLevelRecorder({ store, largePrintMinUsd, observe }: RecorderParts): LevelRecorder {
  /** Snapshots that damage or a defect keeps from being read: tried once a start, and told. They stay due. */
  const failed = new Set<number>();
  let stopped = false;
  let running: Promise<void> = Promise.resolve();

  const record = (id: number): void => {
    try {
      const chain = store.chain(id);
      // Forgotten since it was listed: then there is nothing to keep.
      if (chain) store.saveLevels(id, levelsOfSnapshot(chain, store, largePrintMinUsd));
    } catch (error) {
      failed.add(id);
      observe({ kind: 'levels_failed', snapshot: id, error });
    }
  };

  const recordDue = async (): Promise<void> => {
    for (const id of store.levelsDue()) {
      // An analysis takes milliseconds: requests have their turn before each.
      await new Promise(setImmediate);
      if (stopped) return;
      if (!failed.has(id)) record(id);
    }
  };

  return {
    wake() {
      running = running.then(recordDue).catch((error) => observe({ kind: 'levels_failed', snapshot: null, error }));
    },
    idle: () => running,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/**
 * Levels of a snapshot with the large prints of the 30 days that end with it: what came later says nothing of that moment.
 * Undefined where it has no live contract to read.
 */
function levelsOfSnapshot(chain: Chain, store: MarketStore, largePrintMinUsd: number): LevelRecord | undefined {
  const { underlying, asOf, simulated } = chain;
  const prints = store.prints(underlying, asOf - FLOW_WINDOW_DAYS * DAY_MS, asOf, simulated, largePrintMinUsd);
  try {
    return levelRecordOf(chain, opinionPremium(largePrints(prints, largePrintMinUsd)));
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
