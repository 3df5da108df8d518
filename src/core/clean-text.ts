/**
 * Cleans text from files, providers and callers. The text is cleaned before agents see it (in answers and header fields), and before it is
 * shown on a terminal. Text that is only stored or compared stays unchanged.
 */

/** Maximum length of a text in an answer, in characters. A longer text could hide instructions that a model follows. */
const TEXT_MAX = 2_000;
/** Maximum length of a text that is shown within a line, in characters. */
export const LINE_MAX = 200;
/** Maximum length of the name of a file or a source, in characters. */
const NAME_MAX = 64;

/** Invisible characters, which can hide text: control characters, direction marks, zero-width characters and tags. */
const INVISIBLE = /(?:[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]|\p{Variation_Selector})+/gu;

/** Returns the value with each string cleaned and cut to `max` characters. Names of fields stay, because Zomma itself defines them. */
export function cleaned<Value>(value: Value, max = TEXT_MAX): Value {
  if (typeof value === 'string') return cleanText(value, max) as Value;
  if (Array.isArray(value)) {
    return typeof value[0] === 'number' ? value : (value.map((each) => cleaned(each, max)) as Value);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each, max)])) as Value;
}

/** Returns a text as one line of at most `max` characters. Cuts longer texts in the middle, because the end of a path is important. */
export function cleanLine(text: string, max = LINE_MAX): string {
  // Only the two ends of a long text are cleaned, because the middle is cut out.
  const line = visibleText(text.length <= 4 * max ? text : `${text.slice(0, 2 * max)}${text.slice(-2 * max)}`);
  if (line.length <= max) return line;
  const tail = max >> 1;
  return `${line.slice(0, max - tail - 1).trimEnd()}…${line.slice(-tail).trimStart()}`.toWellFormed();
}

/**
 * Returns the name of a file or a source for display, e.g. `files:tapes/SPY.csv`. Characters other than letters, digits and `._/-` become
 * `_`. Only the end of a long name is returned. The result contains no prose, so a model cannot mistake it for an instruction.
 */
export function shownName(name: string): string {
  const [, kind = '', path = ''] = /^([a-z]{1,16}:)?(.*)$/s.exec(name)!;
  const plain = path.slice(-4 * NAME_MAX).replace(/[^A-Za-z0-9._/-]+/g, '_');
  return kind + (plain.length <= NAME_MAX && path.length <= 4 * NAME_MAX ? plain : `...${plain.slice(3 - NAME_MAX)}`);
}

/** Returns the value as JSON. Escapes the characters that a terminal would not show. */
export function shownJson(value: unknown, indent?: number): string {
  return escapeInvisible(JSON.stringify(value, null, indent));
}

/** Escapes the characters of a JSON text that a terminal would not show. */
export function escapeInvisible(json: string): string {
  return json.replace(INVISIBLE, (run) =>
    // Line breaks in the JSON are indentation, because `JSON.stringify` escapes the line breaks within strings.
    run.replace(/[^\n]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

const PLAIN = /^[\x20-\x7e]*$/;

function cleanText(text: string, max: number): string {
  // Only the start of a long text is cleaned, because the rest is cut off.
  const clean = visibleText(text.slice(0, 2 * max));
  return clean.length <= max ? clean : `${clean.slice(0, max).trimEnd()}…`.toWellFormed();
}

function visibleText(text: string): string {
  // A text of plain ASCII, like most texts, needs one pass and no Unicode tables.
  if (PLAIN.test(text)) return text.trim();
  return text.toWellFormed().replace(INVISIBLE, ' ').trim();
}
