import { Failure } from '../errors.ts';

/** Every request of the contract fits many times over; routes that take columns have a bound of their own. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** A body that takes longer to arrive is refused. */
const BODY_MS_MAX = 10_000;
/** Of a body that is too large or unwanted, so much is still read, so that the client hears the answer. */
const DRAIN_BYTES_MAX = 16 * BODY_BYTES_MAX;
/** No schema is deeper than a few levels; parsers and validators recurse. */
export const JSON_DEPTH_MAX = 32;

/** The request's JSON, bounded in bytes, depth and time. Throws `Failure`: 413 for a body that is too large, 422 for one that is not JSON. */
export async function readJson(request: Request, bytesMax = BODY_BYTES_MAX): Promise<unknown> {
  return parseJson(
    isDeclared(request, bytesMax) ? await inTime(request.text()) : await readChunkedText(request, bytesMax),
  );
}

async function readChunkedText(request: Request, bytesMax: number): Promise<string> {
  return new TextDecoder().decode(await readChunks(request, bytesMax));
}

/** The request's bytes, bounded as JSON is. Throws `Failure`, 413. */
export async function readBytes(request: Request, bytesMax: number): Promise<ArrayBuffer> {
  if (isDeclared(request, bytesMax)) return inTime(request.arrayBuffer());
  const bytes = await readChunks(request, bytesMax);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

/** Throws `Failure`, 415, where the body says that it is something else than JSON; one that says nothing is taken for it. */
export function refuseOtherThanJson(headers: Headers): void {
  const type = headers.get('content-type');
  if (type === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new Failure('media_type', 'The Content-Type is not application/json', {
    hint: 'Send the message as JSON with Content-Type: application/json.',
  });
}

/** Reads to its end a body that nobody has read, unless it says that it is longer than is read of any. */
export async function drain(request: Request): Promise<void> {
  const isTooLong = Number(request.headers.get('content-length') ?? 0) > DRAIN_BYTES_MAX;
  if (!isTooLong && !request.bodyUsed) await readAll(request, () => {}).catch(() => {});
}

/** Whether the body says its length: the runtime, which holds a client to it, then reads it whole. Throws `Failure`, 413, for one too large. */
function isDeclared({ headers }: Request, bytesMax: number): boolean {
  const length = headers.get('content-length');
  if (length !== null && Number(length) > bytesMax) throw tooLarge(bytesMax);
  return length !== null;
}

/** What arrives in time; else a `Failure`, 422: who sends a byte now and then holds no request. */
function inTime<Body>(arriving: Promise<Body>): Promise<Body> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooSlow()), BODY_MS_MAX);
    arriving.then(
      (body) => {
        clearTimeout(timer);
        resolve(body);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** A body of unknown length. What is over the bound is read and forgotten, so that the client can hear the answer. */
async function readChunks(request: Request, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const bytes = await readAll(request, (chunk, total) => {
    if (total <= bytesMax) chunks.push(chunk);
    else chunks.length = 0;
  });
  if (bytes > bytesMax) throw tooLarge(bytesMax);
  return Buffer.concat(chunks);
}

/** Hands over chunks with the bytes so far until the body ends or a bound is reached; returns the bytes read. */
async function readAll({ body }: Request, take: (chunk: Uint8Array, total: number) => void): Promise<number> {
  if (!body) return 0;
  const reader = body.getReader();
  const timer = setTimeout(() => void reader.cancel(), BODY_MS_MAX);
  let total = 0;
  try {
    while (total <= DRAIN_BYTES_MAX) {
      const { value, done } = await reader.read();
      if (done) return total;
      total += value.byteLength;
      take(value, total);
    }
    void reader.cancel();
    return total;
  } finally {
    clearTimeout(timer);
  }
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

/** Brackets outside strings, without parsing: JSON that is merely deep must not reach a recursive reader. */
function isDeeperThan(text: string, limit: number): boolean {
  // Few brackets cannot nest deep, and are found faster than strings are told from the rest.
  if (isWithin(text, '[', limit / 2) && isWithin(text, '{', limit / 2)) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}

/** Whether a text has a mark at most so many times. */
function isWithin(text: string, mark: string, timesMax: number): boolean {
  let from = 0;
  for (let times = 0; times <= timesMax; times++) {
    from = text.indexOf(mark, from) + 1;
    if (from === 0) return true;
  }
  return false;
}
