import type { Gunzip } from 'node:zlib';
import type { ByteBudget } from '../access/byte-budget.ts';
import { ClientError } from '../core/errors.ts';
import { jsonExcess } from '../core/json-shape.ts';

/** Maximum size of a body, bytes. Requests of the API contract are much smaller. Column routes have a larger limit. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Maximum number of bytes that the server reads from the body of a rejected request. */
const DRAIN_BYTES_MAX = 16 * BODY_BYTES_MAX;
const BODY_MS_MAX = 10_000;

/** The largest body that the byte budget ignores, bytes. All simultaneous bodies of an account up to this size take only a few MB. */
export const FREE_BYTES = 64 * 1024;

interface Sender {
  readonly budget: ByteBudget;
  readonly account: string;
}

/**
 * Reads the JSON of a request, with limits on size, nesting depth and arrival time. Throws `ClientError`: 413 if the body is too large; 422
 * if the body is not JSON, is nested too deep or arrives too slowly; 429 or 503 if the byte budget has no room for the body.
 */
export async function readJson(request: Request, sender: Sender, bytesMax = BODY_BYTES_MAX): Promise<unknown> {
  const counted = countBody(request, sender, bytesMax);
  if (!counted) return parseJson(await readText(request, bytesMax));
  try {
    return parseJson(await readText(request, bytesMax));
  } finally {
    counted.release();
  }
}

/** Reads the text of a request, with limits on size and arrival time. Throws `ClientError`: 413 if too large, 422 if too slow. */
export function readText(request: Request, bytesMax = BODY_BYTES_MAX): Promise<string> {
  const isWhole = isDeclared(request, bytesMax) && !isGzip(request);
  return withTimeout(isWhole ? request.text() : readCounted(request, bytesMax).then(decode));
}

/** Reads the bytes of a request, with the limits and errors of `readText`. */
export async function readBytes(request: Request, bytesMax = BODY_BYTES_MAX): Promise<ArrayBuffer> {
  if (isDeclared(request, bytesMax) && !isGzip(request)) return withTimeout(request.arrayBuffer());
  // Copies the bytes to a new buffer, because a view of float64 numbers must start at a multiple of 8 bytes.
  return new Uint8Array(await withTimeout(readCounted(request, bytesMax))).buffer;
}

/**
 * Counts a large body in its account's byte budget, until `release` is called. Must be called before the body is read. A body of less than
 * `bytesLeast` bytes counts as `bytesLeast`. Returns undefined for a small body. Throws `ClientError` (429 or 503) if there is no room.
 */
export function countBody(request: Request, { budget, account }: Sender, bytesMax: number, bytesLeast = 0) {
  // The declared length of a compressed body does not say how large the body is.
  const declared = isGzip(request) ? Number.NaN : declaredBytes(request);
  if (declared <= FREE_BYTES) return undefined;
  // A body without Content-Length counts as if it had the maximum size.
  const bytes = Math.max(bytesLeast, Math.min(Number.isNaN(declared) ? bytesMax : declared, bytesMax));
  budget.assertCapacity(account, bytes);
  return { bytes, release: budget.reserve(account, bytes) };
}

/** Throws `ClientError` (415) if the Content-Type is not JSON. A body without Content-Type counts as JSON. */
export function assertJsonType(headers: Headers): void {
  const type = headers.get('content-type');
  if (type === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new ClientError('media_type', 'The Content-Type is not application/json', {
    hint: 'Send the message as JSON with Content-Type: application/json.',
  });
}

/**
 * Over TLS, reads the body of a rejected request to its end, because in HTTP/2 an answer before the end of the body resets the stream, so
 * the client may never see it. Without TLS, the runtime discards the body. A body declared above DRAIN_BYTES_MAX is not read.
 */
export async function drain(request: Request): Promise<void> {
  if (!isDrained(request)) return;
  if (request.bodyUsed || declaredBytes(request) > DRAIN_BYTES_MAX) return;
  await withTimeout(readCounted(request, 0)).catch(() => {});
}

/** Returns whether the server reads the body of a rejected request to its end. */
export function isDrained({ url }: Pick<Request, 'url'>): boolean {
  return url.startsWith('https:');
}

function declaredBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN);
}

/** Returns whether a body declares its length, so that one call may read it. Throws `ClientError` (413) above `bytesMax`. */
function isDeclared(request: Request, bytesMax: number): boolean {
  const declared = declaredBytes(request);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  return declared <= bytesMax;
}

