/** No schema, market data or provider answer is deeper than a few levels; parsers and validators recurse. */
export const JSON_DEPTH_MAX = 32;

/** How much a JSON text may hold before anybody parses it. */
export interface JsonBounds {
  /** Objects and arrays. */
  readonly containers: number;
  /** Entries of all of them together. */
  readonly values: number;
}

/**
 * Why a JSON text must not be parsed, in words; undefined where it may be. Parsed, 60 MB of `[` take 11 GB and as much `{},` takes 2 GB.
 * Marks within strings count as well: market data has none there.
 */
export function jsonExcess(text: string, { containers, values }: JsonBounds): string | undefined {
  if (isDeeperThan(text, JSON_DEPTH_MAX)) return `JSON nested deeper than ${JSON_DEPTH_MAX} levels`;
  if (countUpTo(text, '{', containers) + countUpTo(text, '[', containers) > containers) {
    return `JSON of more than ${containers} objects and arrays`;
  }
  // An entry takes two characters at the least, with its comma.
  const mayExceed = text.length > 2 * values;
  return mayExceed && countUpTo(text, ',', values) > values ? `JSON of more than ${values} values` : undefined;
}

/** Whether brackets outside strings nest deeper than `limit`, found without parsing. */
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
 * How many openings may make the text deeper, counted until there are more than `limit`. One that follows a closing and a comma does not,
 * as in `},{`: no quote is among the three, so that either all of them are in a string or none. Of the rows of a table all are such, and
 * to hop from one to the next takes a twentieth of the time of looking at each character.
 */
function nestingOpenings(text: string, opening: string, limit: number): number {
  let count = 0;
  for (let at = text.indexOf(opening); at >= 0 && count <= limit; at = text.indexOf(opening, at + 1)) {
    const comma = beforeSpaces(text, at - 1);
    if (text.charCodeAt(comma) !== COMMA || !isClosing(text.charCodeAt(beforeSpaces(text, comma - 1)))) count++;
  }
  return count;
}

/** The place of the last character at or before `at` that is no white space. */
function beforeSpaces(text: string, at: number): number {
  while (SPACES.has(text.charCodeAt(at))) at--;
  return at;
}

/** How often a character occurs, counted until it is more than `max`. */
function countUpTo(text: string, mark: string, max: number): number {
  let count = 0;
  for (let at = text.indexOf(mark); at >= 0 && count <= max; at = text.indexOf(mark, at + 1)) count++;
  return count;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACES: ReadonlySet<number> = new Set([0x20, 0x0a, 0x0d, 0x09]);

function isClosing(code: number): boolean {
  return code === 0x7d || code === 0x5d;
}
