import { OperatorError } from '../../core/errors.ts';
import { numberCell } from '../text-format.ts';
import { type CsvRecord, cellsOf, contentOf } from './records.ts';
import type { Cell, RowKernel } from './row-kernel.ts';

/** Maximum number of bad rows that are reported one by one. */
export const ROW_MESSAGES_MAX = 5;

/**
 * Runs a kernel on the rows of one CSV. An output replaces the input column with the same name. All other outputs are added after the last
 * column. All other cells stay unchanged. A row that cannot be computed counts as bad, and its outputs are empty.
 */
export class CsvRun {
  rows = 0;
  badRows = 0;
  /** Messages about the first bad rows. */
  readonly messages: string[] = [];
  readonly #kernel: RowKernel;
  readonly #inputs: readonly Input[];
  readonly #header: readonly string[];
  /** The column index of each output. */
  readonly #slots: readonly number[];
  readonly #width: number;

  /** Throws `OperatorError` if the header lacks a required column or names a column twice. */
  constructor(kernel: RowKernel, header: string) {
    const cells = cellsOf(header);
    const names = cells.map(contentOf);
    refuseHeader(kernel, names);
    let end = cells.length;
    this.#kernel = kernel;
    this.#width = cells.length;
    this.#inputs = Object.entries(kernel.inputs).map(([name, cell]) => ({ name, cell, column: names.indexOf(name) }));
    this.#slots = kernel.outputs.map((name) => (names.includes(name) ? names.indexOf(name) : end++));
    this.#header = headerWithOutputs(cells, this.#slots, kernel.outputs);
  }

  header(): string {
    return `${this.#header.join(',')}\n`;
  }

  /** Returns the rows with their outputs, as CSV text. */
  compute(records: readonly CsvRecord[]): string {
    const count = records.length;
    const columns = Object.fromEntries(this.#inputs.map(({ name }) => [name, new Float64Array(count)]));
    const rowErrors: (string | undefined)[] = [];
    const table = records.map(({ text }, row) => {
      const cells = cellsOf(text);
      rowErrors[row] = this.#read(cells, row, columns);
      return cells;
    });
    const outputs = this.#kernel.compute(count, columns);
    const lines = table.map((cells, row) => {
      const error = rowErrors[row] ?? (isAnswered(outputs, row) ? undefined : this.#kernel.unanswered);
      if (error !== undefined) this.#report(records[row]!.line, error);
      for (let i = 0; i < outputs.length; i++)
        cells[this.#slots[i]!] = error === undefined ? numberCell(outputs[i]![row]!) : '';
      return cells.join(',');
    });
    this.rows += count;
    return lines.length > 0 ? `${lines.join('\n')}\n` : '';
  }

  /** Writes the numbers of a row into the columns. Returns the fault of the row, or `undefined` if the row is valid. */
  #read(cells: string[], row: number, columns: Readonly<Record<string, Float64Array>>): string | undefined {
    let error: string | undefined;
    if (cells.length !== this.#width) {
      error = `has ${cells.length} cells, but the header has ${this.#width}`;
      // Empty cells are added to a row that is shorter than the header, so that the outputs are in the right columns.
      while (cells.length < this.#width) cells.push('');
      cells.length = this.#width;
    }
    for (const { name, cell, column } of this.#inputs) {
      const text = column < 0 ? '' : contentOf(cells[column]!);
      const value = text === '' ? (cell.default ?? Number.NaN) : cell.parse(text);
      if (Number.isNaN(value)) error ??= `${name} ${cell.must}`;
      columns[name]![row] = value;
    }
    return error;
  }

  #report(line: number, error: string): void {
    if (++this.badRows <= ROW_MESSAGES_MAX) this.messages.push(`line ${line}: ${error}`);
  }
}

interface Input {
  readonly name: string;
  readonly cell: Cell;
  /** Index of the input's column in the file. The index is -1 if the file lacks the column. */
  readonly column: number;
}

function isAnswered(outputs: readonly Float64Array[], row: number): boolean {
  for (const column of outputs) if (!Number.isFinite(column[row])) return false;
  return true;
}

function headerWithOutputs(cells: readonly string[], slots: readonly number[], outputs: readonly string[]): string[] {
  const all = [...cells];
  slots.forEach((slot, i) => {
    all[slot] = outputs[i]!;
  });
  return all;
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
