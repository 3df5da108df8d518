import type { TObject, TSchema } from '@sinclair/typebox';
import { latin1In } from '../../core/memoize-bytes.ts';
import { readNumbers } from '../../math/decimals.ts';
import { COLUMN_ROWS_MAX, firstOutside, SIDE } from './column-arguments.ts';

/** The valid arguments of a table. Columns are Float64Array. In the column of calls and puts, a call is 1 and a put is -1. */
export class TableArguments {
  constructor(readonly fields: Readonly<Record<string, unknown>>) {}
}

/**
 * Reads the JSON of a table (see `table`) from its bytes, without a value for each cell. Returns undefined for JSON that is invalid or
 * unusual: the caller must then parse and validate the text. `schema` is the schema of the table.
 */
export function readTableArguments(schema: TObject, bytes: Uint8Array): TableArguments | undefined {
  const json = new JsonBytes(bytes);
  const fields: Record<string, unknown> = {};
  let rows: number | undefined;
  if (!json.skip('{')) return undefined;
  do {
    const name = json.word();
    if (name === undefined || Object.hasOwn(fields, name) || !Object.hasOwn(schema.properties, name)) return undefined;
    if (!json.skip(':')) return undefined;
    const property = schema.properties[name]!;
    const scalar: TSchema = property.anyOf?.[0] ?? property;
    const value = json.skip('[') ? columnOf(json, scalar) : scalarOf(json, scalar);
    if (value === undefined) return undefined;
    if (value instanceof Float64Array) {
      rows ??= value.length;
      if (property === scalar || value.length !== rows || rows > COLUMN_ROWS_MAX) return undefined;
    }
    fields[name] = value;
  } while (json.skip(','));
  if (!json.skip('}') || !json.isAtEnd()) return undefined;
  for (const [name, property] of Object.entries(schema.properties)) {
    fields[name] ??= property.default;
    if (fields[name] === undefined) return undefined;
  }
  return new TableArguments(fields);
}

/** Reads a column after its opening bracket. */
function columnOf(json: JsonBytes, scalar: TSchema): Float64Array | undefined {
  const column = scalar.enum ? json.sides() : json.numbers();
  return column && firstOutside(column, scalar.enum ? SIDE : scalar) < 0 ? column : undefined;
}

function scalarOf(json: JsonBytes, scalar: TSchema): string | number | undefined {
  if (scalar.enum) {
    const word = json.word();
    return scalar.enum.includes(word) ? word : undefined;
  }
  const value = json.number();
  return value !== undefined && firstOutside(value, scalar) < 0 ? value[0] : undefined;
}

/** Reads JSON from bytes. Each method reads at the present index, after white space, and moves the index after what it has read. */
class JsonBytes {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** Returns whether the next byte is this character, and moves after it. */
  skip(character: string): boolean {
    this.#skipSpaces();
    if (this.bytes[this.#at] !== character.charCodeAt(0)) return false;
    this.#at++;
    return true;
  }

  isAtEnd(): boolean {
    this.#skipSpaces();
    return this.#at === this.bytes.length;
  }

  /** Reads a string of letters and underscores. */
  word(): string | undefined {
    if (!this.skip('"')) return undefined;
    const start = this.#at;
    const end = this.bytes.indexOf(QUOTE, start);
    this.#at = end + 1;
    const word = end >= start && end <= start + WORD_MAX ? latin1In(this.bytes, start, end) : '';
    return /^\w+$/.test(word) ? word : undefined;
  }

  /** Reads one number, as a column with one row. */
  number(): Float64Array | undefined {
    let end = this.#at;
    while (NUMBER_BYTES[this.bytes[end]!]) end++;
    return this.#numbersTo(end);
  }

  /** Reads numbers and the closing bracket after them. */
  numbers(): Float64Array | undefined {
    const column = this.#numbersTo(this.bytes.indexOf(CLOSING, this.#at));
    this.#at++;
    return column;
  }

  /** Reads the strings `C` and `P` and the closing bracket after them. Returns 1 for a call and -1 for a put. */
  sides(): Float64Array | undefined {
    const { bytes } = this;
    const sides = new Float64Array(COLUMN_ROWS_MAX);
    let count = 0;
    for (let at = this.#at; count < sides.length; at++) {
      while (SPACES[bytes[at]!]) at++;
      const side = bytes[at + 1];
      if (bytes[at] !== QUOTE || (side !== CALL && side !== PUT) || bytes[at + 2] !== QUOTE) return undefined;
      sides[count++] = side === CALL ? 1 : -1;
      at += 3;
      while (SPACES[bytes[at]!]) at++;
      if (bytes[at] === COMMA) continue;
      this.#at = at;
      return this.skip(']') ? sides.slice(0, count) : undefined;
    }
    return undefined;
  }

  #numbersTo(end: number): Float64Array | undefined {
    if (end < 0) return undefined;
    const column = readNumbers(this.bytes, this.#at, end);
    this.#at = end;
    return column;
  }

  #skipSpaces(): void {
    while (SPACES[this.bytes[this.#at]!]) this.#at++;
  }
}

/** The longest string that is read, bytes. */
const WORD_MAX = 32;
const [QUOTE, COMMA, CLOSING, CALL, PUT] = [0x22, 0x2c, 0x5d, 0x43, 0x50];

const flags = (characters: string) =>
  Uint8Array.from({ length: 256 }, (_, byte) => (characters.includes(String.fromCharCode(byte)) ? 1 : 0));
const SPACES = flags(' \n\r\t');
const NUMBER_BYTES = flags(' \n\r\t+-.0123456789eE');
