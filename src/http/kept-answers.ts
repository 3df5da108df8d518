import type { Provenance } from '../operations/operation.ts';
import type { Performed } from '../operations/perform.ts';
import type { Tagged } from './conditional.ts';

/** An answer to a GET, ready to be sent. */
export interface ReadyAnswer extends Tagged {
  /** JSON */
  readonly text: string;
  /** Strong: another whenever the text, the source, its moment or what is noted of it is another, and the same after a restart. */
  readonly etag: string;
}

export interface KeptAnswers {
  /** The answer to an address (path and query as sent): the one kept, else what `perform` gives. */
  of(address: string, perform: () => Performed): ReadyAnswer;
}

/** Answers change with each snapshot, and an account may lose its access: a cache may keep one, but must ask each time. */
const CACHE_CONTROL = 'private, no-cache';

/** Of 59 tickers, each asked for in some ways; with their bounds they take 16 MB at the most. */
const ANSWERS_MAX = 1_024;
/** Levels take 200 bytes. Columns are not kept: there putting together the answer is the lesser part. */
const TEXT_LENGTH_MAX = 16_384;
const ADDRESS_LENGTH_MAX = 256;

/**
 * Keeps answers that are functions of the address, the store and the clock, and so are the same for every account. One holds
 * while the store has not changed and its age is the same in whole seconds, which is as far as answers see the clock.
 */
export function createKeptAnswers(version: () => string, nowMs: () => number): KeptAnswers {
  // The oldest first: a Map iterates by insertion.
  const answers = new Map<string, { version: string; age: number; asOf: number; ready: ReadyAnswer }>();
  return {
    of(address, perform) {
      const current = version();
      const known = answers.get(address);
      if (known?.version === current && (Number.isNaN(known.asOf) || ageOf(known.asOf, nowMs()) === known.age)) {
        return known.ready;
      }
      answers.delete(address);
      const { body, provenance } = perform();
      const ready = readyOf(JSON.stringify(body), provenance);
      if (ready.text.length <= TEXT_LENGTH_MAX && address.length <= ADDRESS_LENGTH_MAX) {
        const asOf = provenance ? Date.parse(provenance.as_of) : Number.NaN;
        answers.set(address, { version: current, age: provenance?.age_s ?? 0, asOf, ready });
        if (answers.size > ANSWERS_MAX) answers.delete(answers.keys().next().value!);
      }
      return ready;
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
    // A source may be a file of any name; header values are ASCII.
    'X-Data-Source': encodeURI(source),
    'X-Data-Simulated': String(simulated),
    'X-Data-As-Of': as_of,
    'X-Data-Age': String(age_s),
    'X-Data-Stale': String(stale),
    ...(notes.length > 0 && { 'X-Data-Notes': encodeURI(notes.join(' ')).replaceAll('%20', ' ') }),
  };
}

function readyOf(text: string, provenance: Provenance | undefined): ReadyAnswer {
  const { age_s: _age, stale: _stale, ...origin } = provenance ?? { age_s: 0, stale: false };
  const hash = new Bun.CryptoHasher('sha256').update(text).update(JSON.stringify(origin));
  const etag = `"${hash.digest('base64url')}"`;
  const headers = new Headers({
    'Content-Type': 'application/json;charset=utf-8',
    'Cache-Control': CACHE_CONTROL,
    ETag: etag,
    ...(provenance && provenanceHeaders(provenance)),
  });
  return { text, etag, headers };
}

/** Whole seconds, as the provenance counts them. */
function ageOf(asOfMs: number, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - asOfMs) / 1000));
}
