import type { GexEvents } from './gex-events.ts';

export interface SubscriptionParts {
  readonly events: GexEvents;
  readonly tickers: ReadonlySet<string>;
  /** The place in the log up to which the client has everything; without it, it gets the current levels first. */
  readonly after: number | undefined;
  /** Does what reads the store once it is this account's turn. */
  readonly turn: <Result>(work: () => Result) => Promise<Result>;
  /** Told once the client is gone. */
  readonly gone: () => void;
}

/** One client's stream: a cursor over the log, read as the client takes it, so that a slow one holds a page and no more. */
export interface Subscription {
  readonly stream: ReadableStream<Uint8Array>;
  /** When it took anything last while there was more for it, ms; undefined where it has all there is. */
  readonly behindSince: number | undefined;
  /** Bytes that wait for it. */
  readonly unreadBytes: number;
  /** There may be more in the log. */
  wake(): void;
  ping(): void;
  /** Ends the stream; what a client has not taken is dropped where it has had its time. */
  end(drop: boolean): void;
}

/** A little more than a page: the next is read when the client has taken most of the one before. */
const QUEUE_BYTES = 64 * 1024;
/** How soon a client whose stream has ended may come back. */
const RETRY_MS = 2_000;

export function createSubscription({ events, tickers, after, turn, gone }: SubscriptionParts): Subscription {
  let cursor = after ?? 0;
  let started = false;
  let ended = false;
  let behindSince: number | undefined;
  /** Set while the stream waits for the log. */
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

  /** Sends the next page that has anything for this client, once there is one. */
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
      // Others have their turn between two pages of a long log.
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
      // Where something waits to be taken there is no need of one.
      if (!ended && controller.desiredSize! > 0) controller.enqueue(PING);
    },
    end(drop) {
      if (ended) return;
      ended = true;
      if (drop) controller.error(new Error('The client has taken nothing for too long'));
      else controller.close();
      resume?.();
    },
  };
}

const encoder = new TextEncoder();
const PREAMBLE = encoder.encode(`retry: ${RETRY_MS}\n\n`);
const PING = encoder.encode(': ping\n\n');
