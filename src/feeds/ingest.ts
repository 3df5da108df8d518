import { isAway, isBusy } from '../core/errors.ts';
import { announceStep } from '../core/event-loop-watchdog.ts';
import type { Observe } from '../core/events.ts';
import { withinMs } from '../core/within-ms.ts';
import { hasOpenInterest, onlyExpiryOf } from '../market/chain.ts';
import { type Delivery, type Feed, isLocal } from '../market/feed.ts';
import { NO_OPEN_INTEREST, ONE_EXPIRY } from '../market/feed-ledger.ts';
import type { StoredChain } from '../market/store.ts';
import { type AcceptResult, acceptDelivery, type IngestLedger, type IngestStore } from './accept-delivery.ts';
import { batchesOf } from './batches.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { type DiskSpace, NoDiskSpace } from './disk-space.ts';
import { nextPollAt } from './schedule.ts';

export interface IngestDeps {
  readonly feed: Feed;
  readonly store: IngestLedger;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** The check of the data folder's size. If omitted, market data is always stored. */
  readonly room?: DiskSpace;
  /** Called after each transaction of market data, with the chains that the transaction has stored. */
  readonly onStored?: (chains: readonly StoredChain[]) => void;
}

/** Pause before an ended stream is reopened, ms. */
const REOPEN_MS = 5_000;
/** Maximum pause between two checks of the clock, ms. So the loop soon notices a step of the clock or a sleep of the machine. */
const SLEEP_MS_MAX = 5_000;

/** Stores the deliveries of a feed's stream and of its polls, by its schedule. A failed poll is reported, and the next one takes place. */
export function startIngest(deps: IngestDeps) {
  const { feed, nowMs } = deps;
  const abort = new AbortController();
  const { signal } = abort;
  const loaded = Promise.withResolvers<void>();

  const poll = async (): Promise<void> => {
    const { elapsed, pause } = SYSTEM_CLOCK;
    // The time of the last poll does not change if the clock is set. If the clock is set back, the next poll is still due on time.
    for (let polled: number | undefined; !signal.aborted; ) {
      const now = nowMs();
      const at = nextPollAt(feed.pace, polled === undefined ? undefined : now - (elapsed() - polled), now);
      if (at > now) {
        await pause(Math.min(at - now, SLEEP_MS_MAX), signal);
        continue;
      }
      polled = elapsed();
      // The error is ignored, because `ingestOnce` has reported it.
      await ingestOnce(deps, signal).catch(() => {});
      loaded.resolve();
    }
    loaded.resolve();
  };
  const running = Promise.all([poll(), ingestStream(deps, signal)]);
  return {
    /** Resolves when the first poll has completed, failed, or been stopped. */
    loaded: loaded.promise,
    /** Stops polls and streams after the current transaction. Resolves when they have ended. */
    async stop() {
      abort.abort();
      await running;
    },
  };
}

/** Maximum time that the service waits for a feed to stop, ms. A feed first ends its current operation, which the system may block. */
const INGEST_STOP_MS = 3_000;

/** Starts the ingest of each feed. */
export function startIngests(feeds: readonly Feed[], deps: Omit<IngestDeps, 'feed'>) {
  const ingests = feeds.map((feed) => startIngest({ ...deps, feed }));
  let stopping: Promise<boolean> | undefined;
  return {
    /** Resolves when the local feeds are loaded. Until feeds over a network deliver, the service answers from the stored data. */
    localLoaded: Promise.all(ingests.filter((_, i) => isLocal(feeds[i]!)).map(({ loaded }) => loaded)),
    /** Stops all feeds. Resolves with false if one still runs after INGEST_STOP_MS. Further calls return the first result. */
    stop: () => (stopping ??= withinMs(INGEST_STOP_MS, Promise.all(ingests.map((ingest) => ingest.stop())))),
  };
}

/**
 * Polls a feed once and stores its deliveries. A full folder is recorded as the poll's error, and any other is also reported and thrown.
 */
export async function ingestOnce(deps: IngestDeps, signal?: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs } = deps;
  const startedAt = performance.now();
  const beganAt = nowMs();
  const recordEnd = (error: string | null) => {
    const endedAt = nowMs();
    const nextAt = nextPollAt(feed.pace, beganAt, endedAt);
    const poll = { feed: feed.name, beganAt, endedAt, nextAt, error };
    return writeRetrying(store, (tx) => tx.pollEnded(poll), signal);
  };
  const fullReason = deps.room?.fullReason();
  if (fullReason !== undefined) return recordEnd(fullReason);
  try {
    if (feed.tickers.length > 0) await writeRetrying(store, (tx) => tx.pollBegan(feed.name, beganAt), signal);
    const counts = await storeAll(feed.poll(beganAt, signal), deps, signal);
    await recordEnd(null);
    observe({ kind: 'ingest_polled', ...counts, duration_ms: Math.round(performance.now() - startedAt) });
  } catch (error) {
    if (error instanceof NoDiskSpace) return recordEnd(error.message);
    observe({ kind: 'ingest_failed', error });
    await recordEnd('The feed failed. The log has the error.');
    throw error;
  }
}

