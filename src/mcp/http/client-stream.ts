import type { StreamEnd } from '../../core/events.ts';
import { createBoundedStream } from '../../sse/bounded-stream.ts';
import { RETRY } from '../../sse/sse-format.ts';

/** A client with this number of unread bytes counts as behind. The stream registry ends a stream if its client is behind for too long. */
const BEHIND_BYTES = 256 * 1024;
/** A stream with this number of unread bytes ends at once. Without a limit, the queue could grow without end. */
const UNREAD_BYTES_MAX = 8 * 1024 * 1024;

/** A stream of server-sent events to one client, with limited unread bytes. */
export type ClientStream = ReturnType<typeof createClientStream>;

/** Creates a stream. Calls `onClose` at most once, after the client closes the stream or the unread bytes reach their limit. */
export function createClientStream(onClose: (reason: 'client' | 'behind') => void) {
  let closeWhenRead: (() => void) | undefined;
  const stream = createBoundedStream({
    behindBytes: BEHIND_BYTES,
    onRoom: () => closeWhenRead?.(),
    onCancel: () => onClose('client'),
  });
  const end = (reason: StreamEnd): void => {
    if (reason === 'behind') stream.drop();
    else {
      stream.write(RETRY);
      stream.close();
    }
  };
  return {
    body: stream.body,
    queue: stream,
    /** Sends text or bytes. Ends the stream if the unread bytes reach the limit. */
    write(chunk: string | Uint8Array) {
      if (stream.hasEnded) return;
      stream.write(chunk);
      if (stream.unreadBytes < UNREAD_BYTES_MAX) return;
      stream.drop();
      onClose('behind');
    },
    /** Ends the stream with the line `retry:`. For the reason `behind`, drops the unread bytes and sends no `retry:` line. */
    end,
    /** Closes the stream when the client is no longer behind. Afterwards, calls `done`. Does nothing if the stream has already ended. */
    finish(done: () => void) {
      closeWhenRead = () => {
        if (stream.hasEnded) return;
        stream.close();
        done();
      };
      if (stream.behindSince === undefined) closeWhenRead();
    },
  };
}
