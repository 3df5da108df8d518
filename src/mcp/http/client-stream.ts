import type { StreamEnd } from '../../access/stream-watch.ts';

/** With this many unread bytes the client is behind. The stream watch ends its stream if the client stays behind for too long. */
const BEHIND_BYTES = 256 * 1024;
/** With this many unread bytes the stream ends at once. Otherwise its queue would grow without limit. */
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
/** Delay after which a client may reconnect when its stream has ended. Sent as `retry:`. */
const RETRY_MS = 2_000;

/** A stream of server-sent events to one client, with a limit of unread bytes. */
export interface ClientStream {
  readonly body: ReadableStream<Uint8Array>;
  /** When the client fell behind, ms of `performance.now()`. Undefined if the client keeps up. */
  readonly behindSince: number | undefined;
  /** Bytes that wait to be read by the client. */
  readonly unreadBytes: number;
  /** Sends text or bytes. Ends the stream if the limit of unread bytes is reached. */
  write(chunk: string | Uint8Array): void;
  /** Ends the stream. Sends `retry:` as its last line, except if the reason is `behind`: then the unread bytes are dropped. */
  end(reason: StreamEnd): void;
  /** Closes the stream once the client is no longer behind, then calls `done`. Does nothing if the stream has ended before. */
  finish(done: () => void): void;
}

/** Calls `gone` at most once: when the client closes the stream, or when the limit of unread bytes ends the stream. */
export function createClientStream(gone: (reason: 'client' | 'behind') => void): ClientStream {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let behindSince: number | undefined;
  let ended = false;
  let finishing: (() => void) | undefined;

  const end = (reason: StreamEnd): void => {
    if (ended) return;
    ended = true;
    if (reason === 'behind') {
      controller.error(new Error('The client has read nothing for too long'));
    } else {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
      controller.close();
    }
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      // Called when the client has read enough to be no longer behind.
      pull() {
        behindSince = undefined;
        finishing?.();
      },
      cancel() {
        if (ended) return;
        ended = true;
        gone('client');
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BEHIND_BYTES }),
  );

  return {
    body,
    get behindSince() {
      return behindSince;
    },
    get unreadBytes() {
      return ended ? 0 : BEHIND_BYTES - controller.desiredSize!;
    },
    write(chunk) {
      if (ended) return;
      controller.enqueue(typeof chunk === 'string' ? encoder.encode(chunk) : chunk);
      const room = controller.desiredSize!;
      if (room <= 0) behindSince ??= performance.now();
      if (room > BEHIND_BYTES - UNREAD_BYTES_MAX) return;
      end('behind');
      gone('behind');
    },
    end,
    finish(done) {
      finishing = () => {
        if (ended) return;
        ended = true;
        controller.close();
        done();
      };
      if (behindSince === undefined) finishing();
    },
  };
}

/** An SSE comment, which clients ignore. It keeps an idle stream open. */
export const PING = ': ping\n\n';

const encoder = new TextEncoder();
