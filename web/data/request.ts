import { signal } from '@preact/signals';
import { type Call, requestOf } from '../operations.ts';
import { cleanText, withMoments } from '../page-format.ts';
import { memberKey, signOut } from './member-key.ts';
import { noteAnswered, noteServerTime, noteUnanswered } from './server-connection.ts';

/**
 * Matches invisible characters and bidirectional control characters. The pattern also matches the start of a Unicode escape in JSON,
 * because an escape can encode an invisible character.
 */
const SUSPECT = /\\u|[\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/u;

/**
 * Parses a JSON answer of the server. File names and error texts of providers are untrusted, and so are names that are keys, such as those of
 * themes. So invisible characters and bidirectional control characters are removed from all texts and keys. Most answers contain only visible
 * characters and are parsed without this step.
 */
export function parseData(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value === 'string') return cleanText(value, TEXT_MAX);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [cleanText(key, TEXT_MAX), each]));
  });
}

/** Maximum length of a text or a key of an answer that needs cleaning, in characters. */
const TEXT_MAX = 10_000;

/** An answer of the server, with the provenance from the header fields of the response. */
export interface WebAnswer<Body> {
  readonly call: Call;
  readonly body: Body;
  /** The unparsed body of the answer. */
  readonly text: string;
  /** The time of the quotes, ISO 8601. Undefined if the answer does not depend on market data. */
  readonly asOf: string | undefined;
  readonly isSimulated: boolean;
  readonly source: string;
  /** Caveats about the figures of the answer. */
  readonly notes: string;
}

/** An error response of the server. `status` is 0 if the server did not answer. */
export class RequestProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  /** The nearest moments with a snapshot, ISO 8601. Present if the requested moment has no snapshot. */
  readonly nearest: readonly string[];
  /** The unparsed body of the error response. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(withMoments(cleanText(body.detail)) || `The server answered with status ${status}.`);
    this.status = status;
    this.body = body;
    this.code = cleanText(body.code) || 'unknown';
    this.hint = withMoments(cleanText(body.hint));
    this.nearest = [body.nearest_before, body.nearest_after].filter((each): each is string => typeof each === 'string');
  }
}

/** The account's rate limit. `waitUntil` is the time of the next allowed request, in ms since the epoch. Null if requests are allowed. */
export const rateLimit = signal<{ quota: number; left: number; waitUntil: number | null }>({
  quota: 0,
  left: 0,
  waitUntil: null,
});

/** Maximum number of cached answers. Only answers that are not for a past moment can change: they are revalidated with their ETag. */
const KEPT_MAX = 64;
const kept = new Map<string, { etag: string | null; answer: WebAnswer<unknown> }>();

// The code uses `subscribe` and not an `effect` that only reads the key, because the minifier removes a read whose value is not used.
memberKey.subscribe(() => kept.clear());

/** The earliest time of the next request, in ms since the epoch. While few tokens of the rate limit are left, this time delays requests. */
let spacedUntil = 0;

/**
 * Sends a call and returns its answer. The function waits while the rate limit allows no request. Rejects with `RequestProblem`, or with
 * `AbortError` if `signal` is aborted.
 */
export async function ask<Body>(call: Call, signal?: AbortSignal): Promise<WebAnswer<Body>> {
  const request = requestOf(call);
  const address = keyOf(call);
  const known = kept.get(address);
  if (isFinal(call)) return reused(address) as WebAnswer<Body>;
  const pending = ahead.get(address);
  if (pending) return pending as Promise<WebAnswer<Body>>;
  const key = memberKey.peek();
  const response = await send(request.path, {
    method: request.method,
    ...(request.body && { body: request.body }),
    headers: {
      ...(request.body && { 'Content-Type': 'application/json' }),
      ...(known?.etag && { 'If-None-Match': known.etag }),
    },
    ...(signal && { signal }),
  });
  if (response.status === 304 && known) return reused(address) as WebAnswer<Body>;
  const text = await response.text();
  const { headers } = response;
  const answer: WebAnswer<Body> = {
    call,
    body: parseData(text) as Body,
    text,
    asOf: headers.get('x-data-as-of') ?? undefined,
    isSimulated: headers.get('x-data-simulated') === 'true',
    source: cleanText(decodedField(headers.get('x-data-source'))),
    notes: cleanText(decodedField(headers.get('x-data-notes')), 600),
  };
  // If the member has signed out since the request, the answer is not cached.
  if (key === memberKey.peek()) kept.set(address, { etag: headers.get('etag'), answer });
  if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value!);
  return answer;
}

