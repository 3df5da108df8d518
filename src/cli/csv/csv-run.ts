import { OperatorError } from '../../errors.ts';
import { numberCell } from './number.ts';
import { type CsvRecord, cellsOf, contentOf } from './records.ts';
import type { Cell, RowKernel } from './row-kernel.ts';

/** How many bad rows are reported one by one. */
const TOLD_MAX = 5;

/**
 * Runs a kernel over the rows of one CSV. Cells that are not outputs of the kernel pass through unchanged. An input column with the name of
 * an output is replaced in its place. The other outputs follow the last column. If a row cannot be computed, its outputs are empty, its
 * other cells stay, and it is counted as bad.
 */
export class CsvRun {
  rows = 0;
  badRows = 0;
  /** Messages on the first bad rows. */
  readonly told: string[] = [];
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
    this.#inputs = Object.entries(kernel.inputs).map(([name, cell]) => ({ name, cell, at: names.indexOf(name) }));
    this.#slots = kernel.outputs.map((name) => (names.includes(name) ? names.indexOf(name) : end++));
    this.#header = withOutputs(cells, this.#slots, kernel.outputs);
  }

  header(): string {
    return `${this.#header.join(',')}\n`;
  }

  /** Returns the rows with their outputs, as CSV text. */
  compute(records: readonly CsvRecord[]): string {
    const count = records.length;
    const columns = Object.fromEntries(this.#inputs.map(({ name }) => [name, new Float64Array(count)]));
    const faults: (string | undefined)[] = [];
    const table = records.map(({ text }, row) => {
      const cells = cellsOf(text);
      faults[row] = this.#read(cells, row, columns);
      return cells;
    });
    const outputs = this.#kernel.compute(count, columns);
    const lines = table.map((cells, row) => {
      const fault = faults[row] ?? (isAnswered(outputs, row) ? undefined : this.#kernel.unanswered);
      if (fault !== undefined) this.#tell(records[row]!.line, fault);
      for (let at = 0; at < outputs.length; at++)
        cells[this.#slots[at]!] = fault === undefined ? numberCell(outputs[at]![row]!) : '';
      return cells.join(',');
    });
    this.rows += count;
    return lines.length > 0 ? `${lines.join('\n')}\n` : '';
  }

  /** Writes the numbers of a row into the columns. Returns what is wrong with the row, if anything. */
  #read(cells: string[], row: number, columns: Readonly<Record<string, Float64Array>>): string | undefined {
    let fault: string | undefined;
    if (cells.length !== this.#width) {
      fault = `has ${cells.length} cells, the header ${this.#width}`;
      // With the width of the header, the outputs stay under their column names.
      while (cells.length < this.#width) cells.push('');
      cells.length = this.#width;
    }
    for (const { name, cell, at } of this.#inputs) {
      const text = at < 0 ? '' : contentOf(cells[at]!);
      const value = text === '' ? (cell.default ?? Number.NaN) : cell.parse(text);
      if (Number.isNaN(value)) fault ??= `${name} ${cell.must}`;
      columns[name]![row] = value;
    }
    return fault;
  }

  #tell(line: number, fault: string): void {
    if (++this.badRows <= TOLD_MAX) this.told.push(`line ${line}: ${fault}`);
  }
}

interface Input {
  readonly name: string;
  readonly cell: Cell;
  /** Index of its column in the file; -1 if the file has no such column. */
  readonly at: number;
}

function isAnswered(outputs: readonly Float64Array[], row: number): boolean {
  for (const column of outputs) if (!Number.isFinite(column[row])) return false;
  return true;
}

function withOutputs(cells: readonly string[], slots: readonly number[], outputs: readonly string[]): string[] {
  const all = [...cells];
  slots.forEach((slot, at) => {
    all[slot] = outputs[at]!;
  });
  return all;
}

function refuseHeader({ inputs, outputs }: RowKernel, names: readonly string[]): void {
  const hint = `Name the columns in the first line, separated by commas: ${Object.entries(inputs)
    .map(([name, cell]) => (cell.default === undefined ? name : `${name} (default ${cell.default})`))
    .join(', ')}.`;
  const missing = Object.keys(inputs).filter((name) => inputs[name]!.default === undefined && !names.includes(name));
  if (missing.length > 0) throw new OperatorError(`there is no column ${missing.join(', ')}`, hint);
  const twice = [...Object.keys(inputs), ...outputs].filter((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice.length > 0) throw new OperatorError(`column ${twice.join(', ')} is named twice`, hint);
}
