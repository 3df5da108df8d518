import { RowItem } from '../../../assembly/columns.ts';
import { OperatorError } from '../../core/errors.ts';
import { latin1In } from '../../core/memoize-bytes.ts';
import { ByteText } from '../../math/decimals.ts';
import type { RowScanner } from '../../math/delimited-rows.ts';
import { arenaColumn, CHUNK_ROWS } from '../../math/kernels.ts';
import type { Cell, RowKernel } from './row-kernel.ts';

/** Maximum number of bad rows that are reported one by one. */
export const ROW_MESSAGES_MAX = 5;
/** The length of a text for which there is space at first, bytes. */
const TEXT_BYTES = 1024 * 1024;

/**
 * Runs a kernel on the rows of one CSV. An output replaces the column with its name, or is added after the last column. All other cells keep
 * their bytes. A row that cannot be computed counts as bad, and its outputs are empty.
 */
export class CsvRun {
  rows = 0;
  badRows = 0;
  /** Messages about the first bad rows. */
  readonly messages: string[] = [];
  /** The header, if it was not removed yet, and the rows that were added, as CSV text. */
  readonly text = new ByteText(TEXT_BYTES);
  readonly #kernel: RowKernel;
  readonly #inputs: readonly Input[];
  readonly #width: number;
  /** The outputs in the order of their columns. The first ones may replace a column of the input. */
  readonly #slots: readonly { readonly output: number; readonly column: number }[];
  /** The items of an output row. */
  readonly #pattern: Int32Array;

  /** The first row of a block is the header. Throws `OperatorError` if the header lacks a required column or names a column twice. */
  constructor(kernel: RowKernel, header: RowScanner) {
    const cells = latin1Cells(header);
    const names = cells.map(contentOf);
    refuseHeader(kernel, names);
    const width = cells.length;
    let end = width;
    this.#kernel = kernel;
    this.#width = width;
    this.#inputs = Object.entries(kernel.inputs).map(([name, cell]) => new Input(name, cell, names.indexOf(name)));
    this.#slots = kernel.outputs
      .map((name, output) => ({ output, column: names.includes(name) ? names.indexOf(name) : end++ }))
      .toSorted((a, b) => a.column - b.column);
    // Cell i begins at boundary 2i and ends at boundary 2i + 1.
    let from = 0;
    const replaced = this.#slots.filter(({ column }) => column < width);
    const items = replaced.flatMap(({ output, column }) => {
      const before = [RowItem.copied, from, 2 * column, output];
      from = 2 * column + 1;
      return before;
    });
    const added = this.#slots.slice(replaced.length).flatMap(({ output }) => [RowItem.separator, output]);
    this.#pattern = Int32Array.from([...items, RowItem.copied, from, 2 * width - 1, ...added]);
    for (const { output, column } of this.#slots) cells[column] = kernel.outputs[output]!;
    this.text.add(`${cells.join(',')}\n`, 'latin1');
  }

  /** Adds the rows of a block from the row `from` on. `firstLine` is the number of the block's first line. */
  add(rows: RowScanner, from: number, firstLine: number): void {
    const count = rows.rows;
    const errors = new Map<number, string>();
    /** The rows that lack cells. */
    const short: number[] = [];
    for (let row = from; row < count; row++) {
      const width = rows.width(row);
      if (width === this.#width) continue;
      errors.set(row, `has ${width} cells, but the header has ${this.#width}`);
      if (width < this.#width) short.push(row);
    }
    const columns = this.#inputs.map((input) => [input.name, input.read(rows, from, errors)] as const);
    const outputs = this.#kernel.compute(count, Object.fromEntries(columns));
    for (let row = from; row < count; row++) {
      const error = errors.get(row) ?? (isAnswered(outputs, row) ? undefined : this.#kernel.unanswered);
      if (error === undefined) continue;
      rows.select(row);
      if (++this.badRows <= ROW_MESSAGES_MAX) this.messages.push(`line ${firstLine + rows.line}: ${error}`);
      for (const column of outputs) column[row] = Number.NaN;
    }
    let start = from;
    for (const row of short) {
      this.text.addRows(start, row, this.#pattern, outputs);
      rows.select(row);
      this.text.add(this.#shortRow(rows), 'latin1');
      start = row + 1;
    }
    this.text.addRows(start, count, this.#pattern, outputs);
    this.rows += count - from;
  }

  /** Returns a row that lacks cells. The row is bad, so its outputs are empty. */
  #shortRow(row: RowScanner): string {
    const cells = latin1Cells(row);
    cells[this.#width - 1] ??= '';
    for (const { column } of this.#slots) cells[column] = '';
    return `${cells.join(',')}\n`;
  }
}

/** An input column of a file. */
class Input {
  readonly #numbers = new Float64Array(CHUNK_ROWS);
  /** The value of each cell with a single byte. */
  readonly #ofByte: Float64Array;

  /** `column` is the index of the column in the file, or -1 if the file lacks the column. */
  constructor(
    readonly name: string,
    readonly cell: Cell,
    readonly column: number,
  ) {
    this.#ofByte = Float64Array.from({ length: 256 }, (_, byte) => this.#parse(String.fromCharCode(byte)));
    if (column < 0) this.#numbers.fill(this.#parse(''));
  }

  /** Returns the numbers of a block until the next call. A cell that the column does not accept is NaN, and the first error of its row added. */
  read(rows: RowScanner, from: number, errors: Map<number, string>): Float64Array {
    const { least, must } = this.cell;
    const numbers = this.#numbers.subarray(0, rows.rows);
    if (this.column < 0) return numbers;
    if (!Number.isNaN(least)) numbers.set(rows.numbers(this.column, arenaColumn(0)).subarray(0, rows.rows));
    for (let row = from; row < rows.rows; row++) {
      if (numbers[row]! >= least && numbers[row]! <= Number.MAX_VALUE) continue;
      rows.select(row);
      const [start, end] = [rows.start(this.column), rows.end(this.column)];
      numbers[row] =
        end - start === 1 ? this.#ofByte[rows.bytes[start]!]! : this.#parse(latin1In(rows.bytes, start, end));
      if (Number.isNaN(numbers[row]) && !errors.has(row)) errors.set(row, `${this.name} ${must}`);
    }
    return numbers;
  }

  #parse(text: string): number {
    const content = contentOf(text);
    return content === '' ? (this.cell.default ?? Number.NaN) : this.cell.parse(content);
  }
}

/** Returns the cells of the selected row in Latin-1, which keeps their bytes. */
function latin1Cells(row: RowScanner): string[] {
  return Array.from({ length: row.count }, (_, i) => latin1In(row.bytes, row.start(i), row.end(i)));
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
