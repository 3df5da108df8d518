import { isBusy } from '../errors.ts';
import { began } from '../event-loop-watchdog.ts';
import type { Observe } from '../events.ts';
import { type Delivery, type Feed, isAtHand } from '../market/feed.ts';
import { batchesOf } from './batches.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { type DataRoom, NoRoom } from './data-room.ts';
import { type IngestStore, type Kept, keep } from './keep.ts';
import { nextAskAt } from './schedule.ts';

export interface IngestParts {
  readonly feed: Feed;
  readonly store: IngestStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
  /** Without it there always is. */
  readonly room?: DataRoom;
  /** Told after each transaction. */
  readonly stored?: () => void;
}

export interface Ingest {
  /** Once the first poll is over, whatever it brought. */
  readonly loaded: Promise<void>;
  /** Ends the loop after the transaction in hand. */
  stop(): Promise<void>;
}

/** A stream that ended by a defect is opened anew after this. */
const REOPEN_MS = 5_000;
/** The longest sleep: a clock that was set, or a machine that slept, is noticed so soon. */
const SLEEP_MS_MAX = 60_000;

/**
 * Asks a feed when it is worth asking, and takes what it sends of itself, until stopped. A poll that fails is reported, and the
 * next one comes as if it had not.
 */
export function startIngest(parts: IngestParts): Ingest {
  const { feed, nowMs } = parts;
  const abort = new AbortController();
  const { signal } = abort;
  const loaded = Promise.withResolvers<void>();

  const poll = async (): Promise<void> => {
    for (let last: number | undefined; !signal.aborted; ) {
      const at = nextAskAt(feed.pace, last, nowMs());
      if (at > nowMs()) {
        await SYSTEM_CLOCK.pause(Math.min(at - nowMs(), SLEEP_MS_MAX), signal);
        continue;
      }
      last = nowMs();
      // Told already; the ledger knows it too.
      await ingestOnce(parts, signal).catch(() => {});
      loaded.resolve();
    }
    loaded.resolve();
  };
  const running = Promise.all([poll(), listenTo(parts, signal)]);
  return {
    loaded: loaded.promise,
    async stop() {
      abort.abort();
      await running;
    },
  };
}

/** Stores everything a feed offers now, as long as there is room, and says why not where there is none. Throws what the feed throws, having reported it. */
export async function ingestOnce(parts: IngestParts, signal?: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs } = parts;
  const startedAt = performance.now();
  const began = nowMs();
  const ended = (error: string | null) => {
    const endedAt = nowMs();
    const nextAt = nextAskAt(feed.pace, began, endedAt);
    return written(() => store.pollEnded({ feed: feed.name, beganAt: began, endedAt, nextAt, error }), signal);
  };
  const full = parts.room?.fault();
  if (full !== undefined) return ended(full);
  try {
    if (feed.tickers.length > 0) await written(() => store.pollBegan(feed.name, began), signal);
    const counts = await storeAll(feed.poll(began, signal), parts, signal);
    await ended(null);
    observe({ kind: 'ingest_polled', ...counts, duration_ms: Math.round(performance.now() - startedAt) });
  } catch (error) {
    if (error instanceof NoRoom) return ended(error.message);
    observe({ kind: 'ingest_failed', error });
    await ended('The feed failed; the log has the error.');
    throw error;
  }
}

/** Takes what a source sends of itself, and writes down the times in which it could not: what is traded then is missed. */
async function listenTo(parts: IngestParts, signal: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs, room } = parts;
  const { stream } = feed;
  if (stream === undefined) return;
  let own: number | undefined;
  const isDown = (at: number, reason: string) => written(() => store.connection(feed.name, false, at, reason), signal);
  const connectionOf = () => store.feedStates().find((each) => each.feed === feed.name)?.connection;
  const told = async (work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof NoRoom)) observe({ kind: 'ingest_failed', error });
    }
  };

  await told(async () => {
    const before = store.feedStates().find((each) => each.feed === feed.name);
    // It was up when the process was killed, which has left nothing later than its last poll.
    const last = Math.max(before?.connection?.at ?? 0, before?.completedAt ?? 0);
    if (before?.connection?.up) await isDown(last, 'the service ended without notice');
  });
  while (!signal.aborted) {
    let stoodUntil = nowMs();
    await told(async () => {
      const stored = () => {
        stoodUntil = nowMs();
        own = connectionOf()?.at;
        parts.stored?.();
      };
      await storeAll(stream(signal), { ...parts, stored }, signal);
    });
    if (signal.aborted) break;
    await told(() => isDown(stoodUntil, room?.fault() ?? 'the stream ended'));
    do await SYSTEM_CLOCK.pause(REOPEN_MS, signal);
    while (!signal.aborted && room?.fault() !== undefined);
  }
  // Unless another process listens by now.
  await told(async () => {
    if (own !== undefined && connectionOf()?.at === own) await isDown(nowMs(), 'the service was stopped');
  });
}

/**
 * A transaction takes what it can write in so long, and at least one piece: requests wait for it. Its commit, which syncs the disk, comes on
 * top, so that much shorter ones would mostly sync.
 */
