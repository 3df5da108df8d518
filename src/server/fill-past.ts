import { setPriority } from 'node:os';
import { computeLevelRecord, volatilityAt30Days } from '../analytics/exposure/compute-level-record.ts';
import { directionalPremium, FLOW_WINDOW_DAYS, largePrints } from '../analytics/flow/flow.ts';
import { OperatorError } from '../core/errors.ts';
import { runToCompletion } from '../core/steps.ts';
import { createDataRoom, type DataRoom, NoRoom } from '../feeds/data-room.ts';
import { preferAsOomVictim } from '../feeds/own-program.ts';
import type { FillerJob, FromFiller, ToFiller } from '../feeds/past-fill.ts';
import { type Instrument, instrumentsOf } from '../feeds/simulated/instruments.ts';
import { simulatedChain } from '../feeds/simulated/simulated-chain.ts';
import { PRINT_DAYS } from '../feeds/simulated/simulated-feed.ts';
import { simulatedPrintsIn } from '../feeds/simulated/simulated-prints.ts';
import { DAY_MS } from '../market/calendar.ts';
import type { PastProgress } from '../market/feed-ledger.ts';
import { storedDividends } from '../market/market.ts';
import { sumOf } from '../market/prints.ts';
import { newestSimulated, pastMoments } from '../market/simulated-past.ts';
import type { Universe } from '../market/universe.ts';
import { encodeChainAsync } from '../store/chain-codec.ts';
import type { Store } from '../store/sqlite.ts';
import { openData, readUniverse } from './stored-data.ts';

export interface PastDeps {
  readonly store: Store;
  readonly seed: number;
  readonly universe: Universe;
  /** The moment up to which the past is filled. */
  readonly nowMs: number;
  readonly largePrintMinUsd: number;
  /** Returns the ticker that is filled first. */
  readonly tickerInView: () => string;
  /** The check of the data folder's size. If omitted, the past is always stored. */
  readonly room?: DataRoom;
  /** Resolves when the store may be written. Until then, snapshots of one ticker are computed and wait in memory. */
  readonly mayWrite?: Promise<unknown>;
  /** Called at the begin and after each batch. The next batch begins when the result resolves. */
  readonly onProgress?: (past: PastProgress) => void | Promise<void>;
  readonly isStopped?: () => boolean;
}

/** The ledger has the progress under the name of the simulated feed. */
const FEED = 'simulated';
/** Time after which computed snapshots are written, ms. A commit syncs the disk, so single snapshots are not written on their own. */
const BATCH_MS = 100;
/** Maximum number of snapshots, and of prints, in a transaction. Writers of other processes wait while a transaction runs. */
const PIECE_SNAPSHOTS = 16;
const PIECE_PRINTS = 250;

/**
 * Fills the past of the simulated market: the snapshots of `pastMoments` with their levels, and the prints of the 30 days before each of
 * them. Snapshots and prints that are stored already stay as they are. The ticker in view comes first. For each ticker, first come the
 * snapshots with their levels, and then the volatilities at 30 days, because these take most of the time. The result depends only on the
 * seed, the universe and `nowMs`, however often the fill was interrupted. Throws `NoRoom` if the data folder is full.
 */
