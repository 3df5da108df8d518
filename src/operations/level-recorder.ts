import { levelRecordInSteps } from '../analytics/exposure/level-record.ts';
import { FLOW_WINDOW_DAYS, opinionPremium } from '../analytics/flow/flow.ts';
import { Failure, isBusy } from '../errors.ts';
import { began } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { DAY_MS } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { LevelRecord } from '../market/level-record.ts';
import type { MarketStore } from '../market/store.ts';
import type { Steps } from '../steps.ts';

export interface RecorderParts {
  readonly store: MarketStore;
  /** Least premium of a large print, dollars. */
  readonly largePrintMinUsd: number;
  readonly observe: Observe;
  /** Told when there may be levels that were not there before, this process's or another's. */
  readonly recorded?: () => void;
}

export interface LevelRecorder {
  /** Keeps the levels of every snapshot of which they are due by then. Costs nothing while it is at it: call it at every write. */
  wake(): void;
  /** Once what was due at the last waking is kept. */
  idle(): Promise<void>;
  /** Ends after the step in hand. What is left stays due, for the next start. */
  stop(): Promise<void>;
}

/** How soon it is noticed what another process has stored. */
const LOOK_EVERY_MS = 500;

/**
 * Keeps the levels of stored snapshots, whoever stored them: first what has come since the start, as it came, then what was due
 * before, the newest first. What is due stands in the store and each is kept in one transaction: a process that ends loses
 * nothing, and two at it at once keep the same. What damage or a defect keeps from being read is tried once a start, and told.
 */
export function createLevelRecorder({ store, largePrintMinUsd, observe, recorded }: RecorderParts): LevelRecorder {
  /** Snapshots from before the first look, the last stored first, and how many of them are done. */
  let backlog: readonly number[] | undefined;
  let backlogDone = 0;
  /** The last snapshot seen: those after it are new. */
  let seen = 0;
  let version = '';
  let woken = false;
  let stopped = false;
  let running: Promise<void> | undefined;
  /** Those whose levels another process kept from being written. */
  let again: number[] = [];

  const record = async (id: number): Promise<void> => {
    try {
      const steps = levelsOfSnapshot(id, store, largePrintMinUsd);
      for (let isDone: boolean | undefined = false; !isDone; ) {
        // Requests have their turn before each step.
        await new Promise(setImmediate);
        if (stopped) return;
        began('levels of a snapshot');
        isDone = steps.next().done;
      }
      recorded?.();
    } catch (error) {
      if (isBusy(error)) again.push(id);
      else observe({ kind: 'levels_failed', snapshot: id, error });
    }
  };

  /** What was stored since the last look, as it was stored. */
  const listNew = (): number[] => {
    if (backlog === undefined) {
      backlog = store.levelsDue();
      seen = backlog[0] ?? 0;
      return [];
    }
    const ids = store.levelsDue(seen).reverse();
    seen = ids.at(-1) ?? seen;
    return ids;
  };

  const recordDue = async (): Promise<void> => {
    let fresh: number[] = [];
    for (let at = 0; ; at++) {
      if (woken) {
        woken = false;
        fresh = [...again, ...fresh.slice(at), ...listNew()];
        again = [];
        at = 0;
      }
      const id = fresh[at] ?? backlog?.[backlogDone++];
      if (id === undefined || stopped) return;
      await record(id);
    }
  };

  const wake = (): void => {
    woken = true;
    running ??= recordDue()
      .catch((error) => observe({ kind: 'levels_failed', snapshot: null, error }))
      .finally(() => {
        running = undefined;
        if (woken && !stopped) wake();
      });
  };

  const look = (): void => {
    try {
      const current = store.version();
      if (current === version && again.length === 0) return;
      version = current;
      wake();
      recorded?.();
    } catch (error) {
      observe({ kind: 'levels_failed', snapshot: null, error });
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);

  return {
    wake,
    async idle() {
      while (running) await running;
    },
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}

/** Computes the levels of a snapshot and stores them. */
function* levelsOfSnapshot(id: number, store: MarketStore, largePrintMinUsd: number): Steps<void> {
  const chain = store.chain(id);
  // Forgotten since it was listed: then there is nothing to keep.
  if (!chain) return;
  yield { message: 'Reading the large prints' };
  const { underlying, asOf, simulated } = chain;
  // Of the 30 days that end with it: what came later says nothing of that moment.
  const sums = store.printSums(underlying, asOf - FLOW_WINDOW_DAYS * DAY_MS, asOf, simulated, largePrintMinUsd);
  const record = yield* recordOf(chain, opinionPremium(sums));
  yield { message: 'Storing the levels' };
  store.saveLevels(id, record);
}

/** Undefined where the chain has no live contract to read. */
function* recordOf(chain: Chain, premium: ReadonlyMap<string, number>): Steps<LevelRecord | undefined> {
  try {
    return yield* levelRecordInSteps(chain, premium);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
