import type { StreamEnd } from '../../access/stream-watch.ts';

/** A client may be this far behind for as long as its watch allows, and never UNREAD_BYTES_MAX: its stream would grow without end. */
const BEHIND_BYTES = 256 * 1024;
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;
/** How soon a client whose stream was closed may come back. */
const RETRY_MS = 2_000;

/** Server-sent events to one client, with a bound on what lies unread. */
export interface ClientStream {
  readonly body: ReadableStream<Uint8Array>;
  /** When the client took anything last while too much waited for it, ms of `performance.now()`; undefined where it keeps up. */
  readonly behindSince: number | undefined;
  /** Bytes that the client has not taken. */
  readonly unreadBytes: number;
  /** Sends text or bytes; where far too much lies unread, the client is given up. */
  write(chunk: string | Uint8Array): void;
  /** Ends the stream, with the time after which the client may come back; what one who is behind has not taken is dropped. */
  end(reason: StreamEnd): void;
  /** All has been said: ends the stream once the client has caught up, and says so. Not where it has ended otherwise. */
  finish(done: () => void): void;
}

/** `gone` is told once: that the client has closed the stream, or is so far behind that it was given up. */
export function createClientStream(gone: (reason: 'client' | 'behind') => void): ClientStream {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let behindSince: number | undefined;
  let ended = false;
  let finishing: (() => void) | undefined;

  const end = (reason: StreamEnd): void => {
    if (ended) return;
    ended = true;
    if (reason === 'behind') {
      controller.error(new Error('The client has taken nothing for too long'));
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
      // Called when the client has caught up.
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

/** Says nothing, and that the stream is alive. */
export const PING = ': ping\n\n';

const encoder = new TextEncoder();
