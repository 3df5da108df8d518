import { computeLevelRecord } from '../../analytics/exposure/compute-level-record.ts';
import { directionalPremium, FLOW_WINDOW_DAYS } from '../../analytics/flow/flow.ts';
import { ClientError, isBusy } from '../../core/errors.ts';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Observe } from '../../core/events.ts';
import type { Steps } from '../../core/steps.ts';
import { DAY_MS } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { storedDividends } from '../../market/market.ts';
import type { MarketStore } from '../../market/store.ts';

export interface RecorderDeps {
  readonly store: MarketStore;
  /** Minimum premium of a large print, dollars. */
  readonly largePrintMinUsd: number;
  readonly observe: Observe;
  /** Returns the id of the due snapshot that is recorded first after the start. Returns `undefined` if no snapshot is due. */
  readonly firstId?: () => number | undefined;
  /** Called when this process or another process may have stored new levels. */
  readonly onRecorded?: () => void;
}

export interface LevelRecorder {
  /**
   * Starts to record the levels of every due snapshot. A snapshot is due while its levels are not stored. Callers may call this function
   * after every write. A call during a recording is cheap.
   */
  wake(): void;
  /** Resolves when the recorder has no work. */
  idle(): Promise<void>;
  /** Stops after the current step. The remaining snapshots stay due until the next start. */
  stop(): Promise<void>;
}

/** Interval between two checks for snapshots that another process has stored, ms. */
const POLL_MS = 500;

/**
 * Records the levels of stored snapshots, including snapshots of other processes. The recorder first records the snapshots stored since the
 * start, the oldest snapshot first. The recorder then records the snapshots that were due at the start, the newest snapshot first. The
 * store lists the due snapshots, and stores the levels of each snapshot in one transaction, so no level is lost if the process ends. If two
 * processes record at the same time, they record the same levels. The 30-day volatilities of two processes may come from quotes that are up
 * to a minute apart. If a snapshot is damaged or a defect prevents its recording, the recorder tries the snapshot once per start and
 * reports it to `observe`.
 */
export function createLevelRecorder({
  store,
  largePrintMinUsd,
  observe,
  firstId,
  onRecorded,
}: RecorderDeps): LevelRecorder {
  const volatilities: Volatilities30d = new Map();
  /** Ids of the snapshots that were due at the start, the last stored snapshot first. `backlogDone` counts the processed ids. */
  let backlog: readonly number[] | undefined;
  let backlogDone = 0;
  /** The highest snapshot id that was listed so far. Snapshots with larger ids are new. */
  let lastListedId = 0;
  let version = '';
  let woken = false;
  let stopped = false;
  let running: Promise<void> | undefined;
  /** Ids of snapshots that the recorder tries again, because another process was writing to the store. */
  let retryIds: number[] = [];

  const record = async (id: number): Promise<void> => {
    try {
      announceStep('levels of a snapshot');
      const chain = await store.readChain(id);
      // The snapshot was removed after its id was listed.
      if (!chain) return;
      const steps = levelsOfSnapshot(id, chain, store, largePrintMinUsd, volatilities);
      for (let isDone: boolean | undefined = false; !isDone; ) {
        // Waits for the event loop, so that requests can run before each step.
        await new Promise(setImmediate);
        if (stopped) return;
        announceStep('levels of a snapshot');
        isDone = steps.next().done;
      }
      onRecorded?.();
    } catch (error) {
      if (isBusy(error)) retryIds.push(id);
      else observe({ kind: 'levels_failed', snapshot: id, error });
    }
  };

  /**
   * Returns the snapshots that became due since the last call, in the order in which they were stored. The first call sets `backlog`, and
   * returns only the id that `firstId` returns, if this id is due.
   */
  const listNew = (): number[] => {
    if (backlog === undefined) {
      const due = store.levelsDue();
      lastListedId = due[0] ?? 0;
      const first = firstId?.();
      backlog = due.filter((id) => id !== first);
      return due.filter((id) => id === first);
    }
    const ids = store.levelsDue(lastListedId).reverse();
    lastListedId = ids.at(-1) ?? lastListedId;
    return ids;
  };

  const recordDue = async (): Promise<void> => {
    let newIds: number[] = [];
    for (let i = 0; ; i++) {
      if (woken) {
        woken = false;
        newIds = [...retryIds, ...newIds.slice(i), ...listNew()];
        retryIds = [];
        i = 0;
      }
      const id = newIds[i] ?? backlog?.[backlogDone++];
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

  const poll = (): void => {
    try {
      const current = store.version();
      if (current === version && retryIds.length === 0) return;
      version = current;
      wake();
      onRecorded?.();
    } catch (error) {
      observe({ kind: 'levels_failed', snapshot: null, error });
    }
  };
  const timer = setInterval(poll, POLL_MS);

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

/**
 * For each ticker, the last computed 30-day volatility, and the moment of the quotes that it is computed from, ms since the epoch. The
 * 30-day volatility needs a fitted surface, which takes longer than all other levels. A live feed delivers several snapshots a second, so
 * the recorder computes the 30-day volatility only once a minute.
 */
type Volatilities30d = Map<string, { readonly asOf: number; readonly value: number | null }>;
const VOLATILITY_REUSED_MS = 60_000;

/** Computes and stores the levels of a snapshot. */
function* levelsOfSnapshot(
  id: number,
  chain: Chain,
  store: MarketStore,
  largePrintMinUsd: number,
  volatilities: Volatilities30d,
): Steps<void> {
  const { underlying, asOf, simulated } = chain;
  const key = `${underlying} ${simulated}`;
  const last = volatilities.get(key);
  const isRecent = last !== undefined && asOf >= last.asOf && asOf - last.asOf < VOLATILITY_REUSED_MS;
  const record = yield* levelRecordOf(chain, store, largePrintMinUsd, isRecent ? last.value : undefined);
  if (record && !isRecent) volatilities.set(key, { asOf, value: record.atmIv30d });
  yield { message: 'Storing the levels' };
  store.saveLevels(id, record);
}

/**
 * Computes the level record of a chain from the stored prints and dividends. Returns `undefined` if the chain has no live contract.
 * `largePrintMinUsd` is the minimum premium of a large print, dollars. `atmIv30d` is the 30-day volatility, if the caller knows it.
 */
export function* levelRecordOf(
  chain: Chain,
  store: MarketStore,
  largePrintMinUsd: number,
  atmIv30d?: number | null,
): Steps<LevelRecord | undefined> {
  const { underlying, asOf, simulated } = chain;
  // Sums the prints of the 30 days before the snapshot. Later prints are left out, because they were not known at the time of the snapshot.
  const sums = store.printSums(underlying, asOf - FLOW_WINDOW_DAYS * DAY_MS, asOf, simulated, largePrintMinUsd);
  try {
    return yield* computeLevelRecord(chain, directionalPremium(sums), storedDividends(store, chain), atmIv30d);
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  }
}
