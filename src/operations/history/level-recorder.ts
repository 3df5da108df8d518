import { DEFAULT_OPTIONS } from '../../analytics/chain/options.ts';
import { prepareChain, requireWeights } from '../../analytics/chain/prepare.ts';
import { computeLevelRecord } from '../../analytics/exposure/compute-level-record.ts';
import { directionalPremium, FLOW_WINDOW_DAYS } from '../../analytics/flow/flow.ts';
import { ClientError, isBusy } from '../../core/errors.ts';
import { announceStep } from '../../core/event-loop-watchdog.ts';
import type { Observe } from '../../core/events.ts';
import type { Ledger } from '../../core/ledger.ts';
import type { Steps } from '../../core/steps.ts';
import { DAY_MS } from '../../market/calendar.ts';
import type { Chain } from '../../market/chain.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { storedDividends } from '../../market/market.ts';
import type { KnownMarket, MarketStore, StoredChain } from '../../market/store.ts';

export interface RecorderDeps {
  readonly store: KnownMarket & Ledger<MarketStore>;
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
   * Records the levels of every snapshot whose levels are not stored. A call is cheap, so that callers may call it after every write.
   * `stored` are chains that were just stored, so that the recorder does not read them from the store.
   */
  wake(stored?: readonly StoredChain[]): void;
  /** Resolves when the recorder has no work. */
  idle(): Promise<void>;
  /** Stops after the current step. The remaining snapshots stay due until the next start. */
  stop(): Promise<void>;
}

/** Maximum number of contracts in chains that wait in memory, at most 6 MB. Snapshots of further chains are read from the store. */
const HELD_CONTRACTS_MAX = 60_000;

/** After this time, ms, the computation of levels waits for the event loop. The steps of a small chain are much shorter. */
const TURN_MS = 2;

/** If more snapshots wait, levels are computed for this time before they are stored, ms. */
const BATCH_MS = 15;

/** The levels of a snapshot. `undefined` if the snapshot has no live contract or no open interest. */
interface Computed {
  readonly id: number;
  readonly levels: LevelRecord | undefined;
  /** True if only the levels of shorter horizons are missing in the store. */
  readonly isFill: boolean;
}

/** Interval between two checks for snapshots that another process has stored, ms. */
const POLL_MS = 500;

/** Pause before levels are stored again, ms. */
const BUSY_PAUSE_MS = 250;

/**
 * Up to this number of due snapshots, a store with levels goes on where it has stopped, oldest first: the streams of live levels have no event
 * of a snapshot that is older than the last recorded one. With more, the newest levels would come too late.
 */
const CONTINUED_MAX = 512;

/**
 * Records the levels of stored snapshots, also of other processes: first those stored since the start, oldest first, then those due at the
 * start, newest first if they are many, and last the levels of shorter horizons that earlier versions did not store. Snapshots are due until
 * their levels are stored, so that none is lost if the process ends. Two processes record the same levels. A snapshot whose recording fails is
 * reported to `observe`, and tried once per start.
 */
