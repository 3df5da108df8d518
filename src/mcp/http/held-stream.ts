import type { Account } from '../../access/access.ts';
import type { WatchedStream } from '../../access/stream-watch.ts';
import { createClientStream, PING } from './client-stream.ts';
import type { TransportParts } from './transport-parts.ts';

/** What a stream's session knows of its client, where there is a session. */
export interface Liveliness {
  isSilent(nowMs: number): boolean;
  /** Asks the client for a sign of life where it is time to. */
  ask(nowMs: number): void;
}

/**
 * An event stream of the protocol engine's, put under the watch and within bounds: the engine itself would queue without end for a client
 * that reads nothing. Other answers pass as they are.
 */
export function held(
  response: Response,
  account: Account,
  { watch, observe }: Pick<TransportParts, 'watch' | 'observe'>,
  life?: Liveliness,
): Response {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
  const source = response.body.getReader();
  const over = (reason: Parameters<WatchedStream['end']>[0]): void => {
    watch.remove(watched);
    void source.cancel().catch(() => {});
    observe({ kind: 'stream_closed', account: account.id, reason, streams: watch.size });
  };
  const stream = createClientStream(over);
  const watched: WatchedStream = {
    account,
    get behindSince() {
      return stream.behindSince;
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
  // The runtime sends the header with the first bytes, and the engine may have nothing to say for long.
  stream.write(PING);
  watch.add(watched);
  observe({ kind: 'stream_opened', account: account.id, streams: watch.size });
  void pump(source, stream.write).then(() => watch.remove(watched) && watched.end('client'));
  return new Response(stream.body, { status: response.status, headers: response.headers });
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
