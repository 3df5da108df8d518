import { decimalIn } from '../../core/decimal-bytes.ts';
import type { CellRow } from '../../core/delimited-rows.ts';
import { OperatorError } from '../../core/errors.ts';
import { latin1In } from '../../core/memoize-bytes.ts';
import { numberCell } from '../text-format.ts';
import type { Cell, RowKernel } from './row-kernel.ts';

/** Maximum number of bad rows that are reported one by one. */
export const ROW_MESSAGES_MAX = 5;
/** Maximum length of a number with its comma, bytes. A number has a sign, 17 digits, a point and an exponent. */
const NUMBER_BYTES_MAX = 26;
/** Number of rows for which the arrays have space at first. */
const ROWS_AT_FIRST = 4_096;
const [COMMA, LF, SPACE] = [0x2c, 0x0a, 0x20];

/**
 * Runs a kernel on the rows of one CSV. An output replaces the input column with the same name. All other outputs are added after the last
 * column. All other cells keep their bytes. A row that cannot be computed counts as bad, and its outputs are empty.
 */
export class CsvRun {
  rows = 0;
  badRows = 0;
  /** Messages about the first bad rows. */
  readonly messages: string[] = [];
  readonly #kernel: RowKernel;
  readonly #inputs: readonly Input[];
  readonly #width: number;
  /** The outputs in the order of their columns. The first `#replaced` of them replace a column of the input. */
  readonly #slots: readonly { readonly output: number; readonly column: number }[];
  readonly #replaced: number;
  /** Number of rows that were added since the last call of `compute`. The following arrays have the values of these rows. */
  #count = 0;
  #lines = new Float64Array(ROWS_AT_FIRST);
  #columns: Float64Array[];
  /** The bytes of each row before, between and after the replaced cells, as two indices for each range. */
  #ranges: Int32Array;
  readonly #errors = new Map<number, string>();
  /** Number of cells that a row lacks. */
  readonly #missing = new Map<number, number>();
  /** The header of the output, until it is returned. */
  #header: Buffer;

