import type { Account } from '../../access/access.ts';
import type { StreamEnd } from '../../core/events.ts';
import { PING } from '../../sse/sse-format.ts';
import type { RegisteredStream } from '../../sse/stream-registry.ts';
import { type ClientStream, createClientStream } from './client-stream.ts';
import type { TransportDeps } from './transport-deps.ts';

/** The liveness of the client of a session. */
export interface ClientLiveness {
  isSilent(nowMs: number): boolean;
  /** Sends a `ping` request to the client if a ping is due. */
  pingIfDue(nowMs: number): void;
}

/** Settings of one stream. */
export interface GuardedStreamOptions {
  /** Liveness of the client. Only a session's notification stream has this property. */
  readonly liveness?: ClientLiveness;
  /** Address and port of the client, if the connection is known. */
  readonly peer?: string | undefined;
  /** True if the stream sends only the answers to one POST. Such a stream ends after the last answer. */
  readonly isAnswer?: boolean;
  /** Called once, when the stream has ended. */
  readonly onEnd?: () => void;
}

/** Monitors an SSE response of the SDK, whose queue could grow without end. Returns other responses unchanged. */
export function guardResponse(
  response: Response,
  account: Account,
  deps: Pick<TransportDeps, 'streams' | 'observe'>,
  { onEnd, ...options }: GuardedStreamOptions = {},
): Response {
  if (!response.body || !isEventStream(response)) return response;
  const source = response.body.getReader();
  const stream = openGuardedStream(account, deps, {
    ...options,
    onEnd() {
      void source.cancel().catch(() => {});
      onEnd?.();
    },
  });
  void pump(source, stream.write).then(stream.close);
  return new Response(stream.body, { status: response.status, headers: response.headers });
}

export interface GuardedStream extends Pick<ClientStream, 'body' | 'write'> {
  /** Closes the stream when the client is no longer behind. */
  close(): void;
}

/** Opens a stream with a limit of unread bytes, and adds it to the stream registry. */
export function openGuardedStream(
  account: Account,
  { streams, observe }: Pick<TransportDeps, 'streams' | 'observe'>,
  { liveness, peer, isAnswer, onEnd }: GuardedStreamOptions,
): GuardedStream {
  const handleEnd = (reason: StreamEnd): void => {
    streams.remove(registered);
    onEnd?.();
    // The normal end of an answer stream is not reported, because such streams end very often.
    if (isAnswer && reason === 'client') return;
    observe({ kind: 'stream_closed', account: account.id, reason, streams: streams.size });
  };
  const stream = createClientStream(handleEnd);
  const registered: RegisteredStream = {
    account,
    peer,
    queue: stream.queue,
    isSilent: (nowMs) => liveness?.isSilent(nowMs) ?? false,
    ping(nowMs) {
      liveness?.pingIfDue(nowMs);
      stream.write(PING);
    },
    end(reason) {
      stream.end(reason);
      handleEnd(reason);
    },
  };
  streams.add(registered);
  if (!isAnswer) {
    // Bun sends the response headers only with the first bytes of the body, so the code sends bytes before the first message.
    stream.write(PING);
    observe({ kind: 'stream_opened', account: account.id, streams: streams.size });
  }
  return { body: stream.body, write: stream.write, close: () => stream.finish(() => handleEnd('client')) };
}

export function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Forwards the chunks of a stream until the stream ends or fails. */
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
    // If the SDK's stream fails, the caller closes the client's stream.
  }
}
