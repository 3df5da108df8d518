import { announceStep } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { addDays, newYorkDate, newYorkInstant } from '../market/calendar.ts';
import { AHEAD_MS } from '../market/market.ts';
import type { MarketStore } from '../market/store.ts';

/** How many New York days are kept, not counting the present one. If omitted, all days are kept. */
export interface RetentionDays {
  readonly prints?: number | undefined;
  readonly chains?: number | undefined;
  /** Of the days before these, only the last snapshot of each day is kept. */
  readonly intraday?: number | undefined;
}

export interface RetentionDeps {
  readonly store: MarketStore;
  readonly kept: RetentionDays;
  readonly observe: Observe;
  readonly nowMs: () => number;
}

const EVERY_MS = 3_600_000;

/** Removes data that is past its retention, now and every hour, until stopped. */
export function startRetention(deps: RetentionDeps): { stop(): void } {
  let stopped = false;
  const run = () =>
    void removeOld(deps, () => stopped).catch((error) => deps.observe({ kind: 'retention_failed', error }));
  run();
  const timer = setInterval(run, EVERY_MS);
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

/** Removes data that is past its retention once, in pieces. Requests and feeds are served between two pieces. */
export async function removeOld({ store, kept, observe, nowMs }: RetentionDeps, stopped = () => false): Promise<void> {
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
  while (!stopped()) {
    announceStep('retention');
    const { prints, chains } = store.removeOld(limits);
    if (prints + chains === 0) break;
    total.prints += prints;
    total.chains += chains;
    await new Promise(setImmediate);
  }
  if (total.prints + total.chains > 0) observe({ kind: 'old_removed', ...total });
}
