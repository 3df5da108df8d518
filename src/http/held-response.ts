import type { ByteBudget } from '../access/byte-budget.ts';
import { type ResponseHead, respond } from './http-app.ts';

/** Smaller bodies fit into the buffers of their sockets. */
const HELD_FROM = 64 * 1024;
/** Handed to the socket at a time. */
const CHUNK_BYTES = 64 * 1024;

/** Who an answer is for, and the fields that hooks gave it. */
export interface Recipient {
  readonly request: Pick<Request, 'method'>;
  readonly account: string;
  readonly set: ResponseHead;
}

/**
 * A response whose body, if it is large, is handed over as the client takes it, and counts as held by the account until it is taken or the
 * connection is gone. The runtime itself would copy a whole body into memory for each client that does not read.
 */
export function respondHeld(
  budget: ByteBudget,
  { request, account, set }: Recipient,
  body: string | Uint8Array,
  fields: Headers,
): Response {
  if (body.length < HELD_FROM || request.method === 'HEAD') return respond(set, body, fields);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return respond(set, heldBody(bytes, budget.hold(account, bytes.length)), fields);
}

/** The bytes as a stream; `release` is called once they are taken, or will not be. */
function heldBody(bytes: Uint8Array, release: () => void): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (at < bytes.length) {
          controller.enqueue(bytes.subarray(at, at + CHUNK_BYTES));
          at += CHUNK_BYTES;
          return;
        }
        release();
        controller.close();
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  );
}
