import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Observe } from '../core/events.ts';
import { collectSoon } from '../core/garbage.ts';
import type { Ledger } from '../core/ledger.ts';
import type { IngestStore } from '../feeds/accept-delivery.ts';
import { runEvery, untilIdle } from '../feeds/background.ts';
import { type DiskSpace, NoDiskSpace } from '../feeds/disk-space.ts';
import { type Instrument, instrumentsOf, type SimulationOptions } from '../feeds/simulated/instruments.ts';
import { simulatedChain } from '../feeds/simulated/simulated-chain.ts';
import { PRINT_DAYS } from '../feeds/simulated/simulated-feed.ts';
import { simulatedPrintsIn } from '../feeds/simulated/simulated-prints.ts';
import { DAY_MS } from '../market/calendar.ts';
import type { PastProgress } from '../market/feed-ledger.ts';
import { newestSimulated, pastMoments } from '../market/simulated-past.ts';
import type { KnownMarket } from '../market/store.ts';
import { levelRecordOf } from '../operations/history/level-recorder.ts';

export interface PastDeps extends SimulationOptions {
  readonly store: KnownMarket & Ledger<IngestStore>;
  readonly largePrintMinUsd: number;
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number;
  /** Returns the ticker with which the fill begins. */
  readonly tickerInView: () => string;
  /** Returns whether clients are waiting for answers. */
  readonly isAnswering: () => boolean;
  readonly room: DiskSpace;
  readonly observe: Observe;
}

/** The name of the simulated feed. The feed ledger stores the progress of the fill under this name. */
const FEED = 'simulated';
/** Interval between two fills, ms. A later fill has work only if an earlier fill failed, or if the machine slept in trading hours. */
const EVERY_MS = 3_600_000;
/** Time for computing one batch of snapshots, ms. A batch is one transaction of about 10 ms, because each commit syncs the disk. */
const BATCH_MS = 50;
/** Maximum number of prints in a transaction. */
const PIECE_PRINTS = 250;
/** Number of log lines about a fill's progress. */
const LOGGED_PARTS = 10;

/** Fills the past of the simulated market now, and again each hour. */
export function startPastFill(deps: PastDeps): { stop(): Promise<void> } {
  const onError = (error: unknown) =>
    deps.observe({ kind: 'past_failed', error: error instanceof NoDiskSpace ? error.message : error });
  return runEvery((isStopped) => fillPast(deps, isStopped), { everyMs: EVERY_MS, onError });
}

/**
 * Fills the past of the simulated market once, in steps between requests: the missing snapshots and levels at `pastMoments`, and prints
 * from 30 days before the oldest. Begins with the ticker in view, and with the newest snapshots of each ticker. The result depends only on
 * the seed, the universe and the present time, even after an interruption. The present levels must be stored before, so that clients get no
 * events for past levels. Rejects with `NoDiskSpace` if the data folder is full.
 */
export async function fillPast(deps: PastDeps, isStopped = () => false): Promise<void> {
  const { isAnswering, observe } = deps;
  const startedAt = performance.now();
  let first: PastProgress | undefined;
  let last: PastProgress | undefined;
  const partOf = ({ done, total }: PastProgress) => Math.floor((LOGGED_PARTS * done) / total);
  const onProgress = (past: PastProgress) => {
    if (past.done < past.total && (!last || partOf(past) > partOf(last))) observe({ kind: 'past_filling', ...past });
    first ??= past;
    last = past;
  };
  const steps = fillGaps(deps, onProgress);
  for (let waitedAt = startedAt; ; ) {
    await new Promise(setImmediate);
    if (performance.now() - waitedAt > BATCH_MS) {
      await untilIdle(isAnswering, isStopped);
      waitedAt = performance.now();
    }
    if (isStopped()) return;
    announceStep('past of the simulated market');
    if ((await steps.next()).done) break;
  }
  const snapshots = last!.done - first!.done;
  if (snapshots === 0) return;
  observe({ kind: 'past_filled', snapshots, duration_ms: Math.round(performance.now() - startedAt) });
  collectSoon();
}

/** Writes the missing snapshots. Calls `onProgress` at the start and after each transaction of snapshots. */
async function* fillGaps(deps: PastDeps, onProgress: (past: PastProgress) => void): AsyncGenerator<unknown, void> {
  const { store, clock, nowMs, largePrintMinUsd, room, tickerInView } = deps;
  const newest = newestSimulated(nowMs(), clock);
  const all = pastMoments(newest);
  /** The tickers with missing snapshots, with the times of these snapshots. */
  let gaps: { readonly instrument: Instrument; readonly moments: number[]; hasPrints: boolean }[] = [];
  let missing = 0;
  for (const instrument of instrumentsOf(deps)) {
    yield { message: 'Listing the missing snapshots' };
    const moments = missingOf(store, instrument.ticker, all);
    missing += moments.length;
    gaps.push({ instrument, moments, hasPrints: false });
  }
  const total = all.length * gaps.length;
  onProgress({ done: total - missing, total });

  let writes: ((tx: IngestStore) => void)[] = [];
  for (let writtenAt = performance.now(); ; ) {
    gaps = gaps.filter(({ moments }) => moments.length > 0);
    const gap = gaps.find(({ instrument }) => instrument.ticker === tickerInView()) ?? gaps[0];
    if (gap === undefined || performance.now() - writtenAt > BATCH_MS) {
      yield { message: 'Storing snapshots' };
      const fullReason = room.fullReason();
      if (fullReason !== undefined) throw new NoDiskSpace(fullReason);
      missing -= writes.length;
      const past = { done: total - missing, total };
      const batch = writes;
      await store.write((tx) => {
        for (const write of batch) write(tx);
        tx.pastFilled(FEED, past);
      });
      onProgress(past);
      writes = [];
      writtenAt = performance.now();
    }
    if (gap === undefined) return;
    const { instrument, moments } = gap;
    if (!gap.hasPrints) yield* storePrints(instrument, all.at(-1)!, newest, store);
    gap.hasPrints = true;
    yield { message: 'Simulating a snapshot' };
    const chain = simulatedChain(instrument, moments.shift()!);
    const levels = yield* levelRecordOf(chain, store, largePrintMinUsd);
    writes.push((tx) => tx.saveLevels(tx.saveChain(chain), levels));
  }
}

/** Returns the times, newest first, without snapshot and levels. With levels alone, retention may have removed the snapshot. */
function missingOf(store: KnownMarket, ticker: string, moments: readonly number[]): number[] {
  const stored = new Set([
    ...store.snapshots(ticker).flatMap(({ simulated, asOf }) => (simulated ? [asOf] : [])),
    ...store.levelTimes(ticker, moments.at(-1)!, moments[0]!, 'snapshot', true),
  ]);
  return moments.filter((moment) => !stored.has(moment));
}

/** Stores old prints before the snapshots. The feed does not deliver old prints, because its first poll delivers only recent prints. */
async function* storePrints(
  instrument: Instrument,
  oldest: number,
  newest: number,
  store: PastDeps['store'],
): AsyncGenerator<unknown, void> {
  yield { message: 'Simulating prints' };
  const from = oldest - FLOW_WINDOW_DAYS * DAY_MS;
  const prints = simulatedPrintsIn(instrument, from - 1, newest - PRINT_DAYS * DAY_MS);
  for (let i = 0; i < prints.length; i += PIECE_PRINTS) {
    yield { message: 'Storing prints' };
    await store.write((tx) => tx.savePrints(prints.slice(i, i + PIECE_PRINTS)));
  }
}