export async function fillPast(deps: PastDeps): Promise<void> {
  const { store, seed, universe, nowMs, room, tickerInView, mayWrite, onProgress, isStopped = () => false } = deps;
  const newest = newestSimulated(nowMs);
  const moments = pastMoments(newest);
  const gaps = instrumentsOf(seed, universe).map((instrument) => gapsOf(store, instrument, moments));
  const total = moments.length * gaps.length;
  let isWritable = mayWrite === undefined;
  void mayWrite?.then(() => {
    isWritable = true;
  });
  const progress = (): PastProgress => {
    const missing = gaps.reduce((sum, { snapshots, volatilities }) => sum + snapshots.length + volatilities.length, 0);
    return { done: total - missing, total };
  };
  /** Runs the writes in short transactions. The last one also records the progress. */
  const commit = async (writes: readonly (() => void)[], past: PastProgress) => {
    for (let i = 0, isLast = false; !isLast; i += PIECE_SNAPSHOTS) {
      isLast = i + PIECE_SNAPSHOTS >= writes.length;
      store.transaction(() => {
        for (const write of writes.slice(i, i + PIECE_SNAPSHOTS)) write();
        if (isLast) store.pastFilled(FEED, past);
      });
      await new Promise(setImmediate);
    }
    await onProgress?.(past);
  };

  await onProgress?.(progress());
  let filled: TickerFill | undefined;
  while (!isStopped()) {
    const open = gaps.filter(({ snapshots, volatilities }) => snapshots.length + volatilities.length > 0);
    const next = open.find(({ instrument }) => instrument.ticker === tickerInView()) ?? open[0];
    const isOther = next !== undefined && filled?.instrument !== next.instrument;
    if (isOther) filled = tickerFill(next.instrument, newest, moments.at(-1)!, deps);
    const hasNoSnapshots = isOther && next.snapshots.length > 0;
    const writes = next
      ? await batchOf(next, filled!, (sinceMs) => isStopped() || (isWritable && sinceMs > BATCH_MS))
      : [];
    await mayWrite;
    const fullReason = room?.fullReason();
    if (fullReason !== undefined) throw new NoRoom(fullReason);
    if (hasNoSnapshots) filled!.storePrints();
    await commit(writes, progress());
    if (next === undefined) return;
  }
}

/** What is missing of the past of a ticker: moments, the newest first. */
interface Gaps {
  readonly instrument: Instrument;
  /** Moments without a snapshot. */
  readonly snapshots: number[];
  /** Moments with levels that lack the volatility at 30 days. */
  readonly volatilities: number[];
}

function gapsOf(store: Store, instrument: Instrument, moments: readonly number[]): Gaps {
  const { ticker } = instrument;
  const levels = store.levels(ticker, moments, true);
  // A snapshot that the feed delivered may have no levels yet. Levels stay if retention removes their snapshot.
  const stored = new Set([
    ...store.snapshots(ticker).flatMap(({ simulated, asOf }) => (simulated ? [asOf] : [])),
    ...levels.map(({ asOf }) => asOf),
  ]);
  const without = new Set(levels.filter(({ atmIv30d }) => atmIv30d === null).map(({ asOf }) => asOf));
  return {
    instrument,
    snapshots: moments.filter((moment) => !stored.has(moment)),
    volatilities: moments.filter((moment) => without.has(moment)),
  };
}

/**
 * Computes snapshots, or if none is missing, volatilities, until `isEnough` returns true. Removes them from the gaps, and returns the writes
 * that store them. `isEnough` gets the time since the begin, ms.
 */
async function batchOf(
  { snapshots, volatilities }: Gaps,
  fill: TickerFill,
  isEnough: (sinceMs: number) => boolean,
): Promise<(() => void)[]> {
  const beganAt = performance.now();
  const writes: (() => void)[] = [];
  const [queue, compute] = snapshots.length > 0 ? [snapshots, fill.snapshot] : [volatilities, fill.volatility];
  while (queue.length > 0 && !isEnough(performance.now() - beganAt)) {
    const moment = queue.shift()!;
    writes.push(await compute(moment));
    if (queue === snapshots) volatilities.push(moment);
  }
  return writes;
}

/** The functions that fill the past of one ticker. */
type TickerFill = ReturnType<typeof tickerFill>;

