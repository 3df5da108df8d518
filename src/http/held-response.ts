import type { ByteBudget } from '../access/byte-budget.ts';
import { type ResponseHead, respond } from './http-app.ts';

/** Smaller bodies fit into the buffers of their sockets. */
const HELD_FROM = 64 * 1024;

/** Who an answer is for, and the fields that hooks gave it. */
export interface Recipient {
  readonly request: Pick<Request, 'method'>;
  readonly account: string;
  readonly set: ResponseHead;
}

/**
 * A response whose body, if it is large, is handed over as the client takes it, and counts as held by the account until it is taken or the
 * connection is gone. The runtime does not tell when a plain body was taken, and keeps a copy of it until then.
 */
export function respondHeld(
  budget: ByteBudget,
  { request, account, set }: Recipient,
  body: string | Uint8Array | Blob,
  fields: Headers,
): Response {
  // A blob is a file of this program, which the runtime sends without copying it.
  if (body instanceof Blob || body.length < HELD_FROM || request.method === 'HEAD') return respond(set, body, fields);
  return respond(set, heldBody(body, budget.hold(account, body.length)), fields);
}

/** The body as a stream; `release` is called once it is taken, or will not be. */
function heldBody(body: string | Uint8Array, release: () => void): ReadableStream<Uint8Array> {
  // The runtime's direct stream: what is written goes to the socket, and `flush` waits until the client has taken it.
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
