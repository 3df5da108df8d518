import { Failure } from '../errors.ts';

/** Every request of the contract fits many times over; routes that take columns have a bound of their own. */
export const BODY_BYTES_MAX = 1024 * 1024;
/** Of a body that is too large or unwanted, so much is still read, and for so long at the most. */
const DRAIN_BYTES_MAX = 16 * BODY_BYTES_MAX;
const DRAIN_MS_MAX = 10_000;
/** No schema is deeper than a few levels; parsers and validators recurse. */
export const JSON_DEPTH_MAX = 32;

/** The request's JSON, bounded in bytes and depth. Throws `Failure`: 413 when too large, 422 when it is no JSON. */
export async function readJson(request: Request, bytesMax = BODY_BYTES_MAX): Promise<unknown> {
  return parseJson(await readText(request, bytesMax));
}

/** Throws `Failure`, 415, where the body says that it is something else than JSON; one that says nothing is taken for it. */
export function refuseOtherThanJson(headers: Headers): void {
  const type = headers.get('content-type');
  if (type === null || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return;
  throw new Failure('media_type', 'The Content-Type is not application/json', {
    hint: 'Send the message as JSON with Content-Type: application/json.',
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

async function readText(request: Request, bytesMax: number): Promise<string> {
  if (!request.body) return '';
  const chunks: Uint8Array[] = [];
  // Too large is found out at the end: what is over the bound is read and forgotten, so that the client can hear the answer.
  const bytes = await readAll(request.body, (chunk, total) => {
    if (total <= bytesMax) chunks.push(chunk);
  });
  if (bytes > bytesMax) throw tooLarge(bytesMax);
  return new TextDecoder().decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
}

/** Reads to its end, within bounds, a body that nobody has read. */
export async function drain(request: Request): Promise<void> {
  if (request.body && !request.bodyUsed) await readAll(request.body, () => {}).catch(() => {});
}

/** Hands over chunks with the bytes so far until the body ends or a bound is reached; gives the bytes read. */
async function readAll(
  body: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array, total: number) => void,
): Promise<number> {
  const reader = body.getReader();
  const timer = setTimeout(() => void reader.cancel(), DRAIN_MS_MAX);
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

function tooLarge(bytesMax: number): Failure {
  return new Failure('body_too_large', `The body exceeds ${bytesMax} bytes`, {
    hint: 'Split the request into smaller ones.',
  });
}

/** Brackets outside strings, without parsing: JSON that is merely deep must not reach a recursive reader. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