export function createLevelRecorder({
  store,
  largePrintMinUsd,
  observe,
  firstId,
  onRecorded,
}: RecorderDeps): LevelRecorder {
  /** Ids of the snapshots that were due at the start, the last stored snapshot first. `backlogDone` counts the processed ids. */
  let backlog: readonly number[] | undefined;
  let backlogDone = 0;
  /** Ids of the snapshots whose levels of shorter horizons were missing at the start, the newest first, until they are processed. */
  let fills: number[] | undefined;
  /** The highest snapshot id that was listed so far. Snapshots with larger ids are new. */
  let lastListedId = 0;
  let version = '';
  let woken = false;
  let stopped = false;
  let running: Promise<void> | undefined;
  /** The chains that were given to `wake`, by the ids of their snapshots. */
  const held = new Map<number, Chain>();
  /** Levels that are not stored yet. */
  const computed: Computed[] = [];

  const hold = ({ id, chain }: StoredChain): void => {
    const contracts = held.values().reduce((sum, { count }) => sum + count, chain.count);
    if (contracts <= HELD_CONTRACTS_MAX) held.set(id, chain);
  };

  /** Computes the levels of a snapshot. Adds the levels to `computed`. */
  const record = async (id: number, isFill: boolean): Promise<void> => {
    try {
      await new Promise(setImmediate);
      announceStep('levels of a snapshot');
      const chain = held.get(id) ?? store.chain(id);
      held.delete(id);
      // The snapshot was removed after its id was listed.
      if (!chain) return;
      let turnAt = performance.now();
      for (const steps = levelRecordOf(chain, store, largePrintMinUsd); ; ) {
        const { value, done } = steps.next();
        if (done) return void computed.push({ id, levels: value, isFill });
        if (performance.now() - turnAt < TURN_MS) continue;
        // Waits for the event loop, so that requests can run.
        await new Promise(setImmediate);
        if (stopped) return;
        announceStep('levels of a snapshot');
        turnAt = performance.now();
      }
    } catch (error) {
      observe({ kind: 'levels_failed', snapshot: id, error });
    }
  };

  /**
   * Stores computed levels in one transaction, as soon as the store can be written to: later ones must not be stored before. If a defect prevents
   * this, stores the levels of each snapshot alone.
   */
  const save = async (batch: readonly Computed[]): Promise<void> => {
    if (batch.length === 0) return;
    announceStep('storing levels');
    try {
      await store.write((tx) => {
        for (const { id, levels, isFill } of batch) tx[isFill ? 'fillHorizons' : 'saveLevels'](id, levels);
      });
      onRecorded?.();
    } catch (error) {
      if (isBusy(error)) {
        await Bun.sleep(BUSY_PAUSE_MS);
        if (!stopped) await save(batch);
      } else if (batch.length > 1) for (const each of batch) await save([each]);
      else observe({ kind: 'levels_failed', snapshot: batch[0]!.id, error });
    }
  };

  /**
   * Returns the ids that became due since the last call, oldest first. The first call returns all if they continue what is recorded. Otherwise it
   * sets `backlog`, and returns only `firstId`.
   */
  const listNew = (): number[] => {
    if (backlog === undefined) {
      const due = store.levelsDue();
      lastListedId = due[0] ?? 0;
      if (due.length <= CONTINUED_MAX && store.lastLevelSeq() > 0) {
        backlog = [];
        return due.reverse();
      }
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
    let savedAt = performance.now();
    for (let i = 0; ; i++) {
      if (woken) {
        woken = false;
        newIds = [...newIds.slice(i), ...listNew()];
        i = 0;
      }
      const due = newIds[i] ?? backlog?.[backlogDone++];
      if (due === undefined) fills ??= store.horizonsDue().reverse();
      const id = due ?? fills?.pop();
      if (id === undefined || stopped) return;
      await record(id, due === undefined);
      // Many snapshots share a transaction, because each transaction syncs the disk.
      if (i + 1 < newIds.length && performance.now() - savedAt < BATCH_MS && !stopped) continue;
      await save(computed.splice(0));
      savedAt = performance.now();
    }
  };

  const wake = (stored: readonly StoredChain[] = []): void => {
    for (const each of stored) hold(each);
    woken = true;
    running ??= recordDue()
      .catch((error) => observe({ kind: 'levels_failed', snapshot: null, error }))
      .finally(() => {
        running = undefined;
        // Another process may have recorded the levels of the chains that are left.
        if (!woken) held.clear();
        else if (!stopped) wake();
      });
  };

  const poll = (): void => {
    try {
      const current = store.version();
      if (current === version) return;
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

/** Computes a chain's level record from stored prints and dividends; `undefined` without a live contract or open interest. */
export function* levelRecordOf(
  chain: Chain,
  store: KnownMarket,
  largePrintMinUsd: number,
): Steps<LevelRecord | undefined> {
  const { underlying, asOf, simulated } = chain;
  // Sums the prints of the 30 days before the snapshot. Later prints are left out, because they were not known at the time of the snapshot.
  const sums = store.printSums(underlying, asOf - FLOW_WINDOW_DAYS * DAY_MS, asOf, simulated, largePrintMinUsd);
  try {
    const cashDividends = storedDividends(store, chain);
    // Without open interest or volatilities, walls and flip would be invented.
    requireWeights(yield* prepareChain(chain, { ...DEFAULT_OPTIONS, cashDividends }));
    return yield* computeLevelRecord(chain, directionalPremium(sums), cashDividends);
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  }
}