/** Stores the deliveries of a feed's stream. Records the periods in which the stream is down, because it misses trades in these periods. */
async function ingestStream(deps: IngestDeps, signal: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs, room } = deps;
  const { stream } = feed;
  if (stream === undefined) return;
  /** Time of the last stored connection or disconnection, ms since the epoch. */
  let connectionChangedAt: number | undefined;
  const recordDown = (at: number, reason: string) =>
    writeRetrying(store, (tx) => tx.connection(feed.name, false, at, reason), signal);
  const connectionOf = () => store.feedStates().find((each) => each.feed === feed.name)?.connection;
  const reportErrors = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof NoDiskSpace)) observe({ kind: 'ingest_failed', error });
    }
  };

  await reportErrors(async () => {
    const before = store.feedStates().find((each) => each.feed === feed.name);
    // If the stored connection is still up, the previous process was killed, after the end of its last poll or later.
    const last = Math.max(before?.connection?.at ?? 0, before?.completedAt ?? 0);
    if (before?.connection?.up) await recordDown(last, 'the service ended unexpectedly');
  });
  while (!signal.aborted) {
    let lastStoredAt = nowMs();
    await reportErrors(async () => {
      const onStored: IngestDeps['onStored'] = (chains) => {
        lastStoredAt = nowMs();
        connectionChangedAt = connectionOf()?.at;
        deps.onStored?.(chains);
      };
      await storeAll(stream(signal), { ...deps, onStored }, signal);
    });
    if (signal.aborted) break;
    await reportErrors(() => recordDown(lastStoredAt, room?.fullReason() ?? 'the stream ended'));
    do await SYSTEM_CLOCK.pause(REOPEN_MS, signal);
    while (!signal.aborted && room?.fullReason() !== undefined);
  }
  // The end of the connection is recorded, unless another process has since opened the stream.
  await reportErrors(async () => {
    const isCurrent = connectionChangedAt !== undefined && connectionOf()?.at === connectionChangedAt;
    if (isCurrent) await recordDown(nowMs(), 'the service was stopped');
  });
}

/** Time after which a transaction starts no further piece, ms. Requests wait for it, and shorter ones would mostly sync the disk. */
const TRANSACTION_MS = 6;
/** Maximum number of prints in a piece. The write of a piece takes two or three milliseconds. */
const PIECE_PRINTS = 250;

/** Maximum number of tries of a write while another process locks the database. Each try itself waits some seconds for the lock. */
const BUSY_TRIES = 12;
/** Pause between two tries. */
const BUSY_PAUSE_MS = 250;

/**
 * Returns the result of a write, which is repeated until `signal`: up to BUSY_TRIES times while another process holds the lock, and as long as
 * the database of several servers is away.
 */
async function writeRetrying<T>(
  store: IngestLedger,
  work: (tx: IngestStore) => T,
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await store.write(work);
    } catch (error) {
      const isLast = tries >= BUSY_TRIES && !(signal && isAway(error));
      if (!isBusy(error) || isLast || signal?.aborted) throw error;
      await SYSTEM_CLOCK.pause(BUSY_PAUSE_MS, signal);
    }
  }
}

interface Counts {
  chains: number;
  prints: number;
  refusals: number;
}

/** Stores deliveries in short transactions, until `signal` is aborted. Returns the counts. Throws `NoDiskSpace` if the folder is full. */
async function storeAll(deliveries: AsyncIterable<Delivery>, deps: IngestDeps, signal?: AbortSignal): Promise<Counts> {
  const { feed, store, observe, nowMs, onStored, room } = deps;
  const counts = { chains: 0, prints: 0, refusals: 0 };
  const rules = { isPolled: !isLocal(feed), isFile: isLocal(feed) && !feed.simulated };
  const step = `ingest ${feed.name}`;
  /** Writes the first piece, and then further pieces until TRANSACTION_MS have passed. Returns the results of the written pieces. */
  const acceptFirst = (pieces: readonly Delivery[], tx: IngestStore): AcceptResult[] => {
    const deadline = performance.now() + TRANSACTION_MS;
    const results: AcceptResult[] = [];
    do {
      const result = acceptDelivery(pieces[results.length]!, tx, nowMs(), rules);
      record(result, feed, tx, nowMs());
      results.push(result);
    } while (results.length < pieces.length && performance.now() < deadline);
    return results;
  };
  for await (const batch of batchesOf(deliveries)) {
    for (let pieces = batch.flatMap(piecesOf); pieces.length > 0; ) {
      // The server handles requests before each transaction.
      await new Promise(setImmediate);
      announceStep(step);
      const fullReason = room?.fullReason();
      if (fullReason !== undefined) throw new NoDiskSpace(fullReason);
      const left = pieces;
      const results = await writeRetrying(store, (tx) => acceptFirst(left, tx), signal);
      pieces = left.slice(results.length);
      for (const result of results) report(result, counts, observe);
      onStored?.(results.flatMap(({ stored }) => stored ?? []));
      if (signal?.aborted) return counts;
    }
  }
  return counts;
}

