import type { ByteBudget } from '../access/byte-budget.ts';
import { cleanLine } from '../core/clean-text.ts';
import type { Recording } from '../operations/engine/answer-cache.ts';
import { type Context, PICTURE_TYPE, type Provenance } from '../operations/engine/operation.ts';
import type { View } from '../operations/engine/perform.ts';
import { agedNow } from '../operations/reading/market-reading.ts';
import { type Recipient, respondCounted } from './counted-response.ts';
import { fieldsOf, JSON_TYPE } from './http-app.ts';
import { etagOf, type PreparedResponse, prepareResponse, sendPrepared } from './prepared-response.ts';

/** An answer over HTTP. Its age is not part of the answer, because the age is written when the answer is sent. */
export interface CachedResponse {
  /** The body. In an extended answer, the body lacks its last key, `provenance`. */
  readonly body: string | Uint8Array;
  readonly fields: Headers;
  /** The response with its entity tag and its compressed forms. Present if clients may cache the answer. */
  readonly prepared?: PreparedResponse;
  readonly isExtended: boolean;
  readonly provenance: Provenance | undefined;
  /** Whether the answer is about a past moment. The age of such an answer does not grow. */
  readonly isReplay: boolean;
}

/** A computed answer as JSON text or as a PNG picture, with what the adapters add to it. */
export interface WrittenAnswer extends Pick<CachedResponse, 'body' | 'provenance' | 'isReplay'> {
  readonly view: View;
}

/** Clients must revalidate a cached answer on each use, because answers change with each snapshot, and an account may lose its access. */
const CACHE_CONTROL = 'private, no-cache';

/** Before a cached answer above this size is sent, the byte budget of the account must have room, bytes. */
const CHECKED_FROM = 16 * 1024;

/** Makes an answer ready to be sent, and caches it. `isCacheable` is true if clients may cache the answer. */
export function cacheResponse(
  recording: Recording,
  { view, body, provenance, isReplay }: WrittenAnswer,
  isCacheable: boolean,
): CachedResponse {
  const isPicture = typeof body !== 'string';
  const shared = {
    ...{ body, provenance, isReplay },
    isExtended: !isPicture && view.answers === undefined && provenance !== undefined,
  };
  const fields = {
    'Content-Type': isPicture ? PICTURE_TYPE : JSON_TYPE,
    ...(provenance && provenanceHeaders(provenance)),
  };
  const bytes = isPicture ? body.byteLength : Buffer.byteLength(body);
  if (!isCacheable || isPicture) {
    const cached = { ...shared, fields: fieldsOf(fields) };
    recording.add(cached, bytes);
    return cached;
  }
  const { age_s: _age, stale: _stale, ...origin } = provenance ?? { age_s: 0, stale: false };
  // The entity tag depends on the text, the source, the moment of the data and the notes.
  const prepared = prepareResponse(body, etagOf(body, JSON.stringify(origin)), {
    ...fields,
    'Cache-Control': CACHE_CONTROL,
  });
  const cached = { ...shared, fields: prepared.fields, prepared };
  prepared.onCompressed = recording.add(cached, bytes);
  return cached;
}

/**
 * Sends an answer that has just been computed, or sends a cached answer again, with the given provenance. `budget` counts the bytes of a
 * large body. The capacity for a computed answer was checked before the computation. For a large cached answer, throws `ClientError` (429 or
 * 503) if the byte budget is exhausted.
 */
export function sendResponse(
  { body, fields, prepared, isExtended }: CachedResponse,
  { provenance, isRepeat }: { readonly provenance: Provenance | undefined; readonly isRepeat: boolean },
  budget: ByteBudget,
  recipient: Recipient & { readonly request: Request },
): Response | Promise<Response> {
  const { request, account, set } = recipient;
  if (provenance) Object.assign(set.headers, ageHeaders(provenance));
  const send = (form: string | Uint8Array | Blob, of: Headers) => {
    if (isRepeat && body.length > CHECKED_FROM) budget.assertCapacity(account);
    return respondCounted(budget, recipient, form, of);
  };
  if (prepared) return sendPrepared(prepared, request.headers, set, send);
  return send(isExtended ? `${body.slice(0, -1)},"provenance":${JSON.stringify(provenance)}}` : body, fields);
}

/** Sends a cached answer again, with its present age. Throws the errors of `sendResponse`. */
export function sendAgain(
  cached: CachedResponse,
  context: Context,
  budget: ByteBudget,
  recipient: Recipient & { readonly request: Request },
): Response | Promise<Response> {
  const provenance = cached.provenance && (cached.isReplay ? cached.provenance : agedNow(cached.provenance, context));
  return sendResponse(cached, { provenance, isRepeat: true }, budget, recipient);
}

/** Returns the provenance of an answer as header fields. */
export function provenanceHeaders({
  source,
  simulated,
  as_of,
  age_s,
  stale,
  notes,
}: Provenance): Record<string, string> {
  return {
    'X-Data-Source': fieldOf(source),
    'X-Data-Simulated': String(simulated),
    'X-Data-As-Of': as_of,
    ...ageHeaders({ age_s, stale }),
    ...(notes.length > 0 && { 'X-Data-Notes': fieldOf(notes.join(' ')) }),
  };
}

function ageHeaders({ age_s, stale }: Pick<Provenance, 'age_s' | 'stale'>): Record<string, string> {
  return { 'X-Data-Age': String(age_s), 'X-Data-Stale': String(stale) };
}

/** Maximum length of one header field. Proxies accept 4 to 8 KB for all header fields of a response. */
const FIELD_LENGTH_MAX = 512;

/** Makes a text valid in a header field: cleans the text, percent-encodes it (but not its spaces), and shortens it to FIELD_LENGTH_MAX. */
function fieldOf(text: string): string {
  const line = cleanLine(text, FIELD_LENGTH_MAX);
  const encoded = encodeURI(line).replaceAll('%20', ' ');
  if (encoded.length <= FIELD_LENGTH_MAX) return encoded;
  let cut = '';
  for (const character of line) {
    const next = character === ' ' ? character : encodeURI(character);
    if (cut.length + next.length > FIELD_LENGTH_MAX - 3) break;
    cut += next;
  }
  return `${cut}...`;
}
