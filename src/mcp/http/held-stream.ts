import type { Account } from '../../access/access.ts';
import type { StreamEnd, WatchedStream } from '../../access/stream-watch.ts';
import { type ClientStream, createClientStream, PING } from './client-stream.ts';
import type { TransportParts } from './transport-parts.ts';

/** Liveness of a session's client. */
export interface Liveliness {
  isSilent(nowMs: number): boolean;
  /** Sends the client a `ping` request if one is due. */
  ask(nowMs: number): void;
}

/** Settings of one stream. */
export interface Purpose {
  /** Liveness of the client, for the notification stream of a session. */
  readonly life?: Liveliness;
  /** Address and port of the client, if its connection is known. */
  readonly peer?: string | undefined;
  /** True if the stream carries the answers to one POST and ends with them. */
  readonly isAnswer?: boolean;
  /** Called once, when the stream has ended. */
  readonly ended?: () => void;
}

/**
 * Wraps an SSE response of the SDK: the stream watch monitors it, and its unread bytes are limited. The SDK itself queues without limit for
 * a client that reads nothing. Returns other responses unchanged.
 */
export function held(
  response: Response,
  account: Account,
  parts: Pick<TransportParts, 'watch' | 'observe'>,
  { ended, ...purpose }: Purpose = {},
): Response {
  if (!response.body || !isEventStream(response)) return response;
  const source = response.body.getReader();
  const stream = openHeld(account, parts, {
    ...purpose,
    ended() {
      void source.cancel().catch(() => {});
      ended?.();
    },
  });
  void pump(source, stream.write).then(stream.close);
  return new Response(stream.body, { status: response.status, headers: response.headers });
}

export interface HeldStream extends Pick<ClientStream, 'body' | 'write'> {
  /** Closes the stream once the client is no longer behind. */
  close(): void;
}

/** Opens a stream that the stream watch monitors, with a limit of unread bytes. */
export function openHeld(
  account: Account,
  { watch, observe }: Pick<TransportParts, 'watch' | 'observe'>,
  { life, peer, isAnswer, ended }: Purpose,
): HeldStream {
  const over = (reason: StreamEnd): void => {
    watch.remove(watched);
    ended?.();
    // Every call that answers as a stream ends one: these ends are too many to report.
    if (isAnswer && reason === 'client') return;
    observe({ kind: 'stream_closed', account: account.id, reason, streams: watch.size });
  };
  const stream = createClientStream(over);
  const watched: WatchedStream = {
    account,
    peer,
    get behindSince() {
      return stream.behindSince;
    },
    get unreadBytes() {
      return stream.unreadBytes;
    },
    isSilent: (nowMs) => life?.isSilent(nowMs) ?? false,
    ping(nowMs) {
      life?.ask(nowMs);
      stream.write(PING);
    },
    end(reason) {
      stream.end(reason);
      over(reason);
    },
  };
  watch.add(watched);
  if (!isAnswer) {
    // Bun sends the response headers with the first bytes of the body. The first message may come much later.
    stream.write(PING);
    observe({ kind: 'stream_opened', account: account.id, streams: watch.size });
  }
  return { body: stream.body, write: stream.write, close: () => stream.finish(() => over('client')) };
}

export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Forwards the chunks of a stream until it ends or fails. */
async function pump(
  source: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>,
  write: (chunk: Uint8Array) => void,
): Promise<void> {
  try {
    for (;;) {
      const { value, done } = await source.read();
      if (done) return;
      write(value);
    }
  } catch {
    // The SDK's stream has failed: the caller closes the client's stream.
  }
}