  /** Throws `OperatorError` if the header lacks a required column or names a column twice. */
  constructor(kernel: RowKernel, header: CellRow) {
    const cells = Array.from({ length: header.count }, (_, i) =>
      latin1In(header.bytes, header.start(i), header.end(i)),
    );
    const names = cells.map(contentOf);
    refuseHeader(kernel, names);
    let end = cells.length;
    this.#kernel = kernel;
    this.#width = cells.length;
    this.#inputs = Object.entries(kernel.inputs).map(([name, cell]) => new Input(name, cell, names.indexOf(name)));
    this.#slots = kernel.outputs
      .map((name, output) => ({ output, column: names.includes(name) ? names.indexOf(name) : end++ }))
      .toSorted((a, b) => a.column - b.column);
    this.#replaced = this.#slots.filter(({ column }) => column < names.length).length;
    this.#columns = this.#inputs.map(() => new Float64Array(ROWS_AT_FIRST));
    this.#ranges = new Int32Array(2 * (this.#replaced + 1) * ROWS_AT_FIRST);
    for (const { output, column } of this.#slots) cells[column] = kernel.outputs[output]!;
    this.#header = Buffer.from(`${cells.join(',')}\n`, 'latin1');
  }

  /** Adds a row. `line` is the number of the row's first line. */
  add(row: CellRow, line: number): void {
    const at = this.#count++;
    if (at === this.#lines.length) this.#enlarge();
    this.#lines[at] = line;
    let error: string | undefined;
    if (row.count !== this.#width) {
      error = `has ${row.count} cells, but the header has ${this.#width}`;
      if (row.count < this.#width) this.#missing.set(at, this.#width - row.count);
    }
    for (let i = 0; i < this.#inputs.length; i++) {
      const { name, cell, column } = this.#inputs[i]!;
      const value = this.#inputs[i]!.read(row.bytes, row.start(column), row.end(column));
      if (Number.isNaN(value)) error ??= `${name} ${cell.must}`;
      this.#columns[i]![at] = value;
    }
    if (error !== undefined) this.#errors.set(at, error);
    let range = 2 * (this.#replaced + 1) * at;
    this.#ranges[range++] = row.start(0);
    const last = Math.min(row.count, this.#width) - 1;
    for (let i = 0; i < this.#replaced; i++) {
      // A row with too few cells is bad. So its outputs are empty, also those of cells that it lacks.
      const { column } = this.#slots[i]!;
      this.#ranges[range++] = column <= last ? row.start(column) : row.end(last);
      this.#ranges[range++] = row.end(Math.min(column, last));
    }
    this.#ranges[range] = row.end(last);
  }

  /**
   * Returns the rows that were added since the last call, with their outputs, as CSV text. The first call also returns the header. `bytes`
   * are the bytes in which the rows are.
   */
  compute(bytes: Uint8Array): Buffer {
    const count = this.#count;
    const columns = this.#inputs.map(({ name }, i) => [name, this.#columns[i]!.subarray(0, count)]);
    const outputs = this.#kernel.compute(count, Object.fromEntries(columns));
    const missing = this.#missing.values().reduce((sum, cells) => sum + cells, 0);
    const size = bytes.length + missing + count * (NUMBER_BYTES_MAX * outputs.length + 1);
    const text = Buffer.allocUnsafe(this.#header.length + size);
    let end = this.#header.copy(text);
    this.#header = Buffer.alloc(0);
    for (let row = 0, range = 0; row < count; row++) {
      const error = this.#errors.get(row) ?? (isAnswered(outputs, row) ? undefined : this.#kernel.unanswered);
      if (error !== undefined) this.#report(this.#lines[row]!, error);
      for (let i = 0; i <= this.#replaced; i++, range += 2) {
        const to = this.#ranges[range + 1]!;
        for (let at = this.#ranges[range]!; at < to; at++) text[end++] = bytes[at]!;
        if (i < this.#replaced && error === undefined)
          end = writeNumber(text, end, outputs[this.#slots[i]!.output]![row]!);
      }
      for (let cells = this.#missing.get(row) ?? 0; cells > 0; cells--) text[end++] = COMMA;
      for (let i = this.#replaced; i < this.#slots.length; i++) {
        text[end++] = COMMA;
        if (error === undefined) end = writeNumber(text, end, outputs[this.#slots[i]!.output]![row]!);
      }
      text[end++] = LF;
    }
    this.rows += count;
    this.#count = 0;
    this.#errors.clear();
    this.#missing.clear();
    return text.subarray(0, end);
  }

  #enlarge(): void {
    const twice = <T extends Float64Array | Int32Array>(from: T): T => {
      const to = new (from.constructor as new (length: number) => T)(2 * from.length);
      to.set(from);
      return to;
    };
    this.#lines = twice(this.#lines);
    this.#columns = this.#columns.map(twice);
    this.#ranges = twice(this.#ranges);
  }

  #report(line: number, error: string): void {
    if (++this.badRows <= ROW_MESSAGES_MAX) this.messages.push(`line ${line}: ${error}`);
  }
}

/** An input column of a file. */
class Input {
  /** The value of each cell with a single byte. */
  readonly #ofByte: Float64Array;
  readonly #ofNothing: number;

  /** `column` is the index of the column in the file, or -1 if the file lacks the column. */
  constructor(
    readonly name: string,
    readonly cell: Cell,
    readonly column: number,
  ) {
    this.#ofByte = Float64Array.from({ length: 256 }, (_, byte) => this.#parse(String.fromCharCode(byte)));
    this.#ofNothing = this.#parse('');
  }

  /** Returns the number in the bytes [from, to) of a cell, or NaN if the column does not accept the cell. */
  read(bytes: Uint8Array, from: number, to: number): number {
    let [start, end] = [from, to];
    while (start < end && bytes[start] === SPACE) start++;
    while (start < end && bytes[end - 1] === SPACE) end--;
    if (start === end) return this.#ofNothing;
    if (start + 1 === end) return this.#ofByte[bytes[start]!]!;
    if (this.cell.accepts) {
      const value = decimalIn(bytes, start, end);
      if (!Number.isNaN(value)) return this.cell.accepts(value) ? value : Number.NaN;
    }
    return this.#parse(latin1In(bytes, start, end));
  }

  #parse(text: string): number {
    const content = contentOf(text);
    return content === '' ? (this.cell.default ?? Number.NaN) : this.cell.parse(content);
  }
}

/** Returns the content of a cell without its quotes and without spaces at its ends. */
function contentOf(cell: string): string {
  const text = cell.trim();
  const quoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
  return quoted ? text.slice(1, -1).replaceAll('""', '"').trim() : text;
}

/** Writes a number as text into `bytes` from the index `at` on. Returns the index after the number. */
function writeNumber(bytes: Buffer, at: number, value: number): number {
  return at + bytes.write(numberCell(value), at, 'latin1');
}

function isAnswered(outputs: readonly Float64Array[], row: number): boolean {
  for (const column of outputs) if (!Number.isFinite(column[row])) return false;
  return true;
}

function refuseHeader({ inputs, outputs }: RowKernel, names: readonly string[]): void {
  const hint = `Name the columns in the first line, separated by commas: ${Object.entries(inputs)
    .map(([name, cell]) => (cell.default === undefined ? name : `${name} (default ${cell.default})`))
    .join(', ')}.`;
  const missing = Object.keys(inputs).filter((name) => inputs[name]!.default === undefined && !names.includes(name));
  if (missing.length > 0) throw new OperatorError(`there is no column ${missing.join(', ')}`, hint);
  const duplicates = [...Object.keys(inputs), ...outputs].filter(
    (name) => names.indexOf(name) !== names.lastIndexOf(name),
  );
  if (duplicates.length > 0) throw new OperatorError(`column ${duplicates.join(', ')} is named twice`, hint);
}
