/** Data in a stream that the client has not read yet. */
export interface StreamQueue {
  /** The time at which the client fell behind, ms of `performance.now()`. Undefined if the client reads fast enough. */
  readonly behindSince: number | undefined;
  /** Number of bytes in memory that the client has not read. */
  readonly unreadBytes: number;
}

export interface BoundedStreamOptions {
  /** A client with at least this number of unread bytes counts as behind. */
  readonly behindBytes: number;
  /** Called at the start, and whenever the client is no longer behind. The stream ends if the returned promise rejects. */
  readonly onRoom: () => void | Promise<void>;
  /** Called when the client closes the stream. */
  readonly onCancel: () => void;
}

/** Creates a stream of bytes to one client. Its queue is unlimited, so the caller ends the stream, or writes more only after `onRoom`. */
export function createBoundedStream({ behindBytes, onRoom, onCancel }: BoundedStreamOptions) {
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
    /** True if the server has closed or dropped the stream, or if the client has closed it. */
    get hasEnded() {
      return hasEnded;
    },
    /** Sends text or bytes. Does nothing if the stream has ended. */
    write(chunk: string | Uint8Array) {
      if (hasEnded) return;
      controller.enqueue(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      if (controller.desiredSize! <= 0) behindSince ??= performance.now();
    },
    /** Ends the stream after the client has read the remaining bytes. */
    close() {
      if (hasEnded) return;
      hasEnded = true;
      controller.close();
    },
    /** Ends the stream at once with an error. Drops the bytes that the client has not read yet. */
    drop() {
      if (hasEnded) return;
      hasEnded = true;
      controller.error(new Error('The client has read nothing for too long'));
    },
  };
}