/** Splits a delivery of many prints into pieces. The write of a piece takes a few ms. The first piece has the counts of rejected rows. */
function piecesOf(delivery: Delivery): Delivery[] {
  if (delivery.kind !== 'prints' || delivery.prints.length <= PIECE_PRINTS) return [delivery];
  const { prints, refused } = delivery;
  return Array.from({ length: Math.ceil(prints.length / PIECE_PRINTS) }, (_, i) => ({
    kind: 'prints' as const,
    prints: prints.slice(i * PIECE_PRINTS, (i + 1) * PIECE_PRINTS),
    ...(i === 0 && refused && { refused }),
  }));
}

/** Records the result of a delivery in the ledger of feeds. */
function record(
  { delivery, snapshot }: AcceptResult,
  { name: feed, tickers }: Feed,
  store: IngestStore,
  at: number,
): void {
  switch (delivery.kind) {
    case 'chain': {
      const { underlying: ticker, asOf, count: received, refused, source } = delivery.chain;
      const { isFresh, ahead, expected } = snapshot!;
      const origin = originOf(source, feed, tickers);
      if (ahead !== undefined) {
        const reason = `${ticker}: ${ahead}`;
        store.rejected({ feed, origin, reason, ticker, at });
        break;
      }
      const counts = {
        ...refused,
        ...(!hasOpenInterest(delivery.chain) && { [NO_OPEN_INTEREST]: received }),
        ...(onlyExpiryOf(delivery.chain) !== undefined && { [ONE_EXPIRY]: received }),
      };
      store.snapshotReceived({ feed, ticker, at, asOf, isFresh, expected, received, refused: counts });
      // A feed with tickers delivers one answer per ticker, so a snapshot resolves all rejections of its ticker. A folder may have several
      // files of one ticker, so a snapshot from a file resolves only the rejections of this file.
      store.resolved(feed, tickers.length > 0 ? { ticker } : { origin });
      break;
    }
    case 'closes':
    case 'dividends':
      store.dataReceived(feed, at);
      break;
    case 'prints': {
      if (delivery.prints.length > 0) store.dataReceived(feed, at);
      const counts = Object.entries(delivery.refused ?? {}).map(([why, count]) => `${count} ${why}`);
      // The `files` feed, which has no tickers, delivers rejected rows of a file as a separate rejection.
      if (tickers.length === 0 || counts.length === 0) break;
      const reason = `rejected trades: ${counts.join(', ')}`;
      store.rejected({ feed, origin: `${feed}:stream`, reason, ticker: null, at });
      break;
    }
    case 'rejection': {
      const { reason, ticker = null } = delivery;
      store.rejected({ feed, origin: originOf(delivery.origin, feed, tickers), reason, ticker, at });
      break;
    }
    case 'resolved':
      store.resolved(feed, { origin: delivery.origin });
      break;
    case 'connection':
      store.connection(feed, delivery.up, delivery.at, delivery.reason ?? null);
      if (delivery.up) store.resolved(feed, { origin: `${feed}:stream` });
      break;
    case 'checkpoint':
      store.setCheckpoint(feed, delivery.key, delivery.value);
      break;
  }
}

/** Returns the name of an origin in the ledger: for a file, its path in the drop folder without the name of the feed. */
function originOf(origin: string, feed: string, tickers: readonly string[]): string {
  return tickers.length === 0 && origin.startsWith(`${feed}:`) ? origin.slice(feed.length + 1) : origin;
}

/** Counts the result of a delivery and reports it to the log. */
function report({ delivery, snapshot }: AcceptResult, counts: Counts, observe: Observe): void {
  switch (delivery.kind) {
    case 'chain': {
      if (!snapshot!.isNew) break;
      const { underlying, count, asOf, source, refused } = delivery.chain;
      counts.chains++;
      if (Object.keys(refused).length > 0) observe({ kind: 'rows_refused', underlying, source, refused });
      observe({
        kind: 'chain_stored',
        underlying,
        contracts: count,
        as_of: new Date(asOf).toISOString(),
        source,
        refused,
      });
      break;
    }
    case 'prints':
      counts.prints += delivery.prints.length;
      break;
    case 'rejection':
      counts.refusals++;
      observe({ kind: 'data_refused', origin: delivery.origin, reason: delivery.reason });
      break;
    case 'undeleted':
      if (delivery.count > 0) observe({ kind: 'files_kept', files: delivery.count, reason: delivery.reason });
      break;
    case 'connection':
      observe({ kind: 'feed_connection', up: delivery.up, ...(delivery.reason && { reason: delivery.reason }) });
      break;
  }
}
