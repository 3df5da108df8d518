import { cleanText } from '../page-format.ts';

/**
 * Matches invisible characters and bidirectional control characters. The pattern also matches the start of a Unicode escape in JSON,
 * because an escape can encode such a character.
 */
const SUSPECT = /\\u|[\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/u;

/**
 * Parses a JSON answer of the server. File names and error texts of providers are untrusted, so invisible characters and bidirectional
 * control characters are removed from all texts. Most answers contain no such characters and are parsed without this step.
 */
export function parseData(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value: unknown) => (typeof value === 'string' ? cleanText(value, 10_000) : value));
}
