import { isBusy } from '../errors.ts';
import { announceStep } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { type Delivery, type Feed, isLocal } from '../market/feed.ts';
import { type AcceptResult, acceptDelivery, type IngestStore } from './accept-delivery.ts';
import { batchesOf } from './batches.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { type DataRoom, NoRoom } from './data-room.ts';
import { nextPollAt } from './schedule.ts';

export interface IngestDeps {
  readonly feed: Feed;
  readonly store: IngestStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** If omitted, there is always room. */
  readonly room?: DataRoom;
  /** Called after each transaction. */
  readonly onStored?: () => void;
}

export interface Ingest {
  /** Resolves when the first poll is over, whatever its result. */
  readonly loaded: Promise<void>;
  /** Ends the loop after the current transaction. */
  stop(): Promise<void>;
}

/** How long to wait before a stream that ended is opened again. */
const REOPEN_MS = 5_000;
/** The longest sleep, so that a changed clock or a machine that slept is noticed within a minute. */
const SLEEP_MS_MAX = 60_000;

/**
 * Polls a feed by its schedule, and stores what its stream sends, until stopped. A poll that fails is reported. The next poll takes place
 * as usual.
 */
export function startIngest(deps: IngestDeps): Ingest {
  const { feed, nowMs } = deps;
  const abort = new AbortController();
  const { signal } = abort;
  const loaded = Promise.withResolvers<void>();

  const poll = async (): Promise<void> => {
    for (let last: number | undefined; !signal.aborted; ) {
      const at = nextPollAt(feed.pace, last, nowMs());
      if (at > nowMs()) {
        await SYSTEM_CLOCK.pause(Math.min(at - nowMs(), SLEEP_MS_MAX), signal);
        continue;
      }
      last = nowMs();
      // The error has been reported and recorded in the ledger.
      await ingestOnce(deps, signal).catch(() => {});
      loaded.resolve();
    }
    loaded.resolve();
  };
  const running = Promise.all([poll(), ingestStream(deps, signal)]);
  return {
    loaded: loaded.promise,
    async stop() {
      abort.abort();
      await running;
    },
  };
}

/**
 * Stores everything that a feed delivers now, while there is room. If there is no room, records this as the poll's error. Throws the errors
 * of the feed after they have been reported.
 */
export async function ingestOnce(deps: IngestDeps, signal?: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs } = deps;
  const startedAt = performance.now();
  const beganAt = nowMs();
  const recordEnd = (error: string | null) => {
    const endedAt = nowMs();
    const nextAt = nextPollAt(feed.pace, beganAt, endedAt);
    return retryBusy(() => store.pollEnded({ feed: feed.name, beganAt, endedAt, nextAt, error }), signal);
  };
  const fullReason = deps.room?.fullReason();
  if (fullReason !== undefined) return recordEnd(fullReason);
  try {
    if (feed.tickers.length > 0) await retryBusy(() => store.pollBegan(feed.name, beganAt), signal);
    const counts = await storeAll(feed.poll(beganAt, signal), deps, signal);
    await recordEnd(null);
    observe({ kind: 'ingest_polled', ...counts, duration_ms: Math.round(performance.now() - startedAt) });
  } catch (error) {
    if (error instanceof NoRoom) return recordEnd(error.message);
    observe({ kind: 'ingest_failed', error });
    await recordEnd('The feed failed; the log has the error.');
    throw error;
  }
}

/** Stores what the stream of a feed sends, and records the times in which the stream was down, because trades are missed then. */
async function ingestStream(deps: IngestDeps, signal: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs, room } = deps;
  const { stream } = feed;
  if (stream === undefined) return;
  /** When the connection began that this process recorded last, ms since the epoch. */
  let connectedAt: number | undefined;
  const recordDown = (at: number, reason: string) =>
    retryBusy(() => store.connection(feed.name, false, at, reason), signal);
  const connectionOf = () => store.feedStates().find((each) => each.feed === feed.name)?.connection;
  const reportErrors = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof NoRoom)) observe({ kind: 'ingest_failed', error });
    }
  };

  await reportErrors(async () => {
    const before = store.feedStates().find((each) => each.feed === feed.name);
    // The stream was up when the process was killed. The last poll is the latest time that was recorded.
    const last = Math.max(before?.connection?.at ?? 0, before?.completedAt ?? 0);
    if (before?.connection?.up) await recordDown(last, 'the service ended unexpectedly');
  });
  while (!signal.aborted) {
    let lastStoredAt = nowMs();
    await reportErrors(async () => {
      const onStored = () => {
        lastStoredAt = nowMs();
        connectedAt = connectionOf()?.at;
        deps.onStored?.();
      };
      await storeAll(stream(signal), { ...deps, onStored }, signal);
    });
    if (signal.aborted) break;
    await reportErrors(() => recordDown(lastStoredAt, room?.fullReason() ?? 'the stream ended'));
    do await SYSTEM_CLOCK.pause(REOPEN_MS, signal);
    while (!signal.aborted && room?.fullReason() !== undefined);
  }
  // Unless another process has opened the stream since.
  await reportErrors(async () => {
    const isCurrent = connectedAt !== undefined && connectionOf()?.at === connectedAt;
    if (isCurrent) await recordDown(nowMs(), 'the service was stopped');
  });
}

