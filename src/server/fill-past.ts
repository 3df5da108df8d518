import { FLOW_WINDOW_DAYS } from '../analytics/flow/flow.ts';
import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Observe } from '../core/events.ts';
import { collectSoon } from '../core/garbage.ts';
import type { Steps } from '../core/steps.ts';
import { runEvery, untilIdle } from '../feeds/background.ts';
import { type DiskSpace, NoDiskSpace } from '../feeds/disk-space.ts';
import { type Instrument, instrumentsOf } from '../feeds/simulated/instruments.ts';
import { simulatedChain } from '../feeds/simulated/simulated-chain.ts';
import { PRINT_DAYS } from '../feeds/simulated/simulated-feed.ts';
import { simulatedPrintsIn } from '../feeds/simulated/simulated-prints.ts';
import { DAY_MS } from '../market/calendar.ts';
import type { PastProgress } from '../market/feed-ledger.ts';
import { newestSimulated, pastMoments } from '../market/simulated-past.ts';
import type { Universe } from '../market/universe.ts';
import { levelRecordOf } from '../operations/history/level-recorder.ts';
import type { Store } from '../store/sqlite.ts';

export interface PastDeps {
  readonly store: Store;
  readonly seed: number;
  readonly universe: Universe;
  readonly largePrintMinUsd: number;
  /** The wall clock, ms since the epoch. */
  readonly nowMs: () => number;
  /** Returns the ticker that is filled first. */
  readonly tickerInView: () => string;
  /** Returns whether clients wait for answers. */
  readonly isAnswering: () => boolean;
  readonly room: DiskSpace;
  readonly observe: Observe;
}

/** The ledger has the progress under the name of the simulated feed. */
const FEED = 'simulated';
/**
 * Time from one fill to the next, ms. Usually the first fill leaves nothing to later fills, except after a failure, or if the machine slept in
 * trading hours.
 */
const EVERY_MS = 3_600_000;
/**
 * Time after which computed snapshots are written, ms. A commit syncs the disk, so single snapshots are not written on their own. The
 * transaction takes some 10 ms.
 */
const BATCH_MS = 50;
/** Maximum number of prints in a transaction. */
const PIECE_PRINTS = 250;
/** The log has a line for each of this many parts of the past. */
const LOGGED_PARTS = 10;

/** Fills the past of the simulated market, now and again each hour. */
export function startPastFill(deps: PastDeps): { stop(): Promise<void> } {
  const onError = (error: unknown) =>
    deps.observe({ kind: 'past_failed', error: error instanceof NoDiskSpace ? error.message : error });
  return runEvery((isStopped) => fillPast(deps, isStopped), { everyMs: EVERY_MS, onError });
}

/**
 * Fills the past of the simulated market once, in steps between requests: the snapshots of `pastMoments` with their levels, and the prints
 * of the 30 days before each of them. Snapshots and prints that are stored already stay as they are. The ticker in view comes first, and the
 * newest snapshot of a ticker. The result depends only on the seed, the universe and the time, however often the fill was interrupted. The
 * present of all tickers must be stored with its levels: then the levels of the past are no news, and clients get no event for them. Rejects
 * with `NoDiskSpace` if the data folder is full.
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
    if (steps.next().done) break;
  }
  const snapshots = last!.done - first!.done;
  if (snapshots === 0) return;
  observe({ kind: 'past_filled', snapshots, duration_ms: Math.round(performance.now() - startedAt) });
  collectSoon();
}

/** Fills what is missing. Calls `onProgress` at the begin and after each transaction of snapshots. */
function* fillGaps(deps: PastDeps, onProgress: (past: PastProgress) => void): Steps<void> {
  const { store, seed, universe, nowMs, largePrintMinUsd, room, tickerInView } = deps;
  const newest = newestSimulated(nowMs());
  const all = pastMoments(newest);
  /** The tickers that lack snapshots, with the moments of these. */
  let gaps: { readonly instrument: Instrument; readonly moments: number[]; hasPrints: boolean }[] = [];
  let missing = 0;
  for (const instrument of instrumentsOf(seed, universe)) {
    yield { message: 'Listing the missing snapshots' };
    const moments = missingOf(store, instrument.ticker, all);
    missing += moments.length;
    gaps.push({ instrument, moments, hasPrints: false });
  }
  const total = all.length * gaps.length;
  onProgress({ done: total - missing, total });

  let writes: (() => void)[] = [];
  for (let writtenAt = performance.now(); ; ) {
    gaps = gaps.filter(({ moments }) => moments.length > 0);
    const gap = gaps.find(({ instrument }) => instrument.ticker === tickerInView()) ?? gaps[0];
    if (gap === undefined || performance.now() - writtenAt > BATCH_MS) {
      yield { message: 'Storing snapshots' };
      const fullReason = room.fullReason();
      if (fullReason !== undefined) throw new NoDiskSpace(fullReason);
      missing -= writes.length;
      const past = { done: total - missing, total };
      store.transaction(() => {
        for (const write of writes) write();
        store.pastFilled(FEED, past);
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
    writes.push(() => {
      store.saveChain(chain);
      store.saveLevels(store.chainIdAt(chain.underlying, true, chain.asOf)!, levels);
    });
  }
}

/** Returns the moments, the newest first, of which a ticker has neither a snapshot nor levels. Retention may remove one of both. */
function missingOf(store: Store, ticker: string, moments: readonly number[]): number[] {
  const stored = new Set([
    ...store.snapshots(ticker).flatMap(({ simulated, asOf }) => (simulated ? [asOf] : [])),
    ...store.levelTimes(ticker, moments.at(-1)!, moments[0]!, 'snapshot', true),
  ]);
  return moments.filter((moment) => !stored.has(moment));
}

/** Stores the prints before the snapshots that the feed does not deliver, because they are older than those of its first poll. */
function* storePrints(instrument: Instrument, oldest: number, newest: number, store: Store): Steps<void> {
  yield { message: 'Simulating prints' };
  const from = oldest - FLOW_WINDOW_DAYS * DAY_MS;
  const prints = simulatedPrintsIn(instrument, from - 1, newest - PRINT_DAYS * DAY_MS);
  for (let i = 0; i < prints.length; i += PIECE_PRINTS) {
    yield { message: 'Storing prints' };
    store.savePrints(prints.slice(i, i + PIECE_PRINTS));
  }
}
