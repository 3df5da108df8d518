import { cleanLine } from '../clean-text.ts';
import type { Provenance } from '../operations/operation.ts';
import { JSON_TYPE } from './http-app.ts';
import { type PreparedResponse, prepareResponse } from './prepared-response.ts';

/** An answer in JSON. */
export interface JsonAnswer {
  readonly text: string;
  readonly provenance: Provenance | undefined;
}

export interface ResponseCache {
  /** The cached response to an address (path and query as sent), if it still holds. */
  get(address: string): PreparedResponse | undefined;
  /** Prepares an answer that was computed of a version of the store, and caches it unless it is long. */
  add(address: string, version: string, answer: JsonAnswer): PreparedResponse;
}

/** Answers change with each snapshot, and an account may lose its access: a cache may keep one, but must ask each time. */
const CACHE_CONTROL = 'private, no-cache';

/** Enough for 59 tickers, each asked in several ways. Texts take 16 MB at most; compressed forms add a fraction of that. */
const RESPONSES_MAX = 1_024;
const TEXT_LENGTH_MAX = 16_384;
const ADDRESS_LENGTH_MAX = 256;

/**
 * Caches responses that are functions of the address, the store and the clock, and so are the same for every account. One holds
 * while the store has not changed and its age is the same in whole seconds, which is as far as answers see the clock.
 */
export function createResponseCache(version: () => string, nowMs: () => number): ResponseCache {
  // The oldest first: a Map iterates by insertion.
  const responses = new Map<string, { version: string; age: number; asOf: number; prepared: PreparedResponse }>();

  return {
    get(address) {
      const known = responses.get(address);
      if (!known) return undefined;
      const holds = Number.isNaN(known.asOf) || ageOf(known.asOf, nowMs()) === known.age;
      if (holds && known.version === version()) return known.prepared;
      responses.delete(address);
      return undefined;
    },
    add(address, current, { text, provenance }) {
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

/** Where an answer comes from, as fields of the response. */
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

/** Proxies have 4 to 8 KB for all header fields of an answer. */
const FIELD_LENGTH_MAX = 512;

/** A text as the value of a header field: cleaned, other characters than ASCII percent-encoded as in a URI, cut to its bound. */
function fieldOf(text: string): string {
  const line = cleanLine(text, FIELD_LENGTH_MAX);
  const whole = encodeURI(line).replaceAll('%20', ' ');
  if (whole.length <= FIELD_LENGTH_MAX) return whole;
  let part = '';
  for (const character of line) {
    const next = character === ' ' ? character : encodeURI(character);
    if (part.length + next.length > FIELD_LENGTH_MAX - 3) break;
    part += next;
  }
  return `${part}...`;
}

/** The tag is another whenever the text, the source, its moment or what is noted of it is another, and the same after a restart. */
function prepare(text: string, provenance: Provenance | undefined): PreparedResponse {
  const { age_s: _age, stale: _stale, ...origin } = provenance ?? { age_s: 0, stale: false };
  const hash = new Bun.CryptoHasher('sha256').update(text).update(JSON.stringify(origin));
  return prepareResponse(text, `"${hash.digest('base64url')}"`, {
    'Content-Type': JSON_TYPE,
    'Cache-Control': CACHE_CONTROL,
    ...(provenance && provenanceHeaders(provenance)),
  });
}

/** Whole seconds, as the provenance counts them. */
function ageOf(asOfMs: number, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - asOfMs) / 1000));
}
