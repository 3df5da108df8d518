import { fieldsOf, type ResponseHead, respond } from './http-app.ts';

/** A response that is prepared once and sent many times. */
export interface PreparedResponse {
  readonly body: string | Blob | Uint8Array;
  /** The strong entity tag of the uncompressed form. The tag of a compressed form consists of the strong tag and the content coding. */
  readonly etag: string;
  readonly fields: Headers;
  readonly isLarge: boolean;
  /** Whether caches may keep the response for a year. */
  readonly isImmutable: boolean;
  /** The compressed forms that clients have already requested. The key is the content coding. */
  readonly compressed: Map<Coding, Uint8Array | Promise<Uint8Array>>;
  /** Called with the size of each new compressed form, bytes. */
  onCompressed?: (bytes: number) => void;
}

/** Content codings, with the server's preferred coding first. The server ignores a client's `q` weights, but `q=0` excludes a coding. */
const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Minimum length of a compressed body, in characters of a text or bytes of a file. Compression of a shorter body saves too little. */
const COMPRESSED_FROM = 1_024;

/** Returns the entity tag of a body, or of the values from which the body is computed. */
export function etagOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = new Bun.CryptoHasher('sha256');
  for (const part of parts) hash.update(part);
  return `"${hash.digest('base64url')}"`;
}

/** Prepares a response. `size` is the length of the body, in characters of a text or bytes. */
export function prepareResponse(
  body: string | Blob | Uint8Array,
  etag: string,
  fields: Readonly<Record<string, string>>,
  size = body instanceof Blob ? body.size : body.length,
): PreparedResponse {
  // The columns in a Parquet file are compressed.
  const isLarge = size >= COMPRESSED_FROM && !fields['Content-Type']?.includes('parquet');
  const vary = [fields.Vary ?? [], isLarge ? 'Accept-Encoding' : []].flat().join(', ');
  const all = fieldsOf({ ...fields, ETag: etag, ...(vary && { Vary: vary }) });
  const isImmutable = all.get('Cache-Control')?.includes('immutable') ?? false;
  return { body, etag, fields: all, isLarge, isImmutable, compressed: new Map() };
}

/**
 * Returns the response in a form that the client accepts, or 304 if the client has it (RFC 9110, 13.1.2). Returns a promise while a form is
 * compressed for the first time. `send` creates the response from a body.
 */
export function sendPrepared(
  prepared: PreparedResponse,
  requestHeaders: Headers,
  set: ResponseHead,
  send: (body: string | Blob | Uint8Array, fields: Headers) => Response = (body, fields) => respond(set, body, fields),
): Response | Promise<Response> {
  const { body, etag, fields, isLarge, isImmutable, compressed } = prepared;
  // The id of one request would be wrong for all later requests that a cache answers.
  if (isImmutable) delete set.headers['X-Request-Id'];
  const coding = isLarge ? codingOf(requestHeaders.get('accept-encoding')) : undefined;
  if (coding) set.headers.ETag = `${etag.slice(0, -1)}-${coding}"`;
  if (hasResponse(prepared, requestHeaders)) {
    const response = respond(set, null, fields, 304);
    response.headers.delete('Content-Type');
    return response;
  }
  if (!coding) return send(body, fields);
  set.headers['Content-Encoding'] = coding;
  let ready = compressed.get(coding);
  if (!ready) {
    ready = compress(prepared, coding);
    compressed.set(coding, ready);
    // A failed compression is not cached, so the next request tries again.
    ready.catch(() => compressed.delete(coding));
  }
  return ready instanceof Promise ? ready.then((bytes) => send(bytes, fields)) : send(ready, fields);
}

/** Compresses on the runtime's thread pool, 100 KB of JSON in 3 ms (brotli) or 1.4 ms (gzip). The first call loads zlib. */
async function compress({ body, compressed, onCompressed }: PreparedResponse, coding: Coding): Promise<Uint8Array> {
  const bytes = body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body;
  const compressedBytes = await compressBytes(bytes, coding, 5);
  compressed.set(coding, compressedBytes);
  onCompressed?.(compressedBytes.byteLength);
  return compressedBytes;
}

/** Compresses on the runtime's thread pool. `quality` is that of brotli, from 0 (fast) to 11. */
export async function compressBytes(body: string | Uint8Array, coding: Coding, quality: number): Promise<Uint8Array> {
  const { brotliCompress, constants, gzip } = await import('node:zlib');
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return new Promise<Buffer>((resolve, reject) => {
    const done = (error: Error | null, result: Buffer) => (error ? reject(error) : resolve(result));
    if (coding === 'br') brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }, done);
    else gzip(bytes, done);
  });
}

/** Returns the first of CODINGS that a client accepts (RFC 9110, 12.5.3). Returns undefined if the client accepts no coding of CODINGS. */
export function codingOf(accepted: string | null): Coding | undefined {
  if (accepted === null || accepted === '') return undefined;
  const weights = new Map(
    accepted.split(',').map((each) => {
      const [name = '', ...parameters] = each.split(';').map((item) => item.trim().toLowerCase());
      const weight = parameters.find((item) => item.startsWith('q='));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  return CODINGS.find((coding) => (weights.get(coding) ?? weights.get('*') ?? 0) > 0);
}

/** Returns whether a client has the response, by the `If-None-Match` of its request. */
export function hasResponse({ etag }: PreparedResponse, requestHeaders: Headers): boolean {
  const ifNoneMatch = requestHeaders.get('if-none-match');
  return ifNoneMatch !== null && matchesTag(ifNoneMatch, etag);
}

/** Returns whether If-None-Match is `*`, or a list with this tag, the tag's weak form or the tag of a compressed form. */
function matchesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.match(TAG)?.some((tag) => tag.replace(/-(?:br|gzip)"$/, '"') === etag) ?? false;
}

/** Matches the opaque tag, without a preceding `W/`, because `If-None-Match` uses the weak comparison. A tag may have commas. */
const TAG = /"[\x21\x23-\x7e\x80-\xff]*"/g;