/**
 * How long the writes of a transaction may take, before its commit. A transaction writes at least one piece. Requests wait for the
 * transaction. The commit, which syncs the disk, takes extra time, so much shorter transactions would spend most of their time on syncs.
 */
const TRANSACTION_MS = 6;
/** Prints that are written in two or three milliseconds. */
const PIECE_PRINTS = 250;

/**
 * How often, and after which pause, a write is tried again if the database is locked by another process. Each try itself waits some seconds
 * for the lock.
 */
const BUSY_TRIES = 12;
const BUSY_PAUSE_MS = 250;

/**
 * Runs a write and returns its result. Tries again while another process holds the lock of the database. Throws other errors at once, and
 * the lock error after the last try or once `signal` is aborted.
 */
async function retryBusy<T>(write: () => T, signal: AbortSignal | undefined): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return write();
    } catch (error) {
      if (!isBusy(error) || tries === BUSY_TRIES || signal?.aborted) throw error;
      await SYSTEM_CLOCK.pause(BUSY_PAUSE_MS, signal);
    }
  }
}

interface Counts {
  chains: number;
  prints: number;
  refusals: number;
}

async function storeAll(deliveries: AsyncIterable<Delivery>, deps: IngestDeps, signal?: AbortSignal): Promise<Counts> {
  const { feed, store, observe, nowMs, onStored, room } = deps;
  const counts = { chains: 0, prints: 0, refusals: 0 };
  const rules = { isPolled: !isLocal(feed) };
  const step = `ingest ${feed.name}`;
  /** Writes the first pieces, at least one and as many as fit into TRANSACTION_MS. */
  const acceptFirst = (pieces: readonly Delivery[]): AcceptResult[] => {
    const deadline = performance.now() + TRANSACTION_MS;
    const results: AcceptResult[] = [];
    do {
      const result = acceptDelivery(pieces[results.length]!, store, nowMs(), rules);
      record(result, feed, store, nowMs());
      results.push(result);
    } while (results.length < pieces.length && performance.now() < deadline);
    return results;
  };
  for await (const batch of batchesOf(deliveries)) {
    for (let pieces = batch.flatMap(piecesOf); pieces.length > 0; ) {
      // Requests are served before each transaction.
      await new Promise(setImmediate);
      announceStep(step);
      const fullReason = room?.fullReason();
      if (fullReason !== undefined) throw new NoRoom(fullReason);
      const results = await retryBusy(() => store.transaction(() => acceptFirst(pieces)), signal);
      pieces = pieces.slice(results.length);
      for (const result of results) report(result, counts, observe);
      onStored?.();
      if (signal?.aborted) return counts;
    }
  }
  return counts;
}

/**
 * Splits a delivery of many prints into pieces that are written in a few milliseconds each. The first piece has the counts of rejected
 * rows.
 */
function piecesOf(delivery: Delivery): Delivery[] {
  if (delivery.kind !== 'prints' || delivery.prints.length <= PIECE_PRINTS) return [delivery];
  const { prints, refused } = delivery;
  return Array.from({ length: Math.ceil(prints.length / PIECE_PRINTS) }, (_, i) => ({
    kind: 'prints' as const,
    prints: prints.slice(i * PIECE_PRINTS, (i + 1) * PIECE_PRINTS),
    ...(i === 0 && refused && { refused }),
  }));
}

/** Records a delivery in the ledger of feeds. */
function record(
  { delivery, snapshot }: AcceptResult,
  { name: feed, tickers }: Feed,
  store: IngestStore,
  at: number,
): void {
  switch (delivery.kind) {
    case 'chain': {
      const { underlying: ticker, asOf, count: received, refused, source } = delivery.chain;
      const { isFresh, isAhead, expected } = snapshot!;
      const origin = originOf(source, feed, tickers);
      if (isAhead) {
        const reason = `${ticker}: the quotes are dated ${new Date(asOf).toISOString()}, ahead of the clock`;
        store.rejected({ feed, origin, reason, ticker, at });
        break;
      }
      store.snapshotReceived({ feed, ticker, at, asOf, isFresh, expected, received, refused });
      // A feed with tickers has one answer per ticker. A folder has many files.
      store.resolved(feed, tickers.length > 0 ? { ticker } : { origin });
      break;
    }
    case 'closes':
      store.dataReceived(feed, at);
      break;
    case 'prints': {
      if (delivery.prints.length > 0) store.dataReceived(feed, at);
      const counts = Object.entries(delivery.refused ?? {}).map(([why, count]) => `${count} ${why}`);
      // A file reports its rejected rows itself, once it is read.
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

/** Files of a folder are named by their paths in the folder, as in the rejections by the feed itself. */
function originOf(origin: string, feed: string, tickers: readonly string[]): string {
  return tickers.length === 0 && origin.startsWith(`${feed}:`) ? origin.slice(feed.length + 1) : origin;
}

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
    case 'connection':
      observe({ kind: 'feed_connection', up: delivery.up, ...(delivery.reason && { reason: delivery.reason }) });
      break;
  }
}