const TRANSACTION_MS = 6;
/** Prints that are written in two or three milliseconds. */
const PIECE_PRINTS = 250;

/** How often, and after how long, a write is tried again that another process's kept from being made: it waits some seconds itself. */
const BUSY_TRIES = 12;
const BUSY_PAUSE_MS = 250;

/** What a write gives, made as soon as another process lets it. Throws what it throws for any other cause. */
async function written<T>(write: () => T, signal: AbortSignal | undefined): Promise<T> {
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

async function storeAll(
  deliveries: AsyncIterable<Delivery>,
  parts: IngestParts,
  signal?: AbortSignal,
): Promise<Counts> {
  const { feed, store, observe, nowMs, stored, room } = parts;
  const counts = { chains: 0, prints: 0, refusals: 0 };
  const rules = { isAsked: !isAtHand(feed) };
  const step = `ingest ${feed.name}`;
  const keepSome = (pieces: readonly Delivery[]): Kept[] => {
    const deadline = performance.now() + TRANSACTION_MS;
    const kept: Kept[] = [];
    do {
      const each = keep(pieces[kept.length]!, store, nowMs(), rules);
      record(each, feed, store, nowMs());
      kept.push(each);
    } while (kept.length < pieces.length && performance.now() < deadline);
    return kept;
  };
  for await (const batch of batchesOf(deliveries)) {
    for (let pieces = batch.flatMap(piecesOf); pieces.length > 0; ) {
      // Before each transaction requests have their turn.
      await new Promise(setImmediate);
      began(step);
      const full = room?.fault();
      if (full !== undefined) throw new NoRoom(full);
      const kept = await written(() => store.transaction(() => keepSome(pieces)), signal);
      pieces = pieces.slice(kept.length);
      for (const each of kept) report(each, counts, observe);
      stored?.();
      if (signal?.aborted) return counts;
    }
  }
  return counts;
}

/** A delivery of many prints as several, of which each is written in a few milliseconds; what was refused is told with the first. */
function piecesOf(delivery: Delivery): Delivery[] {
  if (delivery.kind !== 'prints' || delivery.prints.length <= PIECE_PRINTS) return [delivery];
  const { prints, refused } = delivery;
  return Array.from({ length: Math.ceil(prints.length / PIECE_PRINTS) }, (_, at) => ({
    kind: 'prints' as const,
    prints: prints.slice(at * PIECE_PRINTS, (at + 1) * PIECE_PRINTS),
    ...(at === 0 && refused && { refused }),
  }));
}

/** Writes down what a delivery says of its feed. */
function record({ delivery, snapshot }: Kept, { name: feed, tickers }: Feed, store: IngestStore, at: number): void {
  switch (delivery.kind) {
    case 'chain': {
      const { underlying: ticker, asOf, count: received, refused, source } = delivery.chain;
      const { isFresh, isAhead, expected } = snapshot!;
      const origin = originOf(source, feed, tickers);
      if (isAhead) {
        const reason = `${ticker}: the quotes are dated ${new Date(asOf).toISOString()}, ahead of the clock`;
        store.refused({ feed, origin, reason, ticker, at });
        break;
      }
      store.snapshotCame({ feed, ticker, at, asOf, isFresh, expected, received, refused });
      // What asks for tickers has one answer for each; a folder has many files.
      store.settled(feed, tickers.length > 0 ? { ticker } : { origin });
      break;
    }
    case 'closes':
      store.dataCame(feed, at);
      break;
    case 'prints': {
      if (delivery.prints.length > 0) store.dataCame(feed, at);
      const counts = Object.entries(delivery.refused ?? {}).map(([why, count]) => `${count} ${why}`);
      // A file tells of its rows itself, once it is read.
      if (tickers.length === 0 || counts.length === 0) break;
      const reason = `trades that are none: ${counts.join(', ')}`;
      store.refused({ feed, origin: `${feed}:stream`, reason, ticker: null, at });
      break;
    }
    case 'refusal': {
      const { reason, ticker = null } = delivery;
      store.refused({ feed, origin: originOf(delivery.origin, feed, tickers), reason, ticker, at });
      break;
    }
    case 'settled':
      store.settled(feed, { origin: delivery.origin });
      break;
    case 'connection':
      store.connection(feed, delivery.up, delivery.at, delivery.reason ?? null);
      if (delivery.up) store.settled(feed, { origin: `${feed}:stream` });
      break;
    case 'mark':
      store.setMark(feed, delivery.key, delivery.value);
      break;
  }
}

/** A folder's files are named by their paths in it, as the folder's own refusals name them. */
function originOf(origin: string, feed: string, tickers: readonly string[]): string {
  return tickers.length === 0 && origin.startsWith(`${feed}:`) ? origin.slice(feed.length + 1) : origin;
}

function report({ delivery, snapshot }: Kept, counts: Counts, observe: Observe): void {
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
    case 'refusal':
      counts.refusals++;
      observe({ kind: 'data_refused', origin: delivery.origin, reason: delivery.reason });
      break;
    case 'connection':
      observe({ kind: 'feed_connection', up: delivery.up, ...(delivery.reason && { reason: delivery.reason }) });
      break;
  }
}
