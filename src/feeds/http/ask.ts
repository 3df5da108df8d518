import { jsonExcess } from '../../json-shape.ts';
import { MARKET_JSON } from '../files/delayed-quotes.ts';
import { INFLATED_BYTES_FREE, INFLATION_MAX } from '../files/gzip.ts';
import { retryAfterMs } from './retry.ts';

/**
 * What came of one request. Trouble is `passing` where another try may do better, `lasting` where it would not, and of the `item`
 * where the provider is well and only what was asked for is not there.
 */
export type Answer =
  | { readonly kind: 'json'; readonly json: unknown }
  /** More than PARSED_BYTES_MAX, of which nobody knows yet what they are. */
  | { readonly kind: 'large'; readonly body: Uint8Array }
  | Trouble;

export interface Trouble {
  readonly kind: 'passing' | 'lasting' | 'item';
  readonly reason: string;
  /** How long the provider asks to be left alone, ms. */
  readonly afterMs?: number | undefined;
}

export interface AskOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** From the dialling to the last byte: a source that drips would hold up the tickers behind it. */
  readonly timeoutMs: number;
  readonly nowMs: () => number;
  readonly signal?: AbortSignal | undefined;
}

/** Three times the largest answer known, SPX of the delayed quotes, which is 13 MB. */
export const BODY_BYTES_MAX = 40 * 1024 * 1024;
/** JSON of so many bytes is parsed in some five milliseconds. More holds up requests, and memory that nobody bounds. */
export const PARSED_BYTES_MAX = 4 * 1024 * 1024;
const REDIRECTS_MAX = 3;

/**
 * One GET of JSON: its time, size and redirects are bounded. Reasons are of our own words: what a server says may hold the credential.
 * Throws nothing but the reason of `signal`.
 */
export async function ask(url: URL, options: AskOptions): Promise<Answer> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.timeoutMs);
  const giveUp = () => deadline.abort();
  options.signal?.addEventListener('abort', giveUp);
  try {
    options.signal?.throwIfAborted();
    return await answerOf(url, options, deadline.signal, REDIRECTS_MAX);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (deadline.signal.aborted) return passing(`no whole answer within ${options.timeoutMs / 1_000} s`);
    return passing(`the connection failed (${codeOf(error)})`);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', giveUp);
  }
}

async function answerOf(url: URL, options: AskOptions, signal: AbortSignal, redirectsLeft: number): Promise<Answer> {
  const headers = { ...options.headers, 'Accept-Encoding': 'gzip' };
  const response = unpacked(await fetch(url.href, { headers, decompress: false, redirect: 'manual', signal }));
  const { status } = response;
  if (status === 200) {
    const body = await bodyOf(response);
    return body instanceof Uint8Array ? answered(body) : body;
  }
  await response.body?.cancel();
  if (status >= 300 && status < 400) {
    const location = response.headers.get('location');
    const target = location === null ? null : URL.parse(location, url.href);
    if (target === null) return lasting(`answered ${status} without an address`);
    // The request carries the credential.
    if (target.origin !== url.origin) return lasting(`redirects to another host, ${target.host}`);
    if (redirectsLeft === 0) return lasting(`redirects more than ${REDIRECTS_MAX} times`);
    return answerOf(target, options, signal, redirectsLeft - 1);
  }
  if (status === 429 || status === 503) {
    const afterMs = retryAfterMs(response.headers.get('retry-after'), options.nowMs());
    return { ...passing(`answered ${status}${status === 429 ? ', too many requests' : ''}`), afterMs };
  }
  if (TRIED_AGAIN.has(status)) return passing(`answered ${status}`);
  if (status === 401 || status === 403) return lasting(`answered ${status}: it refuses the request or its credential`);
  return { kind: status < 500 ? 'item' : 'lasting', reason: `answered ${status}` };
}

/**
 * The same answer, unpacked here: of a body that it cannot unpack the runtime writes a line of its own to standard error. One that is packed
 * in a way that was not asked for has no body.
 */
function unpacked(packed: Response): Response {
  const coding = packed.headers.get('content-encoding') ?? 'identity';
  if (packed.body === null || coding === 'identity') return packed;
  const body = coding === 'gzip' ? packed.body.pipeThrough(new DecompressionStream('gzip')) : null;
  if (body === null) void packed.body.cancel();
  return new Response(body, { status: packed.status, headers: packed.headers });
}

const TRIED_AGAIN: ReadonlySet<number> = new Set([408, 500, 502, 504]);

/** The body, or why it is not read to its end. */
async function bodyOf(response: Response): Promise<Uint8Array | Trouble> {
  const { headers, body } = response;
  const told = Number(headers.get('content-length'));
  const packedBytes = headers.has('content-encoding') && told > 0 ? told : Number.POSITIVE_INFINITY;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    // To leave the loop is to cancel what is still to come.
    if (Math.max(told, bytes) > BODY_BYTES_MAX) return lasting(`more than ${BODY_BYTES_MAX} bytes`);
    if (bytes > Math.max(INFLATED_BYTES_FREE, INFLATION_MAX * packedBytes)) {
      return lasting(`it unpacks to more than ${INFLATION_MAX} times its size`);
    }
    parts.push(part);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

function answered(body: Uint8Array): Answer {
  if (body.length > PARSED_BYTES_MAX) return { kind: 'large', body };
  const text = new TextDecoder().decode(body);
  if (/^\s*</.test(text)) return lasting('a page in place of JSON, with status 200');
  const excess = jsonExcess(text, MARKET_JSON);
  if (excess !== undefined) return lasting(excess);
  try {
    return { kind: 'json', json: JSON.parse(text) };
  } catch {
    return passing(`no whole JSON (${text.length} characters)`);
  }
}

function passing(reason: string): Trouble {
  return { kind: 'passing', reason };
}

function lasting(reason: string): Trouble {
  return { kind: 'lasting', reason };
}

/** `ECONNREFUSED`, `ENOTFOUND`, ...: the message beside it may say the address. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : 'no reason given';
}
