import { Failure } from '../../errors.ts';

/** Messages of one batch (2025-03-26 allows them): a short one may ask for long answers. */
const BATCH_MAX = 50;

/** A posted body as the messages that it should be. Throws `Failure`, 422, for none and for too many. */
export function batchOf(body: unknown): unknown[] {
  const batch = Array.isArray(body) ? body : [body];
  if (batch.length >= 1 && batch.length <= BATCH_MAX) return batch;
  throw notMessages();
}

export function notMessages(): Failure {
  return new Failure('invalid_body', 'The body is not a JSON-RPC 2.0 message', {
    hint: `Send {"jsonrpc":"2.0","id":1,"method":"tools/list"}, or an array of 1 to ${BATCH_MAX} such messages.`,
  });
}