/** Reads and counts a body. Beyond `bytesMax`, discards up to DRAIN_BYTES_MAX bytes (see `drain`), and throws `ClientError` (413). */
async function readCounted(request: Request, bytesMax: number): Promise<Buffer> {
  if (bytesMax > 0 && isGzip(request)) return readGzip(request, bytesMax);
  const chunks: Uint8Array[] = [];
  const reader = request.body?.getReader();
  let total = 0;
  for (let ended = reader === undefined; !ended && total <= DRAIN_BYTES_MAX; ) {
    const { value, done } = await reader!.read();
    ended = done;
    total += value?.byteLength ?? 0;
    if (total > bytesMax) chunks.length = 0;
    else if (value) chunks.push(value);
  }
  if (total > DRAIN_BYTES_MAX) void reader!.cancel();
  if (total > bytesMax) throw tooLarge(bytesMax);
  return Buffer.concat(chunks);
}

/** Returns whether a body is compressed with gzip. Throws `ClientError` (415) for another content coding. */
function isGzip({ headers }: Request): boolean {
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === '') return false;
  if (coding === 'gzip' || coding === 'x-gzip') return true;
  throw new ClientError('coding_unknown', 'The Content-Encoding of the body is not gzip', {
    hint: 'Send the body uncompressed, or compress it once with gzip.',
  });
}

/**
 * Reads a body and inflates it in pieces on the thread pool. Throws `ClientError`: 413 as soon as the pieces are longer than `bytesMax` together,
 * so that a small body cannot take much memory; 422 if the body is not gzip or ends too early.
 */
async function readGzip(request: Request, bytesMax: number): Promise<Buffer> {
  const { createGunzip } = await import('node:zlib');
  const inflated = createGunzip();
  const reader = request.body?.getReader();
  const fed = feed(reader, inflated, bytesMax, isDrained(request)).catch((error) => inflated.destroy(error));
  const chunks: Uint8Array[] = [];
  let total = 0;
  try {
    for await (const chunk of inflated as AsyncIterable<Uint8Array>) {
      total += chunk.byteLength;
      if (total > bytesMax) throw tooLarge(bytesMax);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    inflated.destroy();
    if (isDrained(request)) await fed;
    else void reader?.cancel().catch(() => {});
    if (error instanceof ClientError) throw error;
    throw new ClientError('invalid_body', 'The body is not valid gzip', {
      hint: 'Compress the body with gzip, or leave out Content-Encoding.',
    });
  }
}

/** Writes a body to a decompressor, as fast as the decompressor takes it. After a fault, discards the rest if `isDrained` is true. */
async function feed(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'> | undefined,
  inflated: Gunzip,
  bytesMax: number,
  isDrained: boolean,
): Promise<void> {
  let total = 0;
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    if (done) break;
    total += value!.byteLength;
    // A compressed body may have any length without any content.
    if (total > bytesMax) inflated.destroy(tooLarge(bytesMax));
    if (inflated.destroyed) {
      if (!isDrained || total > DRAIN_BYTES_MAX) return void reader!.cancel().catch(() => {});
    } else await new Promise<unknown>((resolve) => inflated.write(value, resolve));
  }
  inflated.end();
}

/** Rejects with `ClientError` (422) if the body takes longer than BODY_MS_MAX, so that a slow sender cannot keep a request open. */
function withTimeout<Read>(arriving: Promise<Read>): Promise<Read> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), BODY_MS_MAX);
    const completed =
      <Value>(complete: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        complete(value);
      };
    arriving.then(completed(resolve), completed(reject));
  });
}

/** Decodes UTF-8. Replaces invalid bytes, and removes a byte-order mark. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/**
 * Limits for the JSON text of a body. The largest request has a column of 20,000 strings (call or put). Without these limits, a body of 4
 * MB with many objects or strings could block the event loop for 0.2 to 0.4 s while it is parsed.
 */
const BODY_JSON = { containers: 2_000, values: 1_000_000, texts: 50_000 };

/** Parses a text as JSON. Throws `ClientError` (422) if the text is not JSON, or exceeds the limits JSON_DEPTH_MAX or BODY_JSON. */
export function parseJson(text: string): unknown {
  const excess = jsonExcess(text, BODY_JSON);
  if (excess !== undefined) {
    throw new ClientError('invalid_body', `The body is ${excess}`, { hint: 'Send one flat JSON object.' });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new ClientError('invalid_body', text === '' ? 'The body is empty' : 'The body is not valid JSON', {
      hint: 'Send one JSON object. JSON numbers cannot be NaN or Infinity.',
    });
  }
}

function tooLarge(bytesMax: number): ClientError {
  return new ClientError('body_too_large', `The body exceeds ${bytesMax} bytes`, {
    hint: 'Split the request into smaller requests.',
  });
}

function tooSlow(): ClientError {
  return new ClientError('invalid_body', `The body did not arrive within ${BODY_MS_MAX / 1000} seconds`, {
    hint: 'Send the whole body at once.',
  });
}
