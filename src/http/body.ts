import { Failure } from '../errors.ts';

/** Every request of the contract fits many times over; routes that take columns have a bound of their own. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Of a body that is unwanted so much is still read. */
const DRAIN_BYTES_MAX = 16 * BODY_BYTES_MAX;
const BODY_MS_MAX = 10_000;
/** No schema is deeper than a few levels; parsers and validators recurse. */
export const JSON_DEPTH_MAX = 32;

/** The request's JSON, bounded in bytes, depth and time. Throws `Failure`: 413 for a body that is too large, 422 for one that is not JSON. */
export async function readJson(request: Request, bytesMax = BODY_BYTES_MAX): Promise<unknown> {
  return parseJson(await inTime(bounded(request, bytesMax).text()));
}

/** The request's bytes, bounded as JSON is. Throws `Failure`, 413. */
export function readBytes(request: Request, bytesMax: number): Promise<ArrayBuffer> {
  return inTime(bounded(request, bytesMax).arrayBuffer());
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
 * Reads to its end a body that nobody has read: over HTTP/2 an answer ahead of the body resets the stream, and the client never sees it.
 * One that is longer than is read of any, or does not say how long it is, is left.
 */
export async function drain(request: Request): Promise<void> {
  if (request.bodyUsed || !(declaredBytes(request) <= DRAIN_BYTES_MAX)) return;
  await inTime(request.body?.pipeTo(new WritableStream()) ?? Promise.resolve()).catch(() => {});
}

function declaredBytes({ headers }: Request): number {
  return Number(headers.get('content-length') ?? Number.NaN);
}

/**
 * A body that says its length, to which the runtime holds the client, is the request's own, read whole; any other is counted as it comes.
 * Throws `Failure`, 413.
 */
function bounded(request: Request, bytesMax: number): Pick<Response, 'text' | 'arrayBuffer'> {
  const declared = declaredBytes(request);
  if (declared <= bytesMax || !request.body) return request;
  if (declared > bytesMax) throw tooLarge(bytesMax);
  let total = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      total += chunk.byteLength;
      if (total <= bytesMax) controller.enqueue(chunk);
      else controller.error(tooLarge(bytesMax));
    },
  });
  return new Response(request.body.pipeThrough(counted));
}

/** What arrives in time; else throws `Failure`, 422: who sends a byte now and then holds no request. */
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
