import { isBusy } from '../errors.ts';
import { began } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { newYorkDate } from '../market/calendar.ts';
import type { MarketStore } from '../market/store.ts';

export interface PackingParts {
  readonly store: MarketStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
}

/** Late prints and corrections of closed days wait so long as rows. */
const EVERY_MS = 600_000;
/** The first minute belongs to what waits for the service: its feeds, the levels that are due, its first clients. */
const AFTER_START_MS = 60_000;

/** After each transaction packing pauses for three times as long as it took: it uses at most a quarter of the processor. */
const PAUSE_SHARE = 3;

/** Packs the prints of closed days into columns, soon and then every ten minutes, until stopped. */
export function startPacking(parts: PackingParts, afterMs = AFTER_START_MS): { stop(): Promise<void> } {
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

/** Packs them once, a short transaction at a time: requests and feeds have their turn between two. */
export async function packTape({ store, observe, nowMs }: PackingParts, stopped = () => false): Promise<void> {
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
    // Another process writes for long: the next time will do.
    if (!isBusy(error)) throw error;
  }
  if (prints > 0) observe({ kind: 'tape_packed', prints });
}

/** Announces a transaction to the watchdog. Returns when it began. */
function begin(): number {
  began('packing of the tape');
  return performance.now();
}
