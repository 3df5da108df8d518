/**
 * Text from files, providers and callers is cleaned where it is shown: to agents, in answers and header fields, on a terminal. What it
 * is kept and compared by stays as it came.
 */

/** Longest text of an answer, in characters: names, notes and refusals are shorter; a longer one would talk in the operator's place. */
const TEXT_MAX = 2_000;
/** Longest text within a line. */
export const LINE_MAX = 200;
/** Longest name of a file or a source. */
const NAME_MAX = 64;

/**
 * What a person would not see: control characters, marks that turn the direction of writing, characters without width, and tags, in
 * which text can hide.
 */
const UNSEEN = /(?:[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]|\p{Variation_Selector})+/gu;

/** The same value with every text in it cleaned and cut to `max` characters. Names of fields are ours and stay. */
export function cleaned<Value>(value: Value, max = TEXT_MAX): Value {
  if (typeof value === 'string') return cleanText(value, max) as Value;
  if (Array.isArray(value)) {
    return typeof value[0] === 'number' ? value : (value.map((each) => cleaned(each, max)) as Value);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each, max)])) as Value;
}

/** A text as one line of at most `max` characters. Of a longer one the middle is left out: paths tell most at their end. */
export function cleanLine(text: string, max = LINE_MAX): string {
  // A text of megabytes is not searched to its end for what is left out of it anyway.
  const line = seen(text.length <= 4 * max ? text : `${text.slice(0, 2 * max)}${text.slice(-2 * max)}`);
  if (line.length <= max) return line;
  const tail = max >> 1;
  return `${line.slice(0, max - tail - 1).trimEnd()}…${line.slice(-tail).trimStart()}`.toWellFormed();
}

/**
 * The name of a file or a source as it is shown, e.g. `files:tapes/SPY.csv`: letters, digits and `._/-`, others replaced by `_`, and of
 * a long name its end. It holds no prose that a reader, or a model, could take for an instruction.
 */
export function shownName(name: string): string {
  const [, kind = '', path = ''] = /^([a-z]{1,16}:)?(.*)$/s.exec(name)!;
  const plain = path.slice(-4 * NAME_MAX).replace(/[^A-Za-z0-9._/-]+/g, '_');
  return kind + (plain.length <= NAME_MAX && path.length <= 4 * NAME_MAX ? plain : `...${plain.slice(3 - NAME_MAX)}`);
}

/** JSON of the same value in which what a terminal would not show is escaped. */
export function shownJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(UNSEEN, (run) =>
    // Line ends are the indentation's: those within texts are escaped already.
    run.replace(/[^\n]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

const PLAIN = /^[\x20-\x7e]*$/;

function cleanText(text: string, max: number): string {
  // What is beyond is cut off anyway: a text of megabytes is not searched to its end.
  const clean = seen(text.slice(0, 2 * max));
  return clean.length <= max ? clean : `${clean.slice(0, max).trimEnd()}…`.toWellFormed();
}

function seen(text: string): string {
  // Most text is plain: one pass, without the tables of Unicode.
  if (PLAIN.test(text)) return text.trim();
  return text.toWellFormed().replace(UNSEEN, ' ').trim();
}
