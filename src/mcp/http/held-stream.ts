import type { Account } from '../../access/access.ts';
import type { StreamEnd, WatchedStream } from '../../access/stream-watch.ts';
import { type ClientStream, createClientStream, PING } from './client-stream.ts';
import type { TransportParts } from './transport-parts.ts';

/** What a stream's session knows of its client, where there is a session. */
export interface Liveliness {
  isSilent(nowMs: number): boolean;
  /** Asks the client for a sign of life where it is time to. */
  ask(nowMs: number): void;
}

/** What a stream is for. */
export interface Purpose {
  /** Of the stream of a session. */
  readonly life?: Liveliness;
  /** Address and port of its client, where its connection is known. */
  readonly peer?: string | undefined;
  /** It carries the answers to one request, and comes and goes with them. */
  readonly isAnswer?: boolean;
  /** Told once, when all has been said or the client is gone. */
  readonly ended?: () => void;
}

/**
 * An event stream of the protocol engine's, put under the watch and within bounds: the engine itself would queue without end for a client
 * that reads nothing. Other answers pass as they are.
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
  /** All has been said. */
  close(): void;
}

/** A stream of ours under the watch and within bounds. */
export function openHeld(
  account: Account,
  { watch, observe }: Pick<TransportParts, 'watch' | 'observe'>,
  { life, peer, isAnswer, ended }: Purpose,
): HeldStream {
  const over = (reason: StreamEnd): void => {
    watch.remove(watched);
    ended?.();
    // Answers come and go with every call.
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
    // The runtime sends the header with the first bytes, and the engine may have nothing to say for long.
    stream.write(PING);
    observe({ kind: 'stream_opened', account: account.id, streams: watch.size });
  }
  return { body: stream.body, write: stream.write, close: () => stream.finish(() => over('client')) };
}

export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Hands on what comes, as it comes, to the end. */
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
    // The engine gave it up: so do we.
  }
}
