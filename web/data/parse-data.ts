import { cleanText } from '../page-format.ts';

/** Characters that hide text or turn it around, also as JSON escapes. */
const SUSPECT = /\\u|[\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/u;

/**
 * Parses JSON of the server. File names and reasons of providers come from outside, so texts with invisible characters or marks of
 * direction are cleaned. Most answers have none, and are parsed at full speed.
 */
export function parseData(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? cleanText(value, 10_000) : value));
}
