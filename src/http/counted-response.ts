import type { ByteBudget } from '../access/byte-budget.ts';
import { type ResponseHead, respond } from './http-app.ts';

/** Minimum size of a counted body, bytes. A smaller body fits into the buffer of the socket. */
const COUNTED_FROM = 64 * 1024;

/** The answered request, its account, and the header fields that hooks have added to the response. */
export interface Recipient {
  readonly request: Pick<Request, 'method'>;
  readonly account: string;
  readonly set: ResponseHead;
}

/**
 * Creates a response. A large body counts in the account's byte budget until the client has read it or the connection is closed. It is a
 * stream, sent as fast as the client reads, because the runtime copies any other body and does not report when it was read.
 */
export function respondCounted(
  budget: ByteBudget,
  { request, account, set }: Recipient,
  body: string | Uint8Array | Blob,
  fields: Headers,
): Response {
  // A blob is a file of this program, and the runtime does not copy a blob to send it.
  if (body instanceof Blob || body.length < COUNTED_FROM || request.method === 'HEAD')
    return respond(set, body, fields);
  return respond(set, countedBody(body, budget.reserve(account, body.length)), fields);
}

/** Returns the body as a stream. Calls `release` when the client has read the body or has closed the connection. */
function countedBody(body: string | Uint8Array, release: () => void): ReadableStream<Uint8Array> {
  // The stream is a direct stream of the runtime: `write` writes to the socket, and `flush` waits until the client has read the data.
  return new ReadableStream({
    type: 'direct',
    async pull(controller: ReadableStreamDirectController) {
      try {
        controller.write(body);
        await controller.flush(true);
        controller.end();
      } finally {
        release();
      }
    },
    cancel: release,
  } as Bun.DirectUnderlyingSource<Uint8Array>);
}
