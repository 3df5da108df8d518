import type { Observe } from '../events.ts';
import type { Delivery, Feed } from '../market/feed.ts';
import type { MarketStore } from '../market/store.ts';

/** Where deliveries go: a store that can make several writes one transaction. */
export interface IngestStore extends MarketStore {
  transaction<T>(work: () => T): T;
}

export interface IngestParts {
  readonly feed: Feed;
  readonly store: IngestStore;
  readonly observe: Observe;
  readonly nowMs: () => number;
}

export interface Ingest {
  /** Ends the loop after the delivery in hand. */
  stop(): Promise<void>;
}

/** Deliveries kept in memory until one transaction takes them: a synced commit costs more than writing any of them. */
const BATCH_DELIVERIES = 64;

/** Stores everything a feed offers now. */
export async function ingestOnce(
  { feed, store, observe, nowMs }: IngestParts,
  stopped: () => boolean = () => false,
): Promise<void> {
  const startedAt = performance.now();
  const counts = { chains: 0, prints: 0, refusals: 0 };
  let batch: Delivery[] = [];
  const flush = async () => {
    store.transaction(() => {
      for (const delivery of batch) keep(delivery, store);
    });
    for (const delivery of batch) report(delivery, counts, observe);
    batch = [];
    // Between two transactions requests have their turn.
    await new Promise(setImmediate);
  };
  for await (const delivery of feed.poll(nowMs())) {
    batch.push(delivery);
    if (batch.length >= BATCH_DELIVERIES) await flush();
    if (stopped()) return;
  }
  if (batch.length > 0) await flush();
  observe({ kind: 'ingest_polled', ...counts, duration_ms: Math.round(performance.now() - startedAt) });
}

/** Polls a feed at its interval until stopped. A poll that fails is reported, and the next one comes as if it had not. */
export function startIngest(parts: IngestParts): Ingest {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  const schedule = () => {
    timer = setTimeout(() => {
      running = ingestOnce(parts, () => stopped)
        .catch((error) => parts.observe({ kind: 'ingest_failed', error }))
        .finally(() => {
          if (!stopped) schedule();
        });
    }, parts.feed.pollIntervalMs);
  };
  schedule();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

function keep(delivery: Delivery, store: IngestStore): void {
  if (delivery.kind === 'chain') store.saveChain(delivery.chain);
  else if (delivery.kind === 'prints') store.savePrints(delivery.prints);
  else if (delivery.kind === 'closes') store.saveCloses(delivery.closes);
}

function report(
  delivery: Delivery,
  counts: { chains: number; prints: number; refusals: number },
  observe: Observe,
): void {
  switch (delivery.kind) {
    case 'chain': {
      const { underlying, count, asOf, source, refused } = delivery.chain;
      counts.chains++;
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
  }
}
