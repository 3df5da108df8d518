import { announceStep } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { addDays, newYorkDate, newYorkInstant } from '../market/calendar.ts';
import { AHEAD_MS } from '../market/market.ts';
import type { MarketStore } from '../market/store.ts';

/** How many New York days of each kind of data are kept, in addition to the present day. If a field is omitted, all days are kept. */
export interface RetentionDays {
  readonly prints?: number | undefined;
  /** Days of which snapshots are kept. The newest snapshot of a ticker is always kept. */
  readonly chains?: number | undefined;
  /** Days of which all snapshots are kept. Of an earlier day, only the last snapshot of each ticker is kept. */
  readonly intraday?: number | undefined;
}

export interface RetentionDeps {
  readonly store: MarketStore;
  readonly kept: RetentionDays;
  readonly observe: Observe;
  readonly nowMs: () => number;
}

/** Time from one removal to the next, ms. */
const EVERY_MS = 3_600_000;

/**
 * Removes data that is past its retention. The first removal begins immediately, and a further removal begins every hour until `stop` is
 * called.
 */
export function startRetention(deps: RetentionDeps): { stop(): void } {
  let hasStopped = false;
  const run = () =>
    void removeOld(deps, () => hasStopped).catch((error) => deps.observe({ kind: 'retention_failed', error }));
  run();
  const timer = setInterval(run, EVERY_MS);
  return {
    stop() {
      hasStopped = true;
      clearInterval(timer);
    },
  };
}

/** Removes all data that is past its retention, in short transactions. Other work has its turn between two transactions. */
export async function removeOld(
  { store, kept, observe, nowMs }: RetentionDeps,
  isStopped = () => false,
): Promise<void> {
  const fromOf = (days: number | undefined) =>
    days === undefined ? undefined : newYorkInstant(addDays(newYorkDate(nowMs()), -days), '00:00');
  const limits = {
    printsFromMs: fromOf(kept.prints),
    chainsFromMs: fromOf(kept.chains),
    intradayFromMs: fromOf(kept.intraday),
    presentMs: nowMs() + AHEAD_MS,
  };
  if (Object.values(kept).every((each) => each === undefined)) return;
  const total = { prints: 0, chains: 0 };
  while (!isStopped()) {
    announceStep('retention');
    const { prints, chains } = store.removeOld(limits);
    if (prints + chains === 0) break;
    total.prints += prints;
    total.chains += chains;
    await new Promise(setImmediate);
  }
  if (total.prints + total.chains > 0) observe({ kind: 'old_removed', ...total });
}
