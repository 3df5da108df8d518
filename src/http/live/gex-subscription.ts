import { createBoundedStream } from '../../sse/bounded-stream.ts';
import { PING, RETRY } from '../../sse/sse-format.ts';
import type { EventId } from './event-ids.ts';
import type { GexEvents } from './gex-events.ts';
import type { StreamPosition, StreamSelection } from './stream-position.ts';

export interface SubscriptionDeps {
  readonly events: GexEvents;
  readonly selection: StreamSelection;
  /** The id of the client's last event. If it is undefined, the stream begins anew. */
  readonly after: EventId | number | undefined;
  /** Runs `work`, which reads the store, in the scheduler. */
  readonly runScheduled: <Result>(work: () => Result) => Promise<Result>;
  /** Called when the client has closed the connection, or when an error occurs while the log is read. */
  readonly onClose: () => void;
}

/** The stream of one client: a cursor that moves as fast as the client reads, so a slow client takes the memory of one page. */
export type Subscription = ReturnType<typeof createSubscription>;

/** If the client has fewer unread bytes than this number, the stream reads the next page. */
const QUEUE_BYTES = 64 * 1024;
/** Interval at which a stream looks whether the server has the client's last event, ms. */
const LOOK_MS = 250;

export function createSubscription({ events, selection, after, runScheduled, onClose }: SubscriptionDeps) {
  let cursor: StreamPosition = { seq: 0 };
  let started = false;
  /** Wakes the stream. The function is undefined while the stream does not wait for new events. */
  let wakeUp: (() => void) | undefined;

  /** Waits until this server has the client's last event, as the client would wait for the next one. */
  const catchUp = async (lastEvent: EventId | number): Promise<void> => {
    const sinceMs = performance.now();
    if (!events.isBehind(lastEvent, sinceMs)) return;
    // A client should know at once that the stream is open.
    stream.write(PREAMBLE);
    do {
      const woken = Promise.withResolvers<void>();
      wakeUp = woken.resolve;
      const timer = setTimeout(woken.resolve, LOOK_MS);
      await woken.promise;
      clearTimeout(timer);
    } while (!stream.hasEnded && events.isBehind(lastEvent, sinceMs));
  };

  const send = (chunks: readonly Uint8Array[]): void => {
    stream.write(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  };

  const sendFirstPage = (): void => {
    if (stream.hasEnded) return;
    started = true;
    const resumed = after === undefined ? undefined : events.resumeFrom(after, selection);
    const { next, chunks } =
      resumed !== undefined
        ? { next: resumed, chunks: [] }
        : selection.on
          ? events.start(selection)
          : events.current(selection.tickers);
    cursor = next;
    send([PREAMBLE, ...chunks]);
  };

  const sendNextPage = async (): Promise<void> => {
    while (!stream.hasEnded) {
      const page =
        events.recentPage(cursor, selection) ??
        (await runScheduled(() => (stream.hasEnded ? undefined : events.storedPage(cursor, selection))));
      if (stream.hasEnded || !page) return;
      cursor = page.next;
      if (page.chunks.length > 0) {
        send(page.chunks);
        return;
      }
      const woken = Promise.withResolvers<void>();
      wakeUp = woken.resolve;
      // Other work can run between two pages of a long log.
      if (page.hasMore) setImmediate(woken.resolve);
      await woken.promise;
    }
  };

  const stream = createBoundedStream({
    behindBytes: QUEUE_BYTES,
    async onRoom() {
      try {
        if (started) return await sendNextPage();
        if (after !== undefined) await catchUp(after);
        await runScheduled(sendFirstPage);
      } catch (error) {
        onClose();
        throw error;
      }
    },
    onCancel() {
      wakeUp?.();
      onClose();
    },
  });

  return {
    stream,
    /** Callers must call this function when the log may have new events. */
    wake: () => wakeUp?.(),
    ping() {
      // No ping is needed while data waits for the client.
      if (stream.unreadBytes < QUEUE_BYTES) stream.write(PING);
    },
    /** Ends the stream. If `drop` is true, drops the data that the client has not read. */
    end(drop: boolean) {
      if (drop) stream.drop();
      else {
        stream.write(PREAMBLE);
        stream.close();
      }
      wakeUp?.();
    },
  };
}

const PREAMBLE = Buffer.from(RETRY);
