import { cleanLine } from '../clean-text.ts';
import type { Provenance } from '../operations/operation.ts';
import type { Performed } from '../operations/perform.ts';
import { JSON_TYPE } from './http-app.ts';
import { type PreparedResponse, prepareResponse } from './prepared-response.ts';

export interface ResponseCache {
  /** The response to an address (path and query as sent): the cached one if it still holds, else what `perform` gives. */
  of(address: string, perform: () => Performed | Promise<Performed>): PreparedResponse | Promise<PreparedResponse>;
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

  const add = (address: string, current: string, { body, provenance }: Performed): PreparedResponse => {
    const text = JSON.stringify(body);
    const prepared = prepare(text, provenance);
    if (text.length <= TEXT_LENGTH_MAX && address.length <= ADDRESS_LENGTH_MAX) {
      const asOf = provenance ? Date.parse(provenance.as_of) : Number.NaN;
      responses.set(address, { version: current, age: provenance?.age_s ?? 0, asOf, prepared });
      if (responses.size > RESPONSES_MAX) responses.delete(responses.keys().next().value!);
    }
    return prepared;
  };

  return {
    of(address, perform) {
      const current = version();
      const known = responses.get(address);
      if (known?.version === current && (Number.isNaN(known.asOf) || ageOf(known.asOf, nowMs()) === known.age)) {
        return known.prepared;
      }
      responses.delete(address);
      const performed = perform();
      // A write during the computation makes the response stale, so it is cached under the version read before.
      if (performed instanceof Promise) return performed.then((done) => add(address, current, done));
      return add(address, current, performed);
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
