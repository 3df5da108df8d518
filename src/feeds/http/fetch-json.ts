import { errorCode } from '../../core/errors.ts';
import { jsonExcess, QUICK_JSON } from '../../core/json-shape.ts';
import { INFLATED_BYTES_FREE, INFLATION_MAX } from '../files/gzip.ts';
import { retryAfterMs } from './retry.ts';

/**
 * The result of one request. After a `temporary` error, another try may succeed. After a `permanent` error, every request would fail. After
 * `item`, only this request fails, as for most statuses below 500, because the provider does not have the item. `json` is the parsed body.
 */
export type ProviderResponse = { readonly kind: 'json'; readonly json: unknown } | LargeResponse | FetchError;

/** An unparsed body that exceeds PARSED_BYTES_MAX or QUICK_JSON, because parsing the body may take long. */
export type LargeResponse = Readonly<{ kind: 'large'; body: Uint8Array; reason: string }>;

/** The error of a request, with its reason in words. */
export interface FetchError {
  readonly kind: 'temporary' | 'permanent' | 'item';
  readonly reason: string;
  /** The pause that the provider asks for, ms. */
  readonly afterMs?: number | undefined;
}

export interface FetchJsonOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum time of a request with its redirects, up to the last byte, ms. A slow answer delays the next tickers. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  readonly signal?: AbortSignal | undefined;
  readonly form?: AnswerForm | undefined;
}

/** How a provider answers, if not in JSON. */
export interface AnswerForm {
  /** Reads the body of an answer with status 200. */
  readonly parse: (body: Uint8Array) => ProviderResponse;
  /** The meanings of statuses that no other provider has. */
  readonly statuses: ReadonlyMap<number, ProviderResponse>;
}

/** Maximum size of a body after unpacking: 40 MiB. The largest known answer, the delayed quotes of SPX, has 13 MB. */
export const PROVIDER_BODY_BYTES_MAX = 40 * 1024 * 1024;
/** Maximum size of a body that this process parses, in some five milliseconds: 4 MiB. Parsing more would delay other requests. */
export const PARSED_BYTES_MAX = 4 * 1024 * 1024;
const REDIRECTS_MAX = 3;

/**
 * Sends one bounded GET request for JSON. Reasons are Zomma's own texts, because a server's may contain the credential. Throws
 * `signal.reason` if `signal` is aborted, and returns other errors.
 */
export async function fetchJson(url: URL, options: FetchJsonOptions): Promise<ProviderResponse> {
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  try {
    options.signal?.throwIfAborted();
    return await request(url, options, signal, REDIRECTS_MAX);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (deadline.aborted)
      return temporary(`the provider sent no complete answer within ${options.timeoutMs / 1_000} s`);
    return temporary(`the connection failed (${shownCode(error)})`);
  }
}

async function request(
  url: URL,
  options: FetchJsonOptions,
  signal: AbortSignal,
  redirectsLeft: number,
): Promise<ProviderResponse> {
  const headers = { ...options.headers, 'Accept-Encoding': 'gzip' };
  const response = unpacked(await fetch(url.href, { headers, decompress: false, redirect: 'manual', signal }));
  const { status } = response;
  if (status === 200) {
    const body = await readBody(response);
    return body instanceof Uint8Array ? (options.form?.parse ?? parseBody)(body) : body;
  }
  await response.body?.cancel();
  const meaning = options.form?.statuses.get(status);
  if (meaning) return meaning;
  if (status >= 300 && status < 400) {
    const location = response.headers.get('location');
    const target = location === null ? null : URL.parse(location, url.href);
    if (target === null) return permanent(`the provider answered ${status} without an address`);
    // A request that follows a redirect to another host would send the credential to that host.
    if (target.origin !== url.origin) return permanent(`the provider redirects to another host, ${target.host}`);
    if (redirectsLeft === 0) return permanent(`the provider redirects more than ${REDIRECTS_MAX} times`);
    return request(target, options, signal, redirectsLeft - 1);
  }
  if (status === 429 || status === 503) {
    const afterMs = retryAfterMs(response.headers.get('retry-after'), options.nowMs());
    return { ...temporary(`the provider answered ${status}${status === 429 ? ', too many requests' : ''}`), afterMs };
  }
  if (TEMPORARY_STATUSES.has(status)) return temporary(`the provider answered ${status}`);
  if (status === 401 || status === 403)
    return permanent(`the provider answered ${status}, so it rejected the request or the credential`);
  return { kind: status < 500 ? 'item' : 'permanent', reason: `the provider answered ${status}` };
}

/**
 * Returns the response with its gzip body unpacked, or an empty body for an encoding that was not requested. `fetch` does not unpack it,
 * because the runtime would write a line to standard error for a damaged body.
 */
function unpacked(packed: Response): Response {
  const coding = packed.headers.get('content-encoding') ?? 'identity';
  if (packed.body === null || coding === 'identity') return packed;
  const body = coding === 'gzip' ? packed.body.pipeThrough(new DecompressionStream('gzip')) : null;
  if (body === null) void packed.body.cancel();
  return new Response(body, { status: packed.status, headers: packed.headers });
}

const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([408, 500, 502, 504]);

/**
 * Reads the unpacked body. Returns an error above PROVIDER_BODY_BYTES_MAX bytes, and above INFLATED_BYTES_FREE bytes that are more than
 * INFLATION_MAX times the packed size. Without `Content-Length`, which states this size, the ratio is not checked.
 */
async function readBody(response: Response): Promise<Uint8Array | FetchError> {
  const { headers, body } = response;
  const statedBytes = Number(headers.get('content-length'));
  const packedBytes = headers.has('content-encoding') && statedBytes > 0 ? statedBytes : Number.POSITIVE_INFINITY;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest of the body.
    if (Math.max(statedBytes, bytes) > PROVIDER_BODY_BYTES_MAX)
      return permanent(`the answer has more than ${PROVIDER_BODY_BYTES_MAX} bytes`);
    if (bytes > Math.max(INFLATED_BYTES_FREE, INFLATION_MAX * packedBytes)) {
      return permanent(`the answer unpacks to more than ${INFLATION_MAX} times its size`);
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function parseBody(body: Uint8Array): ProviderResponse {
  if (body.length > PARSED_BYTES_MAX)
    return { kind: 'large', body, reason: `the answer has more than ${PARSED_BYTES_MAX} bytes` };
  const text = new TextDecoder().decode(body);
  if (/^\s*</.test(text)) return permanent('the provider answered 200 with a web page in place of JSON');
  const excess = jsonExcess(text, QUICK_JSON);
  if (excess !== undefined) return { kind: 'large', body, reason: excess };
  try {
    return { kind: 'json', json: JSON.parse(text) };
  } catch {
    return temporary(`the answer is incomplete or invalid JSON (${text.length} characters)`);
  }
}

function temporary(reason: string): FetchError {
  return { kind: 'temporary', reason };
}

function permanent(reason: string): FetchError {
  return { kind: 'permanent', reason };
}

/** Returns the code of an error, such as `ECONNREFUSED`. The message of the error is not shown, because it may contain the address. */
function shownCode(error: unknown): string {
  const code = errorCode(error);
  return code !== undefined && /^\w{1,40}$/.test(code) ? code : 'no reason given';
}