/** Returns a text that two calls share if they are the same request. */
export function keyOf(call: Call): string {
  const { method, path, body } = requestOf(call);
  return `${method} ${path} ${body ?? ''}`;
}

/** Returns the cached answer of a call, or `undefined` if there is none. An answer that is not final may be out of date. */
export function keptAnswer<Body>(call: Call): WebAnswer<Body> | undefined {
  return kept.get(keyOf(call))?.answer as WebAnswer<Body> | undefined;
}

/** Returns whether the answer of a call is cached and final. An answer for a past moment is final. */
export function isFinal(call: Call): boolean {
  return typeof call.args.at === 'string' && call.args.at.includes('T') && kept.has(keyOf(call));
}

/** The prefetch requests in progress, by address. */
const ahead = new Map<string, Promise<WebAnswer<unknown>>>();
/** Number of requests without a response yet. */
let running = 0;

/** Requests an answer in advance for the cache. Does nothing while two requests are running, or if half of the rate limit is used. */
export function askAhead(call: Call): void {
  const { quota, left, waitUntil } = rateLimit.peek();
  const address = keyOf(call);
  const isFree = running < 2 && waitUntil === null && (quota === 0 || left > quota / 2);
  if (!isFree || kept.has(address) || ahead.has(address)) return;
  const answer = ask(call).finally(() => ahead.delete(address));
  ahead.set(address, answer);
  answer.catch(() => {});
}

/** Returns a cached answer, and marks it as the most recently used one. */
function reused(address: string): WebAnswer<unknown> {
  const entry = kept.get(address)!;
  kept.delete(address);
  kept.set(address, entry);
  return entry.answer;
}

/**
 * Sends a request with the key, and returns a response with a status of 200 to 299, or 304. Rejects with `RequestProblem` for any other
 * response. If the server refuses the key, the member is signed out.
 */
export async function send(path: string, init: RequestInit): Promise<Response> {
  await untilAllowed(init.signal ?? undefined);
  const key = memberKey.value;
  let response: Response;
  running++;
  try {
    response = await fetch(path, {
      ...init,
      cache: 'no-store',
      credentials: 'omit',
      headers: { ...(init.headers as Record<string, string>), ...(key && { 'X-API-Key': key }) },
    });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    noteUnanswered();
    throw new RequestProblem(0, { code: 'no_answer', detail: 'The server does not answer.' });
  } finally {
    running--;
  }
  noteAnswered();
  noteServerTime(response.headers.get('date'));
  noteRate(response.headers);
  if (response.ok || response.status === 304) return response;
  const read = async () => parseData(await response.text()) as Record<string, unknown>;
  const problem = new RequestProblem(response.status, await read().catch(() => ({})));
  if (response.status === 429) {
    const waitUntil = Date.now() + 1000 * Number(response.headers.get('retry-after') ?? 1);
    rateLimit.value = { ...rateLimit.value, waitUntil };
  }
  if ((response.status === 401 || response.status === 403) && key !== null && key === memberKey.value) {
    signOut(`${problem.message}. ${problem.hint}`);
  }
  throw problem;
}

/** Resolves when the rate limit allows a request. Rejects with `AbortError` if `signal` is aborted first. */
async function untilAllowed(signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    const { waitUntil } = rateLimit.value;
    const waitMs = Math.max(waitUntil ?? 0, spacedUntil) - Date.now();
    if (waitMs <= 0) {
      if (waitUntil !== null) rateLimit.value = { ...rateLimit.value, waitUntil: null };
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, waitMs);
      signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  }
}

/** Reads the rate limit. If less than a tenth of the quota is left, requests wait until the server has added a token. */
function noteRate(headers: Headers): void {
  const policy = /q=(\d+);w=(\d+)/.exec(headers.get('ratelimit-policy') ?? '');
  const left = /r=(\d+)/.exec(headers.get('ratelimit') ?? '');
  if (!policy || !left) return;
  const [quota, windowS] = [Number(policy[1]), Number(policy[2])];
  const now = { ...rateLimit.value, quota, left: Number(left[1]) };
  if (now.left !== rateLimit.value.left || now.quota !== rateLimit.value.quota) rateLimit.value = now;
  spacedUntil = now.left < quota / 10 ? Date.now() + (1000 * windowS) / quota : 0;
}

function decodedField(text: string | null): string {
  try {
    return decodeURIComponent(text ?? '');
  } catch {
    return text ?? '';
  }
}
