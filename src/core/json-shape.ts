/** Maximum depth of nested JSON, which limits the recursion of parsers and validators. Schemas and market data have only a few levels. */
export const JSON_DEPTH_MAX = 32;

/** Limits on a JSON text. The limits are checked before the text is parsed. */
export interface JsonBounds {
  readonly containers: number;
  /** Maximum number of entries in all objects and arrays together. */
  readonly values: number;
  /** Maximum number of strings and keys. If `texts` is not set, only `values` limits the number of strings and keys. */
  readonly texts?: number;
}

/**
 * JSON within these limits is parsed in less than 0.1 s: 40 ms for 1,000,000 numbers, 30 ms for 60,000 different keys, 11 ms for 12,000
 * objects with one key each. The size in bytes does not determine the time, because repeated strings take a tenth of the time.
 */
export const QUICK_JSON: JsonBounds = { containers: 12_000, values: 1_000_000, texts: 60_000 };

/**
 * Returns why a JSON text must not be parsed, or `undefined`. The parser would take 11 GB of memory for 60 MB of `[`, and 2 GB for 60 MB of
 * `{},`. Also counts brackets and commas within strings, because strings in market data have no brackets.
 */
export function jsonExcess(text: string, { containers, values, texts }: JsonBounds): string | undefined {
  if (countUpTo(text, '{', containers) + countUpTo(text, '[', containers) > containers) {
    // Only the start of a long text is searched for deep nesting, because the search is slower than a count of brackets.
    return isDeeperThan(text.slice(0, HEAD_CHARS), JSON_DEPTH_MAX)
      ? TOO_DEEP
      : `JSON of more than ${containers} objects and arrays`;
  }
  if (isDeeperThan(text, JSON_DEPTH_MAX)) return TOO_DEEP;
  // An entry has at least two characters: its content and a comma.
  const mayExceed = text.length > 2 * values;
  if (mayExceed && countUpTo(text, ',', values) > values) return `JSON of more than ${values} values`;
  // A string has two quotes.
  const hasMoreTexts =
    texts !== undefined && text.length > 2 * texts && countUpTo(text, '"', 2 * texts + 1) > 2 * texts + 1;
  return hasMoreTexts ? `JSON of more than ${texts} strings and keys` : undefined;
}

const TOO_DEEP = `JSON nested deeper than ${JSON_DEPTH_MAX} levels`;
const HEAD_CHARS = 64 * 1024;

/** Returns whether brackets outside strings nest deeper than `limit`. Does not parse the text. */
export function isDeeperThan(text: string, limit: number): boolean {
  if (nestingOpenings(text, '{', limit) + nestingOpenings(text, '[', limit) <= limit) return false;
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true;
    } else if (isClosing(code)) depth--;
  }
  return false;
}

/**
 * Returns the number of opening brackets that may deepen the nesting, counted up to `limit`. A bracket after a closing bracket and a comma,
 * as in `},{`, does not: the three are all inside or all outside a string, because none is a quote. Almost all brackets in a table of rows
 * are of this kind, and the search takes a twentieth of the time of a loop over all characters.
 */
function nestingOpenings(text: string, opening: string, limit: number): number {
  let count = 0;
  for (let i = text.indexOf(opening); i >= 0 && count <= limit; i = text.indexOf(opening, i + 1)) {
    const comma = beforeSpaces(text, i - 1);
    if (text.charCodeAt(comma) !== COMMA || !isClosing(text.charCodeAt(beforeSpaces(text, comma - 1)))) count++;
  }
  return count;
}

/** Returns the index of the last character at or before `i` that is not white space. */
function beforeSpaces(text: string, i: number): number {
  while (SPACES.has(text.charCodeAt(i))) i--;
  return i;
}

function countUpTo(text: string, character: string, max: number): number {
  let count = 0;
  for (let i = text.indexOf(character); i >= 0 && count <= max; i = text.indexOf(character, i + 1)) count++;
  return count;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09]);

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Returns whether a value is an object, and neither an array nor null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path. Returns `undefined` if a value on the path is not an object. */
export function entryOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((current, key) => (isRecord(current) ? current[key] : undefined), value);
}
