import { RowItem } from '../../../assembly/columns.ts';
import { decimalIn } from '../../core/decimal-bytes.ts';
import type { CellRow } from '../../core/delimited-rows.ts';
import { OperatorError } from '../../core/errors.ts';
import { latin1In } from '../../core/memoize-bytes.ts';
import { ByteText, readCells } from '../../math/decimals.ts';
import type { Cell, RowKernel } from './row-kernel.ts';

/** Maximum number of bad rows that are reported one by one. */
export const ROW_MESSAGES_MAX = 5;
/** Number of rows for which the arrays have space at first. */
const ROWS_AT_FIRST = 4_096;
/** The length of a text for which there is space at first, bytes. */
const TEXT_BYTES = 1024 * 1024;
const SPACE = 0x20;

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
  /** The cells of the inputs of each row, as two indices for each cell. A missing cell is empty. */
  #cells: Int32Array;
  /** The bytes of each row before, between and after the replaced cells, as two indices for each range. */
  #ranges: Int32Array;
  readonly #errors = new Map<number, string>();
  /** Number of cells that a row lacks. */
  readonly #missing = new Map<number, number>();
  readonly #text = new ByteText(TEXT_BYTES);
  /** The items of an output row. */
  readonly #pattern: Uint8Array;
  /** The header of the output in Latin-1, until it is returned. */
  #header: string;

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
    this.#cells = new Int32Array(2 * this.#inputs.length * ROWS_AT_FIRST);
    this.#ranges = new Int32Array(2 * (this.#replaced + 1) * ROWS_AT_FIRST);
    for (const { output, column } of this.#slots) cells[column] = kernel.outputs[output]!;
    this.#header = `${cells.join(',')}\n`;
    this.#pattern = Uint8Array.from([
      RowItem.copied,
      ...this.#slots.flatMap(({ output }, i) =>
        i < this.#replaced ? [output, RowItem.copied] : [RowItem.separator, output],
      ),
    ]);
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
    let cell = 2 * this.#inputs.length * at;
    for (const { column } of this.#inputs) {
      this.#cells[cell++] = row.start(column);
      this.#cells[cell++] = row.end(column);
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
   * are the bytes in which the rows are. The next call replaces the text.
   */
  compute(bytes: Uint8Array): Uint8Array {
    const count = this.#count;
    const columns = this.#columns.map((column) => column.subarray(0, count));
    readCells(bytes, this.#cells, columns);
    for (const [i, column] of columns.entries()) this.#check(bytes, i, column);
    const outputs = this.#kernel.compute(
      count,
      Object.fromEntries(this.#inputs.map(({ name }, i) => [name, columns[i]!])),
    );
    const text = this.#text;
    text.clear();
    text.add(this.#header, 'latin1');
    this.#header = '';
    for (let row = 0; row < count; row++) {
      const error = this.#errors.get(row) ?? (isAnswered(outputs, row) ? undefined : this.#kernel.unanswered);
      if (error === undefined) continue;
      this.#report(this.#lines[row]!, error);
      for (const column of outputs) column[row] = Number.NaN;
    }
    let from = 0;
    for (const [row, cells] of this.#missing) {
      this.#addRows(text, bytes, outputs, from, row);
      text.add(this.#shortRow(bytes, row, cells), 'latin1');
      from = row + 1;
    }
    this.#addRows(text, bytes, outputs, from, count);
    this.rows += count;
    this.#count = 0;
    this.#errors.clear();
    this.#missing.clear();
    return text.bytes();
  }

  /** Parses the cells of an input that are not plain numbers. Adds the error of each bad cell, if its row has no error yet. */
  #check(bytes: Uint8Array, i: number, column: Float64Array): void {
    const input = this.#inputs[i]!;
    const { name, cell } = input;
    for (let row = 0; row < column.length; row++) {
      if (cell.accepts?.(column[row]!)) continue;
      const at = 2 * (this.#inputs.length * row + i);
      column[row] = input.read(bytes, this.#cells[at]!, this.#cells[at + 1]!);
      if (Number.isNaN(column[row]) && !this.#errors.has(row)) this.#errors.set(row, `${name} ${cell.must}`);
    }
  }

  #addRows(text: ByteText, bytes: Uint8Array, outputs: readonly Float64Array[], from: number, to: number): void {
    const width = 2 * (this.#replaced + 1);
    text.addRows({
      ...{ count: to - from, pattern: this.#pattern, bytes },
      ranges: this.#ranges.subarray(width * from, width * to),
      columns: outputs.map((column) => column.subarray(from, to)),
    });
  }

  /** Returns a row that lacks `missing` cells. The row is bad, so its outputs are empty. */
  #shortRow(bytes: Uint8Array, row: number, missing: number): string {
    const width = 2 * (this.#replaced + 1);
    const ranges = this.#ranges.subarray(width * row, width * (row + 1));
    let text = '';
    for (let i = 0; i < width; i += 2) text += latin1In(bytes, ranges[i]!, ranges[i + 1]!);
    return `${text}${','.repeat(missing + this.#slots.length - this.#replaced)}\n`;
  }

  #enlarge(): void {
    const twice = <T extends Float64Array | Int32Array>(from: T): T => {
      const to = new (from.constructor as new (length: number) => T)(2 * from.length);
      to.set(from);
      return to;
    };
    this.#lines = twice(this.#lines);
    this.#columns = this.#columns.map(twice);
    this.#cells = twice(this.#cells);
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
