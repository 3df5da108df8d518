import { Failure } from '../errors.ts';
import { isDeeperThan, JSON_DEPTH_MAX } from '../json-shape.ts';

/** Every request of the contract fits many times over; routes that take columns have a bound of their own. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** The server reads at most this much of a body that it refuses. */
const DRAIN_BYTES_MAX = 16 * BODY_BYTES_MAX;
const BODY_MS_MAX = 10_000;

/** The request's JSON, bounded in bytes, depth and time. Throws `Failure`: 413 for a body that is too large, 422 for one that is not JSON. */
export async function readJson(request: Request, bytesMax = BODY_BYTES_MAX): Promise<unknown> {
  const text = isDeclared(request, bytesMax) ? request.text() : readCounted(request, bytesMax).then(decoded);
  return parseJson(await inTime(text));
}

/** The request's bytes, bounded as JSON is. Throws `Failure`, 413. */
export async function readBytes(request: Request, bytesMax = BODY_BYTES_MAX): Promise<ArrayBuffer> {
  if (isDeclared(request, bytesMax)) return inTime(request.arrayBuffer());
  // A copy, because views of float64 need a buffer that starts at a multiple of 8 bytes.
  return new Uint8Array(await inTime(readCounted(request, bytesMax))).buffer;
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
 * Reads a refused body to its end: over HTTP/2 an answer ahead of the body resets the stream, and the client may never see it. The server
 * does not read a body that declares more than DRAIN_BYTES_MAX.
 */
export async function drain(request: Request): Promise<void> {
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

function parseJson(text: string): unknown {
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
