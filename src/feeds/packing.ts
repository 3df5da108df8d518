import { isBusy } from '../errors.ts';
import { announceStep } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { newYorkDate } from '../market/calendar.ts';
import type { MarketStore } from '../market/store.ts';

export interface PackingDeps {
  readonly store: MarketStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** Whether clients wait for answers. */
  readonly isAnswering: () => boolean;
}

/** For this long, late prints and corrections of closed days stay as rows. */
const EVERY_MS = 600_000;
/** The first minute is left to urgent work: the feeds, the levels that are due, and the first clients. */
const AFTER_START_MS = 60_000;

/** After each transaction, packing pauses for three times its duration. So packing uses at most a quarter of the processor. */
const PAUSE_SHARE = 3;
/** While clients wait for answers, packing pauses until none waits, but at most for this time, so that a busy server packs as well. */
const BUSY_PAUSE_MS = 2_000;
const BUSY_CHECK_MS = 20;

/** Packs the prints of closed days into columns, first after `afterMs` and then every ten minutes, until stopped. */
export function startPacking(deps: PackingDeps, afterMs = AFTER_START_MS): { stop(): Promise<void> } {
  let stopped = false;
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= packTape(deps, () => stopped)
      .catch((error) => deps.observe({ kind: 'packing_failed', error }))
      .finally(() => {
        running = undefined;
      });
  };
  const first = setTimeout(run, afterMs);
  const timer = setInterval(run, EVERY_MS);
  return {
    async stop() {
      stopped = true;
      clearTimeout(first);
      clearInterval(timer);
      await running;
    },
  };
}

/** Packs the prints of closed days once, in short transactions. Requests and feeds are served between two transactions. */
export async function packTape(
  { store, observe, nowMs, isAnswering }: PackingDeps,
  stopped = () => false,
): Promise<void> {
  let prints = 0;
  const pause = async (pauseMs: number) => {
    await Bun.sleep(pauseMs);
    const until = performance.now() + BUSY_PAUSE_MS;
    while (isAnswering() && !stopped() && performance.now() < until) await Bun.sleep(BUSY_CHECK_MS);
  };
  const steps = store.packTape(newYorkDate(nowMs()));
  try {
    await pause(0);
    while (!stopped()) {
      const beganAt = begin();
      const { value, done } = steps.next();
      if (done) break;
      prints += value;
      await pause(PAUSE_SHARE * (performance.now() - beganAt));
    }
  } catch (error) {
    // Another process holds the lock for long. The next run will pack the rest.
    if (!isBusy(error)) throw error;
  } finally {
    steps.return();
  }
  if (prints > 0) observe({ kind: 'tape_packed', prints });
}

/** Announces a transaction to the watchdog. Returns when the transaction began, ms. */
function begin(): number {
  announceStep('packing the tape');
  return performance.now();
}
