import type { ByteBudget } from '../access/byte-budget.ts';
import { cleanLine } from '../core/clean-text.ts';
import type { Recording } from '../operations/engine/answer-cache.ts';
import { type Context, PICTURE_TYPE, type Provenance } from '../operations/engine/operation.ts';
import type { View } from '../operations/engine/perform.ts';
import { aging } from '../operations/reading/market-reading.ts';
import { respondCompressed } from './compressed-response.ts';
import { type Recipient, respondCounted } from './counted-response.ts';
import { fieldsOf, JSON_TYPE } from './http-app.ts';
import { etagOf, hasResponse, type PreparedResponse, prepareResponse, sendPrepared } from './prepared-response.ts';

/** An answer over HTTP. The age is not part of the body, because the age is written when the answer is sent. */
export interface CachedResponse {
  /** The body. In an extended answer, the body lacks its last key, `provenance`. */
  readonly body: string | Uint8Array;
  /** The size of the answer. Above 0 with an empty body if the answer is too large for the cache, which then has all but the body. */
  readonly bytes: number;
  readonly isExtended: boolean;
  /** Returns what changes with the age of the answer. Returns the same object while the age stays the same. */
  present(): {
    readonly provenance: Provenance | undefined;
    readonly fields: Headers;
    /** The response with its entity tag and its compressed forms. Undefined if clients may not cache the answer. */
    readonly prepared: PreparedResponse | undefined;
  };
}

/** A computed answer as JSON text, without the provenance of an extended answer, as a table, or as a PNG picture. */
export interface WrittenAnswer {
  readonly view: View;
  readonly body: string | Uint8Array;
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly provenance: Provenance | undefined;
  /** Notes on the written form, in addition to those of the provenance. */
  readonly notes?: readonly string[];
  /** Whether the answer is about a past moment. The age of such an answer does not grow. */
  readonly isReplay: boolean;
}

/** Clients must revalidate a cached answer on each use, because answers change with each snapshot, and an account may lose its access. */
const CACHE_CONTROL = 'private, no-cache';

/** Before a cached answer above this size is sent, the byte budget of the account must have room, bytes. */
const CHECKED_FROM = 16 * 1024;

/**
 * Makes an answer ready to be sent, and caches it. Of an answer that is too large for the cache, caches the entity tag and the header fields,
 * without the body. `isCacheable` is true if clients may cache the answer, which then has an entity tag.
 */
export function cacheResponse(
  recording: Recording,
  { body, ...about }: WrittenAnswer,
  isCacheable: boolean,
  context: Context,
): CachedResponse {
  const { type, provenance, notes = [] } = about;
  const { age_s: _age, stale: _stale, ...origin } = provenance ?? { age_s: 0, stale: false };
  // The entity tag depends on the body, the source, the moment of the data and the notes.
  const etag = isCacheable && type !== PICTURE_TYPE ? etagOf(body, JSON.stringify([origin, notes])) : undefined;
  const bytes = Buffer.byteLength(body);
  let addBytes = (_: number) => {};
  const cached = presented(body, about, { etag, bytes }, context, (more) => addBytes(more));
  const withoutBody = () => presented('', about, { etag, bytes }, context);
  addBytes = recording.add(cached, bytes, etag === undefined ? undefined : withoutBody);
  return cached;
}

/** Returns an answer as the cache has it. `bytes` is the size of the answer, also if `body` is empty because it is not kept. */
function presented(
  body: string | Uint8Array,
  { view, type, provenance, notes = [], isReplay }: Omit<WrittenAnswer, 'body'>,
  { etag, bytes }: { readonly etag: string | undefined; readonly bytes: number },
  context: Context,
  onCompressed?: (bytes: number) => void,
): CachedResponse {
  const provenanceNow = provenance && !isReplay ? aging(provenance, context) : () => provenance;
  const presentAt = (now: Provenance | undefined) => {
    const all = {
      'Content-Type': type,
      Vary: 'Accept',
      ...(now && provenanceHeaders(now)),
      ...notesHeader([...(now?.notes ?? []), ...notes]),
    };
    if (etag === undefined) return { provenance: now, fields: fieldsOf(all), prepared: undefined };
    const prepared = prepareResponse(body, etag, { ...all, 'Cache-Control': CACHE_CONTROL }, bytes);
    return { provenance: now, fields: prepared.fields, prepared };
  };
  const first = presentAt(provenance);
  if (first.prepared && onCompressed) first.prepared.onCompressed = onCompressed;
  let last = first;
  return {
    body,
    bytes,
    isExtended: type === JSON_TYPE && view.answers === undefined && provenance !== undefined,
    present() {
      const now = provenanceNow();
      if (now === last.provenance) return last;
      last = presentAt(now);
      // The compressed forms do not depend on the age.
      if (first.prepared) last.prepared = { ...first.prepared, fields: last.fields };
      return last;
    },
  };
}

/** Returns whether an answer can be sent from the cache. Without its body, it can only be sent to a client that has it. */
export function isSendable({ body, bytes, present }: CachedResponse, { headers }: Request): boolean {
  if (body.length > 0 || bytes === 0) return true;
  const { prepared } = present();
  return prepared !== undefined && hasResponse(prepared, headers);
}

/**
 * Sends an answer. `budget` counts the bytes of a large body. `isRepeat` is false if the answer has just been computed, because the capacity
 * was then checked before the computation. For a large repeated answer, throws `ClientError` (429 or 503) if the byte budget is exhausted.
 */
export function sendResponse(
  { body, isExtended, present }: CachedResponse,
  budget: ByteBudget,
  recipient: Recipient & { readonly request: Request },
  isRepeat: boolean,
): Response | Promise<Response> {
  const { request, account, set } = recipient;
  const { provenance, fields, prepared } = present();
  const send = (form: string | Uint8Array | Blob, of: Headers) => {
    if (isRepeat && body.length > CHECKED_FROM) budget.assertCapacity(account);
    return respondCounted(budget, recipient, form, of);
  };
  if (prepared) return sendPrepared(prepared, request.headers, set, send);
  const whole = isExtended ? `${body.slice(0, -1)},"provenance":${JSON.stringify(provenance)}}` : body;
  if (request.method !== 'POST') return send(whole, fields);
  if (isRepeat && body.length > CHECKED_FROM) budget.assertCapacity(account);
  return respondCompressed(budget, recipient, whole, fields);
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
    'X-Data-Age': String(age_s),
    'X-Data-Stale': String(stale),
    ...notesHeader(notes),
  };
}

function notesHeader(notes: readonly string[]): Record<string, string> | false {
  return notes.length > 0 && { 'X-Data-Notes': fieldOf(notes.join(' ')) };
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
