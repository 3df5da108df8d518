import type { GexEvents } from './gex-events.ts';

export interface SubscriptionParts {
  readonly events: GexEvents;
  readonly tickers: ReadonlySet<string>;
  /** The place in the log up to which the client has everything; without it, it gets the current levels first. */
  readonly after: number | undefined;
  /** Told once the client is gone. */
  readonly gone: () => void;
}

/** One client's stream: a cursor over the log, read as the client takes it, so that a slow one holds a page and no more. */
export interface Subscription {
  readonly stream: ReadableStream<Uint8Array>;
  /** When it took anything last while there was more for it, ms; undefined where it has all there is. */
  readonly behindSince: number | undefined;
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

export function createSubscription({ events, tickers, after, gone }: SubscriptionParts): Subscription {
  let cursor = after ?? 0;
  let started = false;
  let ended = false;
  let behindSince: number | undefined;
  /** Set while the stream waits for the log. */
  let resume: (() => void) | undefined;
  let controller!: ReadableStreamDefaultController<Uint8Array>;

  const send = (chunks: readonly Uint8Array[]): void => {
    controller.enqueue(Buffer.concat(chunks));
    if (controller.desiredSize! <= 0) behindSince = performance.now();
  };

  const begin = (): void => {
    started = true;
    const preamble = encoder.encode(`retry: ${RETRY_MS}\n\n`);
    // A place that the log has not come to is of another database's: whoever names it has nothing of this one.
    if (after !== undefined && events.reaches(after)) {
      send([preamble]);
    } else {
      const current = events.current(tickers);
      cursor = current.upTo;
      send([preamble, ...current.events.map(({ bytes }) => bytes)]);
    }
  };

  /** Sends the next page that has anything for this client, once there is one. */
  const proceed = async (): Promise<void> => {
    while (!ended) {
      const page = events.after(cursor);
      cursor = page.upTo;
      const wanted = page.events.filter(({ ticker }) => tickers.has(ticker));
      if (wanted.length > 0) return send(wanted.map(({ bytes }) => bytes));
      const turn = Promise.withResolvers<void>();
      resume = turn.resolve;
      // Others have their turn between two pages of a long log.
      if (page.more) setImmediate(turn.resolve);
      await turn.promise;
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
          else begin();
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
const PING = encoder.encode(': ping\n\n');
