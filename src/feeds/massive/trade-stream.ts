import { lastQuoted } from '../../market/calendar.ts';
import type { Delivery } from '../../market/feed.ts';
import type { Clock } from '../clock.ts';
import { backoffMs } from '../http/retry.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { runSocket } from './trade-socket.ts';
import { printsOfTrades } from './trades.ts';

export interface StreamOptions {
  readonly url: string;
  readonly key: string;
  readonly tickers: readonly string[];
  readonly clock: Clock;
  readonly silenceMs?: number | undefined;
}

/**
 * Yields the live trades of the tickers' options, and reconnects after each failure. After a reconnect, a trade may arrive again with the
 * same id.
 */
export async function* tradeStream(options: StreamOptions, signal: AbortSignal): AsyncGenerator<Delivery> {
  // If the consumer of this generator stops, the connection is closed too.
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const queue = new DeliveryQueue(options.clock.now);
  const connection = stayConnected(options, queue, both);
  try {
    yield* queue.take(both);
  } finally {
    stop.abort();
    await connection;
  }
}

/** Connects repeatedly until `signal` is aborted. Adds the prints and the changes of the connection to the queue. */
async function stayConnected(options: StreamOptions, queue: DeliveryQueue, signal: AbortSignal): Promise<void> {
  const { clock, url, key, silenceMs = SILENCE_MS } = options;
  const tickers = new Set(options.tickers);
  let failures = 0;
  let isDownReported = false;
  while (!signal.aborted) {
    let upSince: number | undefined;
    const end = await runSocket(
      {
        url,
        key,
        channels: ALL_TRADES,
        silenceMs,
        quietMs: QUIET_MS,
        expectsTrades: () => lastQuoted(clock.now()) === clock.now(),
        clock,
        onOpen() {
          if (upSince !== undefined) return;
          upSince = clock.elapsed();
          isDownReported = false;
          queue.connection(true, clock.now());
        },
        onMessages(messages) {
          const refused: Record<string, number> = {};
          const prints = printsOfTrades(messages, tickers, clock.now(), refused);
          if (prints.length > 0 || Object.keys(refused).length > 0) queue.prints(prints, refused);
        },
        onMalformed: () => queue.prints([], { bad_frame: 1 }),
      },
      signal,
    );
    if (signal.aborted) return;
    // The code reports the time from which trades may be missing. Usually the failure is noticed later.
    if (!isDownReported) queue.connection(false, end.lastReceivedAt, end.reason);
    isDownReported = true;
    if (end.isRejected) queue.rejection('massive:stream', end.reason);
    const wasLongLived = upSince !== undefined && clock.elapsed() - upSince > LONG_LIVED_MS;
    failures = wasLongLived ? 1 : failures + 1;
    await clock.pause(end.isRejected ? REJECTED_PAUSE_MS : backoffMs(failures, clock.random), signal);
  }
}

/**
 * The channel of all option trades. The feed keeps only trades of the tracked tickers. The feed cannot subscribe to each contract, because
 * there are too many contracts, and the listed contracts change too often.
 */
const ALL_TRADES = 'T.*';
/**
 * A connection ends after this time without data, ms. The answer to a ping counts as data, so this limit never ends a working connection,
 * even without trades.
 */
const SILENCE_MS = 30_000;
/** In trading hours, a connection ends after this time without a frame of messages, ms. A session has thousands of trades a second. */
const QUIET_MS = 120_000;
/**
 * The minimum duration of a long connection, ms. When a long connection ends, the count of failures becomes 1. When a shorter connection
 * ends, the count of failures grows by 1. So the pauses between tries grow while all connections are short.
 */
const LONG_LIVED_MS = 60_000;
/** Pause after Massive has rejected the key or the plan, ms. A person has to correct the key or the plan. */
const REJECTED_PAUSE_MS = 15 * 60_000;
