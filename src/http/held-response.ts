import type { ByteBudget } from '../access/byte-budget.ts';
import { type ResponseHead, respond } from './http-app.ts';

/** Smaller bodies fit into the buffers of their sockets. */
const HELD_FROM = 64 * 1024;
/** Handed to the socket at a time. */
const CHUNK_LENGTH = 64 * 1024;

/** Who an answer is for, and the fields that hooks gave it. */
export interface Recipient {
  readonly request: Pick<Request, 'method'>;
  readonly account: string;
  readonly set: ResponseHead;
}

/** A body whole, or in pieces that were never joined. */
export type AnswerBody = string | Uint8Array | readonly string[];

/**
 * A response whose body, if it is large, is handed over as the client takes it, and counts as held by the account until it is taken or the
 * connection is gone. The runtime itself would copy a whole body into memory for each client that does not read.
 */
export function respondHeld(
  budget: ByteBudget,
  { request, account, set }: Recipient,
  body: AnswerBody,
  fields: Headers,
): Response {
  const pieces = typeof body === 'string' || body instanceof Uint8Array ? [body] : body;
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  if (length >= HELD_FROM && request.method !== 'HEAD') {
    return respond(set, heldBody(pieces, budget.hold(account, length)), fields);
  }
  return respond(set, pieces.length === 1 ? pieces[0]! : pieces.join(''), fields);
}

/** The pieces as a stream of bytes; `release` is called once they are taken, or will not be. */
function heldBody(pieces: readonly (string | Uint8Array)[], release: () => void): ReadableStream<Uint8Array> {
  const chunks = chunksOf(pieces);
  return new ReadableStream(
    {
      pull(controller) {
        const { value, done } = chunks.next();
        if (!done) return controller.enqueue(value);
        release();
        controller.close();
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  );
}

function* chunksOf(pieces: readonly (string | Uint8Array)[]): Generator<Uint8Array, undefined> {
  for (const piece of pieces) {
    for (let start = 0, end = 0; start < piece.length; start = end) {
      end = Math.min(start + CHUNK_LENGTH, piece.length);
      if (typeof piece !== 'string') yield piece.subarray(start, end);
      else {
        // A character of two code units is not cut in two.
        if (isHighSurrogate(piece.charCodeAt(end - 1))) end++;
        yield encoder.encode(piece.slice(start, end));
      }
    }
  }
}

const encoder = new TextEncoder();

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
