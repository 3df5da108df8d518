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
 * Yields the trades of the tickers' options as they happen, and reconnects after each failure. After a reconnect, a trade may arrive a
 * second time. The second copy has the same id as the first copy.
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

/** Connects again and again until `signal` is aborted. Puts the prints and the changes of the connection into the queue. */
async function stayConnected(options: StreamOptions, queue: DeliveryQueue, signal: AbortSignal): Promise<void> {
  const { clock, url, key, silenceMs = SILENCE_MS } = options;
  const tickers = new Set(options.tickers);
  let failures = 0;
  let isDownReported = false;
  while (!signal.aborted) {
    let upAt: number | undefined;
    const end = await runSocket(
      {
        url,
        key,
        channels: ALL_TRADES,
        silenceMs,
        quietMs: QUIET_MS,
        expectsTrades: () => lastQuoted(clock.now()) === clock.now(),
        nowMs: clock.now,
        onOpen() {
          if (upAt !== undefined) return;
          upAt = clock.now();
          isDownReported = false;
          queue.connection(true, upAt);
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
    // Report the moment after which trades may be missing. It is usually earlier than the moment at which the failure was noticed.
    if (!isDownReported) queue.connection(false, end.lastReceivedAt, end.reason);
    isDownReported = true;
    if (end.isRejected) queue.rejection('massive:stream', end.reason);
    const wasLongLived = upAt !== undefined && clock.now() - upAt > LONG_LIVED_MS;
    failures = wasLongLived ? 1 : failures + 1;
    await clock.pause(end.isRejected ? REJECTED_PAUSE_MS : backoffMs(failures, clock.random), signal);
  }
}

/**
 * The channel of all option trades, from which the trades of the tracked tickers are taken. The contracts are too many, and change too
 * often, for a subscription to each contract.
 */
const ALL_TRADES = 'T.*';
/**
 * A connection ends if nothing is received for this time, ms. The answer to a ping counts as received. So a working connection never
 * reaches this time, even without trades.
 */
const SILENCE_MS = 30_000;
/**
 * A connection ends if no frame of messages is received for this time within trading hours, ms. In each second of a session, thousands of
 * option trades take place.
 */
const QUIET_MS = 120_000;
/**
 * If a connection lasted longer than this, ms, its end resets the count of failures to 1. The end of a shorter connection adds 1 to the
 * count. So the pauses between tries grow if each connection ends after a short time.
 */
const LONG_LIVED_MS = 60_000;
/** Pause after Massive has rejected the key or the plan, ms. A person has to correct the key or the plan. */
const REJECTED_PAUSE_MS = 15 * 60_000;
