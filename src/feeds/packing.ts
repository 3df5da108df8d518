import { isBusy } from '../errors.ts';
import { began } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { newYorkDate } from '../market/calendar.ts';
import type { MarketStore } from '../market/store.ts';

export interface PackingDeps {
  readonly store: MarketStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
}

/** For this long, late prints and corrections of closed days stay as rows. */
const EVERY_MS = 600_000;
/** The first minute is left to urgent work: the feeds, the levels that are due, and the first clients. */
const AFTER_START_MS = 60_000;

/** After each transaction, packing pauses for three times its duration. So packing uses at most a quarter of the processor. */
const PAUSE_SHARE = 3;

/** Packs the prints of closed days into columns, first after `afterMs` and then every ten minutes, until stopped. */
export function startPacking(parts: PackingDeps, afterMs = AFTER_START_MS): { stop(): Promise<void> } {
  let stopped = false;
  let running: Promise<void> | undefined;
  const run = () => {
    running ??= packTape(parts, () => stopped)
      .catch((error) => parts.observe({ kind: 'packing_failed', error }))
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
export async function packTape({ store, observe, nowMs }: PackingDeps, stopped = () => false): Promise<void> {
  let prints = 0;
  try {
    let beganAt = begin();
    for (const packed of store.packTape(newYorkDate(nowMs()))) {
      prints += packed;
      if (stopped()) break;
      await Bun.sleep(PAUSE_SHARE * (performance.now() - beganAt));
      beganAt = begin();
    }
  } catch (error) {
    // Another process holds the lock for long. The next run will pack the rest.
    if (!isBusy(error)) throw error;
  }
  if (prints > 0) observe({ kind: 'tape_packed', prints });
}

/** Announces a transaction to the watchdog. Returns when the transaction began, ms. */
function begin(): number {
  began('packing the tape');
  return performance.now();
}
