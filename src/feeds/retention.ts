import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Observe } from '../core/events.ts';
import type { Ledger } from '../core/ledger.ts';
import { recordOf } from '../core/record-of.ts';
import { addDays, DAY_MS, newYorkDate, newYorkInstant } from '../market/calendar.ts';
import { AHEAD_MS } from '../market/market.ts';
import type { KnownMarket, MarketStore, RetainedKind } from '../market/store.ts';
import { runEvery } from './background.ts';

/** For each type of data, the number of New York days before today whose data is kept. If a field is omitted, all days are kept. */
export interface RetentionDays {
  readonly prints?: number | undefined;
  /** Number of days whose snapshots are kept. The newest snapshot of a ticker is always kept. */
  readonly chains?: number | undefined;
  /** Number of days for which all snapshots are kept. For earlier days, only the last snapshot of each ticker and day is kept. */
  readonly intraday?: number | undefined;
  readonly levels?: number | undefined;
}

export interface RetentionDeps {
  readonly store: Pick<KnownMarket, 'dataSpan' | 'keptFrom'> & Ledger<MarketStore>;
  readonly kept: RetentionDays;
  readonly observe: Observe;
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number;
}

/** Interval between two removals, ms. */
const EVERY_MS = 3_600_000;

/** Length of the longest removal that is never large, ms. Several days are removed at once after a weekend with holidays on both sides. */
const SMALL_MS = 7 * DAY_MS;
/** A removal is large if it covers more than LARGE_SHARE of the stored days and more than SMALL_MS. */
const LARGE_SHARE = 0.1;
/** The wait before a large removal, ms. During the wait, a person can read the log or correct a wrong clock. */
const WAIT_MS = DAY_MS;

/** Removes old data now and every hour. A large removal (LARGE_SHARE) waits for a day. `elapsedMs` is a monotonic clock, ms. */
export function startRetention(deps: RetentionDeps, elapsedMs = () => performance.now()): { stop(): Promise<void> } {
  const startedAt = elapsedMs();
  const run = (isStopped: () => boolean) => {
    const isPatient = elapsedMs() - startedAt < WAIT_MS;
    return removeOld({ ...deps, kept: isPatient ? withoutLarge(deps) : deps.kept }, isStopped);
  };
  const onError = (error: unknown) => deps.observe({ kind: 'retention_failed', error });
  return runEvery(run, { everyMs: EVERY_MS, onError });
}

/** Removes all data that is older than its retention, in short transactions. Other work runs between two transactions. */
export async function removeOld(
  { store, kept, observe, nowMs }: RetentionDeps,
  isStopped = () => false,
): Promise<{ readonly prints: number; readonly chains: number; readonly levels: number }> {
  const total = { prints: 0, chains: 0, levels: 0 };
  if (Object.values(kept).every((each) => each === undefined)) return total;
  const limits = {
    printsFromMs: limitOf('prints', { store, kept, nowMs }),
    chainsFromMs: limitOf('chains', { store, kept, nowMs }),
    intradayFromMs: limitOf('intraday', { store, kept, nowMs }),
    levelsFromMs: limitOf('levels', { store, kept, nowMs }),
    presentMs: nowMs() + AHEAD_MS,
  };
  while (!isStopped()) {
    announceStep('retention');
    const { prints, chains, levels } = await store.write((tx) => tx.removeOld(limits));
    if (prints + chains + levels === 0) break;
    total.prints += prints;
    total.chains += chains;
    total.levels += levels;
    await new Promise(setImmediate);
  }
  if (total.prints + total.chains + total.levels > 0) observe({ kind: 'old_removed', ...total });
  return total;
}

/**
 * Returns the time from which data of one type is kept: a New York midnight, ms since the epoch. Days count back from the present or the
 * newest data, the earlier one, so a clock that is ahead removes nothing too early.
 */
function limitOf(kind: RetainedKind, { store, kept, nowMs }: Omit<RetentionDeps, 'observe'>): number | undefined {
  const days = kept[kind];
  if (days === undefined) return undefined;
  const untilMs = nowMs() + AHEAD_MS;
  const newest = (['chains', 'prints'] as const).map((each) => store.dataSpan(each, untilMs)?.toMs ?? 0);
  const from = Math.min(nowMs(), Math.max(...newest) || nowMs());
  return newYorkInstant(addDays(newYorkDate(from), -days), '00:00');
}

/** Returns the days to keep by kind of data, without kinds that would lose a large share at once, which are reported. */
function withoutLarge(deps: RetentionDeps): RetentionDays {
  const { store, kept, observe, nowMs } = deps;
  const small = (Object.keys(kept) as RetainedKind[]).filter((kind) => {
    const limit = limitOf(kind, deps);
    const span = store.dataSpan(kind === 'intraday' ? 'chains' : kind, nowMs() + AHEAD_MS);
    if (limit === undefined || span === undefined) return true;
    // The last snapshot of an untracked ticker is never removed. So after the first removal, the oldest snapshot does not show how much
    // data is due for removal. The code also uses `keptFrom`, the time from which all data is kept.
    const dueMs = limit - Math.max(span.fromMs, store.keptFrom(kind));
    const isLarge = dueMs > SMALL_MS && dueMs > LARGE_SHARE * (span.toMs - span.fromMs);
    if (isLarge) observe({ kind: 'retention_waits', of: kind, days: Math.round(dueMs / DAY_MS) });
    return !isLarge;
  });
  return recordOf(small, (kind) => kept[kind]);
}
