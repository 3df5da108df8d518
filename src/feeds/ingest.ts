import type { Observe } from '../events.ts';
import { DAY_MS } from '../market/calendar.ts';
import type { Chain } from '../market/chain.ts';
import type { Delivery, Feed } from '../market/feed.ts';
import type { FeedLedger } from '../market/feed-ledger.ts';
import type { MarketStore } from '../market/store.ts';

/** Where deliveries go: a store that can make several writes one transaction. */
export interface IngestStore extends MarketStore, FeedLedger {
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
/** But no more prints than this at a time: a tape has millions, and requests wait for the transaction. */
const BATCH_PRINTS = 10_000;

/** Stores everything a feed offers now. */
export async function ingestOnce(
  { feed, store, observe, nowMs }: IngestParts,
  stopped: () => boolean = () => false,
): Promise<void> {
  const startedAt = performance.now();
  const counts = { chains: 0, prints: 0, refusals: 0 };
  let batch: Delivery[] = [];
  let prints = 0;
  const flush = async () => {
    const kept = store.transaction(() => batch.map((delivery) => keep(delivery, feed.name, store, nowMs())));
    for (const { delivery } of kept) report(delivery, counts, observe);
    batch = [];
    prints = 0;
    // Between two transactions requests have their turn.
    await new Promise(setImmediate);
  };
  for await (const delivery of feed.poll(nowMs())) {
    batch.push(delivery);
    if (delivery.kind === 'prints') prints += delivery.prints.length;
    if (batch.length >= BATCH_DELIVERIES || prints >= BATCH_PRINTS) await flush();
    if (stopped()) return;
  }
  if (batch.length > 0) await flush();
  observe({ kind: 'ingest_polled', ...counts, duration_ms: Math.round(performance.now() - startedAt) });
}

/**
 * Polls a feed at its interval until stopped, and tells `polled` when what it had is stored. A poll that fails is reported, and
 * the next one comes as if it had not.
 */
export function startIngest(parts: IngestParts, polled: () => void = () => {}): Ingest {
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> = Promise.resolve();
  const schedule = () => {
    timer = setTimeout(() => {
      running = ingestOnce(parts, () => stopped)
        .catch((error) => parts.observe({ kind: 'ingest_failed', error }))
        .finally(() => {
          polled();
          if (!stopped) schedule();
        });
    }, parts.feed.pace.everyMs);
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

export interface Kept {
  /** What was written, or the refusal in its place. */
  readonly delivery: Delivery;
  /** Prints that were known before. */
  readonly known: number;
}

/** Writes a delivery, or turns it into the refusal that it deserves. */
export function keep(delivery: Delivery, feed: string, store: IngestStore, nowMs: number): Kept {
  if (delivery.kind === 'prints')
    return { delivery, known: delivery.prints.length - store.savePrints(delivery.prints) };
  if (delivery.kind === 'chain') {
    const { underlying, source } = delivery.chain;
    const reason = whyImplausible(delivery.chain, store, nowMs);
    if (reason) return { delivery: { kind: 'refusal', origin: source, reason: `${underlying}: ${reason}` }, known: 0 };
    store.saveChain(delivery.chain);
  } else if (delivery.kind === 'closes') store.saveCloses(delivery.closes);
  else if (delivery.kind === 'mark') store.setMark(feed, delivery.key, delivery.value);
  return { delivery, known: 0 };
}

/** Quotes from before electronic records, or from further ahead than a clock that nobody has set can explain. */
const AS_OF_MIN = Date.UTC(1990, 0, 1);
const AHEAD_MS_MAX = 366 * DAY_MS;
/** The same snapshot again with less than this share of its contracts is a file that was cut. */
const REPLACEMENT_SHARE_MIN = 0.9;
/** A table of which more than this share of rows is refused does not take the place of one that stands. */
const REFUSED_SHARE_MAX = 0.2;

/** Why a chain must not take the place of what stands; undefined where it may. */
function whyImplausible(chain: Chain, store: IngestStore, nowMs: number): string | undefined {
  if (chain.asOf < AS_OF_MIN || chain.asOf > nowMs + AHEAD_MS_MAX) {
    return `the quotes are dated ${new Date(chain.asOf).toISOString()}`;
  }
  if (chain.series.every(({ settlesAt }) => chain.asOf >= settlesAt))
    return 'every contract had settled when it was quoted';
  if (!chain.openInterest.some((each) => each > 0)) return 'no contract has open interest';
  const id = store.latestChainId(chain.underlying, chain.simulated);
  const standing = id === undefined ? undefined : store.chain(id);
  const refused = rowsRefused(chain);
  if (standing && refused > REFUSED_SHARE_MAX * (refused + chain.count)) {
    return `${refused} of ${refused + chain.count} rows cannot be read`;
  }
  if (standing?.asOf === chain.asOf && chain.count < REPLACEMENT_SHARE_MIN * standing.count) {
    return `${chain.count} contracts would replace ${standing.count} of the same moment`;
  }
  return undefined;
}

/** A contract that comes twice or a value that is dropped leaves its row readable. */
export function rowsRefused({ refused }: Chain): number {
  return Object.entries(refused).reduce(
    (sum, [why, count]) => (why === 'duplicate' || why === 'bad_value' ? sum : sum + count),
    0,
  );
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
  }
}