function tickerFill(
  instrument: Instrument,
  newest: number,
  oldest: number,
  { store, largePrintMinUsd }: Pick<PastDeps, 'store' | 'largePrintMinUsd'>,
) {
  const prints = simulatedPrintsIn(instrument, oldest - FLOW_WINDOW_DAYS * DAY_MS - 1, newest);
  const large = largePrints(prints, largePrintMinUsd);
  return {
    instrument,
    /** Stores the prints that the feed does not deliver, because they are older than those of its first poll. */
    storePrints(): void {
      const older = prints.filter(({ at }) => at <= newest - PRINT_DAYS * DAY_MS);
      for (let i = 0; i < older.length; i += PIECE_PRINTS) store.savePrints(older.slice(i, i + PIECE_PRINTS));
    },
    /** Computes a snapshot and its levels, except the volatility at 30 days. Returns the write that stores both. */
    async snapshot(asOf: number): Promise<() => void> {
      const chain = simulatedChain(instrument, asOf);
      // Another thread compresses the chain while its levels are computed.
      const encoded = encodeChainAsync(chain);
      const from = asOf - FLOW_WINDOW_DAYS * DAY_MS;
      const sums = large.filter(({ at }) => at >= from && at <= asOf).map(sumOf);
      const dividends = storedDividends(store, chain);
      const levels = runToCompletion(computeLevelRecord(chain, directionalPremium(sums), dividends, null));
      const columns = await encoded;
      return () => {
        if (store.savePastChain(chain, columns)) store.savePastLevels(levels, chain.source);
      };
    },
    /** Computes the volatility at 30 days of a snapshot. Returns the write that adds it to the stored levels. */
    async volatility(asOf: number): Promise<() => void> {
      const chain = simulatedChain(instrument, asOf);
      const volatility = runToCompletion(volatilityAt30Days(chain, storedDividends(store, chain)));
      // The process receives messages between two volatilities.
      await new Promise(setImmediate);
      return () => store.saveVolatility(chain, volatility);
    },
  };
}

/**
 * The priority of the filler. With 10, it gets a tenth of the time of a processor that other processes want. The snapshots of the first ticker
 * are computed at the usual priority, because a client may wait for them.
 */
const NICENESS = 10;

/**
 * Runs the process that fills the past for the service. The process gets one job, reports its progress and ends. If the service ends first,
 * the process ends with it.
 */
export async function runFiller(): Promise<void> {
  if (!process.send) throw new OperatorError('only the service itself can start this command', 'See `zomma --help`.');
  preferAsOomVictim();
  const given = Promise.withResolvers<FillerJob>();
  const mayWrite = Promise.withResolvers<void>();
  /** Resolves when the service has answered the last report of progress. */
  let turn = Promise.withResolvers<void>();
  turn.resolve();
  let tickerInView = '';
  process.on('disconnect', () => process.exit(1));
  // A terminal sends Ctrl+C to the service and to this process. The service decides when both end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
  process.on('message', (message: ToFiller) => {
    tickerInView = message.tickerInView;
    if (message.job) given.resolve(message.job);
    if (message.mayWrite) mayWrite.resolve();
    turn.resolve();
  });
  const send = (message: FromFiller) => void process.send!(message);
  const { dataDir, dataMax, universe, seed, largePrintMinUsd } = await given.promise;
  let first: PastProgress | undefined;
  try {
    const store = openData(dataDir, 'write');
    await fillPast({
      ...{ store, seed, universe: readUniverse(universe), nowMs: Date.now(), largePrintMinUsd },
      tickerInView: () => tickerInView,
      mayWrite: mayWrite.promise,
      room: createDataRoom({ dataDir, dataMax }),
      async onProgress(past) {
        first ??= past;
        // The first complete snapshot follows after all snapshots of its ticker.
        if (past.done > first.done) lowerPriority();
        // The next batch is computed while the service answers.
        await turn.promise;
        turn = Promise.withResolvers();
        send({ past });
      },
    });
    store.close();
    send({ isComplete: true });
  } catch (error) {
    const describe = ({ message, stack }: Error) => (error instanceof NoRoom ? message : (stack ?? message));
    send({ error: error instanceof Error ? describe(error) : String(error) });
  }
}

/** Lowers the priority of this process, if the system allows it. A sandbox may forbid the call. */
function lowerPriority(): void {
  try {
    setPriority(NICENESS);
  } catch {
    // The process also makes pauses while the service answers.
  }
}
