import type { GexEvents } from './gex-events.ts';

export interface SubscriptionParts {
  readonly events: GexEvents;
  readonly tickers: ReadonlySet<string>;
  /** The sequence number up to which the client has all events. Undefined: the stream begins with the current levels. */
  readonly after: number | undefined;
  /** Runs work that reads the store, in the scheduler. */
  readonly turn: <Result>(work: () => Result) => Promise<Result>;
  /** Called when the client has closed the connection, or when reading the log has failed. */
  readonly gone: () => void;
}

/** One client's stream: a cursor over the log. It reads the log as fast as the client reads, so a slow client takes one page of memory. */
export interface Subscription {
  readonly stream: ReadableStream<Uint8Array>;
  /** The time since which data has waited and the client has read nothing, ms. Undefined if no data waits. */
  readonly behindSince: number | undefined;
  /** Bytes in memory that the client has not read. */
  readonly unreadBytes: number;
  /** Call this when the log may have new events. */
  wake(): void;
  ping(): void;
  /** Ends the stream. If `drop` is true, data that the client has not read is dropped. */
  end(drop: boolean): void;
}

/** Limit of queued bytes: the next page is read when less than this is unread. */
const QUEUE_BYTES = 64 * 1024;
/** How long a client waits before it reconnects, ms. */
const RETRY_MS = 2_000;

export function createSubscription({ events, tickers, after, turn, gone }: SubscriptionParts): Subscription {
  let cursor = after ?? 0;
  let started = false;
  let ended = false;
  let behindSince: number | undefined;
  /** Set while the stream waits for new events. */
  let resume: (() => void) | undefined;
  let controller!: ReadableStreamDefaultController<Uint8Array>;

  const send = (chunks: readonly Uint8Array[]): void => {
    controller.enqueue(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    if (controller.desiredSize! <= 0) behindSince = performance.now();
  };

  const begin = (): void => {
    if (ended) return;
    started = true;
    if (after !== undefined && events.goesOnFrom(after, tickers)) {
      send([PREAMBLE]);
      return;
    }
    const current = events.current(tickers);
    cursor = current.upTo;
    send([PREAMBLE, ...current.chunks]);
  };

  /** Sends the next page that has events of the tickers. Waits until there is one. */
  const proceed = async (): Promise<void> => {
    while (!ended) {
      const page =
        events.after(cursor, tickers) ?? (await turn(() => (ended ? undefined : events.stored(cursor, tickers))));
      if (ended || !page) return;
      cursor = page.upTo;
      if (page.chunks.length > 0) {
        send(page.chunks);
        return;
      }
      const woken = Promise.withResolvers<void>();
      resume = woken.resolve;
      // Other work runs between two pages of a long log.
      if (page.more) setImmediate(woken.resolve);
      await woken.promise;
    }
  };

  const leave = (): void => {
    ended = true;
    resume?.();
    gone();
  };

  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      async pull() {
        behindSince = undefined;
        try {
          if (started) await proceed();
          else await turn(begin);
        } catch (error) {
          leave();
          throw error;
        }
      },
      cancel: leave,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: QUEUE_BYTES }),
  );

  return {
    stream,
    get behindSince() {
      return behindSince;
    },
    get unreadBytes() {
      return ended ? 0 : QUEUE_BYTES - controller.desiredSize!;
    },
    wake: () => resume?.(),
    ping() {
      // While data waits for the client, no ping is needed.
      if (!ended && controller.desiredSize! > 0) controller.enqueue(PING);
    },
    end(drop) {
      if (ended) return;
      ended = true;
      if (drop) controller.error(new Error('The client has read nothing for too long'));
      else controller.close();
      resume?.();
    },
  };
}

const encoder = new TextEncoder();
const PREAMBLE = encoder.encode(`retry: ${RETRY_MS}\n\n`);
const PING = encoder.encode(': ping\n\n');
