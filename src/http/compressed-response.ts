import type { ByteBudget } from '../access/byte-budget.ts';
import { type Recipient, respondCounted } from './counted-response.ts';
import { codingOf, compressBytes } from './prepared-response.ts';

/** Minimum length of a compressed body. Below it, compression would delay an answer by more than it saves on a usual connection. */
const COMPRESSED_FROM = 16 * 1024;

/** The quality of brotli for a body that is sent once: a megabyte takes some 10 ms, and gets half as long. */
const QUALITY = 1;

/**
 * Creates a response to a POST request, compressed if it is large and the client accepts a coding. Compression runs on the thread pool. The
 * uncompressed body counts in the account's byte budget meanwhile.
 */
export async function respondCompressed(
  budget: ByteBudget,
  recipient: Recipient & { readonly request: Request },
  body: string | Uint8Array,
  fields: Headers,
): Promise<Response> {
  const { request, account, set } = recipient;
  if (body.length < COMPRESSED_FROM) return respondCounted(budget, recipient, body, fields);
  set.headers.Vary ??= 'Accept, Accept-Encoding';
  const coding = codingOf(request.headers.get('accept-encoding'));
  if (!coding) return respondCounted(budget, recipient, body, fields);
  const release = budget.reserve(account, body.length);
  try {
    const compressed = await compressBytes(body, coding, QUALITY);
    set.headers['Content-Encoding'] = coding;
    return respondCounted(budget, recipient, compressed, fields);
  } finally {
    release();
  }
}
