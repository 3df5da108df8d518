import { isBusy } from '../core/errors.ts';
import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Observe } from '../core/events.ts';
import type { Ledger } from '../core/ledger.ts';
import { newYorkDate } from '../market/calendar.ts';
import type { KnownMarket, MarketStore, PrintStore } from '../market/store.ts';
import { runEvery, untilIdle } from './background.ts';

/** The stored prints, and the ledger that decides how they are packed. */
export type PackedStore = Pick<KnownMarket, 'returnFreePages'> & Ledger<MarketStore>;

export interface PackingDeps {
  readonly store: PackedStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** Returns whether a client is waiting for an answer. */
  readonly isAnswering: () => boolean;
}

/** Interval between two runs, ms. Late prints and corrections of past New York days stay unpacked until the next run. */
const EVERY_MS = 600_000;
/** Time between the service's start and the first run, ms. The first minute is reserved for feeds, missing level records and clients. */
const AFTER_START_MS = 60_000;

/** Ratio of the pause after a transaction to the transaction's duration. With this ratio, packing uses at most a quarter of a processor. */
const PAUSE_RATIO = 3;

/** Packs the prints of past New York days after `afterMs`, and then every ten minutes, unless a run is in progress. */
export function startPacking(deps: PackingDeps, afterMs = AFTER_START_MS): { stop(): Promise<void> } {
  const onError = (error: unknown) => deps.observe({ kind: 'packing_failed', error });
  return runEvery((isStopped) => packTape(deps, isStopped), { afterMs, everyMs: EVERY_MS, onError });
}

/** Packs the prints of past New York days once, in short transactions. Requests and feeds are served between two transactions. */
export async function packTape(
  { store, observe, nowMs, isAnswering }: PackingDeps,
  isStopped = () => false,
): Promise<void> {
  let prints = 0;
  const pause = async (pauseMs: number) => {
    await Bun.sleep(pauseMs);
    await untilIdle(isAnswering, isStopped);
  };
  const steps = packingSteps(store, newYorkDate(nowMs()));
  try {
    await pause(0);
    while (!isStopped()) {
      const beganAt = begin();
      const { value, done } = await steps.next();
      if (done) break;
      prints += value;
      await pause(PAUSE_RATIO * (performance.now() - beganAt));
    }
  } catch (error) {
    // Another process has held the database lock for too long. The next run packs the remaining prints.
    if (!isBusy(error)) throw error;
  } finally {
    await steps.return();
  }
  if (prints > 0) observe({ kind: 'tape_packed', prints });
}

/**
 * Packs the prints of the days before `beforeDay`, one transaction per step, and then returns the freed pages to the disk. Yields the
 * number of prints that a step has packed.
 */
export async function* packingSteps(
  store: PackedStore,
  beforeDay: string,
  options?: Parameters<PrintStore['packTape']>[1],
): AsyncGenerator<number, void> {
  let steps: ReturnType<PrintStore['packTape']> | undefined;
  try {
    for (;;) {
      const { value, done } = await store.write((tx) => {
        steps ??= tx.packTape(beforeDay, options);
        return steps.next();
      });
      if (done) break;
      yield value;
    }
  } finally {
    steps?.return();
  }
  while (store.returnFreePages()) yield 0;
}

/** Announces a transaction to the watchdog. Returns the start of the transaction, ms on the monotonic clock. */
function begin(): number {
  announceStep('packing the tape');
  return performance.now();
}
