import { cleanLine } from '../core/clean-text.ts';
import type { Provenance } from '../operations/engine/operation.ts';
import { JSON_TYPE } from './http-app.ts';
import { etagOf, type PreparedResponse, prepareResponse } from './prepared-response.ts';

/** An answer as JSON text. */
export interface JsonAnswer {
  readonly text: string;
  readonly provenance: Provenance | undefined;
}

export type ResponseCache = ReturnType<typeof createResponseCache>;

/** Clients must revalidate a cached answer on each use, because answers change with each snapshot, and an account may lose its access. */
const CACHE_CONTROL = 'private, no-cache';

/**
 * Maximum number of cached responses: 17 for each of the default universe's 59 tickers. The cached texts take at most 16 MB, and their
 * compressed forms take a fraction of this size.
 */
const RESPONSES_MAX = 1_024;
const TEXT_LENGTH_MAX = 16_384;
const ADDRESS_LENGTH_MAX = 256;

/**
 * Caches responses that depend only on the address, the store and the clock, because such responses are the same for every account. A
 * response is valid while the store is unchanged and the age of the data, in whole seconds, is the same. The age and `stale` are the only
 * fields that depend on the current time. In a cached response, the field `stale` can be wrong for at most one second.
 */
export function createResponseCache(version: () => string, nowMs: () => number) {
  // The oldest response comes first, because a Map iterates in insertion order.
  const responses = new Map<string, { version: string; age: number; asOf: number; prepared: PreparedResponse }>();

  return {
    /** Returns the cached response to an address (path and query as sent). Returns undefined if there is no valid response. */
    get(address: string) {
      const cached = responses.get(address);
      if (!cached) return undefined;
      const isSameAge = Number.isNaN(cached.asOf) || ageOf(cached.asOf, nowMs()) === cached.age;
      if (isSameAge && cached.version === version()) return cached.prepared;
      responses.delete(address);
      return undefined;
    },
    /**
     * Prepares the response for an answer. Caches the response unless the text or the address is too long. `current` is the version of the
     * store from which the answer was computed.
     */
    add(address: string, current: string, { text, provenance }: JsonAnswer) {
      const prepared = prepare(text, provenance);
      if (text.length <= TEXT_LENGTH_MAX && address.length <= ADDRESS_LENGTH_MAX) {
        const asOf = provenance ? Date.parse(provenance.as_of) : Number.NaN;
        responses.set(address, { version: current, age: provenance?.age_s ?? 0, asOf, prepared });
        if (responses.size > RESPONSES_MAX) responses.delete(responses.keys().next().value!);
      }
      return prepared;
    },
  };
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
    ...(notes.length > 0 && { 'X-Data-Notes': fieldOf(notes.join(' ')) }),
  };
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

/** Prepares a response. The entity tag depends on the text, the source, the moment of the data and the notes. */
function prepare(text: string, provenance: Provenance | undefined): PreparedResponse {
  const { age_s: _age, stale: _stale, ...origin } = provenance ?? { age_s: 0, stale: false };
  return prepareResponse(text, etagOf(text, JSON.stringify(origin)), {
    'Content-Type': JSON_TYPE,
    'Cache-Control': CACHE_CONTROL,
    ...(provenance && provenanceHeaders(provenance)),
  });
}

/** Returns an age in whole seconds. The age is rounded in the same way as in the provenance. */
function ageOf(asOfMs: number, nowMs: number): number {
  return Math.round((nowMs - asOfMs) / 1000);
}
