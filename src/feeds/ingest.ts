import type { Observe } from '../events.ts';
import type { Delivery, Feed } from '../market/feed.ts';
import { batchesOf } from './batches.ts';
import { type IngestStore, type Kept, keep } from './keep.ts';
import { nextAskAt } from './schedule.ts';

export interface IngestParts {
  readonly feed: Feed;
  readonly store: IngestStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
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
        await sleep(Math.min(at - nowMs(), SLEEP_MS_MAX), signal);
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

/** Stores everything a feed offers now. Throws what the feed throws, having reported it. */
export async function ingestOnce(parts: IngestParts, signal?: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs } = parts;
  const startedAt = performance.now();
  const began = nowMs();
  const ended = (error: string | null) => {
    const endedAt = nowMs();
    const nextAt = nextAskAt(feed.pace, began, endedAt);
    store.pollEnded({ feed: feed.name, beganAt: began, endedAt, nextAt, error });
  };
  if (feed.tickers.length > 0) store.pollBegan(feed.name, began);
  try {
    const counts = await storeAll(feed.poll(began, signal), parts, signal);
    ended(null);
    observe({ kind: 'ingest_polled', ...counts, duration_ms: Math.round(performance.now() - startedAt) });
  } catch (error) {
    observe({ kind: 'ingest_failed', error });
    ended('The feed failed; the log has the error.');
    throw error;
  }
}

async function listenTo(parts: IngestParts, signal: AbortSignal): Promise<void> {
  const { feed, store, observe, nowMs } = parts;
  if (feed.stream === undefined) return;
  const before = store.feedStates().find((each) => each.feed === feed.name);
  if (before?.connection?.up) {
    // It was up when the process was killed, which has left nothing later than its last poll.
    const last = Math.max(before.connection.at, before.completedAt ?? 0);
    store.connection(feed.name, false, last, 'the service ended without notice');
  }
  while (!signal.aborted) {
    try {
      await storeAll(feed.stream(signal), parts, signal);
    } catch (error) {
      observe({ kind: 'ingest_failed', error });
    }
    if (signal.aborted) break;
    store.connection(feed.name, false, nowMs(), 'the stream ended');
    await sleep(REOPEN_MS, signal);
  }
  // What is traded while nobody listens is missed.
  store.connection(feed.name, false, nowMs(), 'the service was stopped');
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
  const { feed, store, observe, nowMs, stored } = parts;
  const counts = { chains: 0, prints: 0, refusals: 0 };
  for await (const batch of batchesOf(deliveries)) {
    const kept = store.transaction(() =>
      batch.map((delivery) => {
        const each = keep(delivery, store, nowMs());
        record(each, feed, store, nowMs());
        return each;
      }),
    );
    for (const each of kept) report(each, counts, observe);
    stored?.();
    // Between two transactions requests have their turn.
    await new Promise(setImmediate);
    if (signal?.aborted) break;
  }
  return counts;
}

/** Writes down what a delivery says of its feed. */
function record({ delivery, snapshot }: Kept, { name: feed, tickers }: Feed, store: IngestStore, at: number): void {
  switch (delivery.kind) {
    case 'chain': {
      const { underlying: ticker, asOf, count: received, refused, source } = delivery.chain;
      const { isFresh, expected } = snapshot!;
      store.snapshotCame({ feed, ticker, at, asOf, isFresh, expected, received, refused });
      // What asks for tickers has one answer for each; a folder has many files.
      store.settled(feed, tickers.length > 0 ? { ticker } : { origin: source });
      break;
    }
    case 'refusal':
      store.refused({ feed, origin: delivery.origin, reason: delivery.reason, ticker: delivery.ticker ?? null, at });
      break;
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

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}
