/** What waits in a stream to be read by its client. */
export interface StreamQueue {
  /** When the client fell behind, ms of `performance.now()`. Undefined if the client reads fast enough. */
  readonly behindSince: number | undefined;
  /** Bytes in memory that the client has not read. */
  readonly unreadBytes: number;
}

/** A stream of bytes to one client. */
export interface BoundedStream extends StreamQueue {
  readonly body: ReadableStream<Uint8Array>;
  /** True once the stream was closed or dropped, or the client has closed it. */
  readonly hasEnded: boolean;
  /** Sends text or bytes. Does nothing if the stream has ended. */
  write(chunk: string | Uint8Array): void;
  /** Ends the stream after the bytes that the client has not read. */
  close(): void;
  /** Ends the stream at once with an error. Drops the bytes that the client has not read. */
  drop(): void;
}

export interface BoundedStreamOptions {
  /** Number of unread bytes from which on the client is behind. */
  readonly behindBytes: number;
  /** Called once at the start, and when the client has read so much that it is no longer behind. A rejection ends the stream. */
  readonly onRoom: () => void | Promise<void>;
  /** Called when the client closes the stream. */
  readonly onCancel: () => void;
}

/**
 * Creates a stream that queues bytes without limit. The caller must limit the queue: the caller ends the stream, or writes more only when
 * `onRoom` is called.
 */
export function createBoundedStream({ behindBytes, onRoom, onCancel }: BoundedStreamOptions): BoundedStream {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let behindSince: number | undefined;
  let hasEnded = false;

  const body = new ReadableStream<Uint8Array>(
    {
      start(streamController) {
        controller = streamController;
      },
      async pull() {
        behindSince = undefined;
        try {
          await onRoom();
        } catch (error) {
          hasEnded = true;
          throw error;
        }
      },
      cancel() {
        if (hasEnded) return;
        hasEnded = true;
        onCancel();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: behindBytes }),
  );

  return {
    body,
    get behindSince() {
      return behindSince;
    },
    get unreadBytes() {
      return hasEnded ? 0 : behindBytes - controller.desiredSize!;
    },
    get hasEnded() {
      return hasEnded;
    },
    write(chunk) {
      if (hasEnded) return;
      controller.enqueue(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      if (controller.desiredSize! <= 0) behindSince ??= performance.now();
    },
    close() {
      if (hasEnded) return;
      hasEnded = true;
      controller.close();
    },
    drop() {
      if (hasEnded) return;
      hasEnded = true;
      controller.error(new Error('The client has read nothing for too long'));
    },
  };
}
