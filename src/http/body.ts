import type { ByteBudget } from '../access/byte-budget.ts';
import { Failure } from '../errors.ts';
import { isDeeperThan, JSON_DEPTH_MAX } from '../json-shape.ts';

/** Every request of the contract fits many times over; routes that take columns have a bound of their own. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** The server reads at most this much of a body that it refuses. */
const DRAIN_BYTES_MAX = 16 * BODY_BYTES_MAX;
const BODY_MS_MAX = 10_000;

/** Bodies below this are not counted: as many as an account may send at once are few megabytes. */
export const FREE_BYTES = 64 * 1024;

/** Who sends a body, and where its bytes count while it is read. */
export interface Sender {
  readonly budget: ByteBudget;
  readonly account: string;
}

/** The request's JSON, bounded in bytes, depth and time. Throws `Failure`: 413 for a body that is too large, 422 for one that is not JSON. */
export async function readJson(request: Request, sender: Sender, bytesMax = BODY_BYTES_MAX): Promise<unknown> {
  const held = holdBody(request, sender, bytesMax);
  if (!held) return parseJson(await readText(request, bytesMax));
  try {
    return parseJson(await readText(request, bytesMax));
  } finally {
    held.release();
  }
}

/** The request's text, bounded in bytes and time. Throws `Failure`, 413. */
export function readText(request: Request, bytesMax = BODY_BYTES_MAX): Promise<string> {
  return inTime(isDeclared(request, bytesMax) ? request.text() : readCounted(request, bytesMax).then(decoded));
}

/** The request's bytes, bounded as its text is. Throws `Failure`, 413. */
export async function readBytes(request: Request, bytesMax = BODY_BYTES_MAX): Promise<ArrayBuffer> {
  if (isDeclared(request, bytesMax)) return inTime(request.arrayBuffer());
  // A copy, because views of float64 need a buffer that starts at a multiple of 8 bytes.
  return new Uint8Array(await inTime(readCounted(request, bytesMax))).buffer;
}

/**
 * Counts a large body as held by its account before it is read, as `bytesLeast` or more. Returns undefined for a small body. Throws
 * `Failure`, 429 or 503, if there is no room for it.
 */
export function holdBody(
  request: Request,
  { budget, account }: Sender,
  bytesMax: number,
  bytesLeast = 0,
): HeldBody | undefined {
  const declared = declaredBytes(request);
  if (declared <= FREE_BYTES) return undefined;
  // A body without a length may come to the bound.
  const bytes = Math.max(bytesLeast, Math.min(Number.isNaN(declared) ? bytesMax : declared, bytesMax));
  budget.refuseFull(account, bytes);
  return { bytes, release: budget.hold(account, bytes) };
}

/** A body that counts as held by its account. */
export interface HeldBody {
  readonly bytes: number;
  readonly release: () => void;
}

/** Throws `Failure`, 415, where the body says that it is something else than JSON; one that says nothing is taken for it. */
export function refuseOtherThanJson(headers: Headers): void {
  const type = headers.get('content-type');
  if (type === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new Failure('media_type', 'The Content-Type is not application/json', {
    hint: 'Send the message as JSON with Content-Type: application/json.',
  });
}

/**
 * Reads a refused body to its end: over HTTP/2, which takes TLS, an answer ahead of the body resets the stream, and the client may never see
 * it. Over HTTP/1.1 the runtime drops the body, without memory for it. A body that declares more than DRAIN_BYTES_MAX is not read.
 */
export async function drain(request: Request): Promise<void> {
  if (!request.url.startsWith('https:')) return;
  if (request.bodyUsed || declaredBytes(request) > DRAIN_BYTES_MAX) return;
  await inTime(readCounted(request, 0)).catch(() => {});
}

function declaredBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN);
}

/**
 * Whether a body has a Content-Length: it can be read whole then, because the runtime enforces that length. Throws `Failure`, 413, for one
 * that is too large.
 */
function isDeclared(request: Request, bytesMax: number): boolean {
  const declared = declaredBytes(request);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  return declared <= bytesMax;
}

/** Counts a body as it arrives. Reads and drops the bytes beyond the bound, for the same reason as `drain`. Throws `Failure`, 413. */
async function readCounted({ body }: Request, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const reader = body?.getReader();
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

/** What arrives in time. Throws `Failure`, 422, if it takes longer: a slow sender cannot hold a request open. */
function inTime<Read>(arriving: Promise<Read>): Promise<Read> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), BODY_MS_MAX);
    const settled =
      <Value>(settle: (value: Value) => void) =>
      (value: Value) => {
        clearTimeout(timer);
        settle(value);
      };
    arriving.then(settled(resolve), settled(reject));
  });
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Throws `Failure`, 422, for a text that is not JSON or is nested too deep. */
export function parseJson(text: string): unknown {
  if (isDeeperThan(text, JSON_DEPTH_MAX)) {
    throw new Failure('invalid_body', `The body is nested deeper than ${JSON_DEPTH_MAX} levels`, {
      hint: 'Send one flat JSON object.',
    });
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('invalid_body', text === '' ? 'The body is empty' : 'The body is not valid JSON', {
      hint: 'Send one JSON object; NaN and Infinity are no JSON numbers.',
    });
  }
}

function tooLarge(bytesMax: number): Failure {
  return new Failure('body_too_large', `The body exceeds ${bytesMax} bytes`, {
    hint: 'Split the request into smaller ones.',
  });
}

function tooSlow(): Failure {
  return new Failure('invalid_body', `The body did not arrive within ${BODY_MS_MAX / 1000} seconds`, {
    hint: 'Send the whole body at once.',
  });
}
