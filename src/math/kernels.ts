import { readFileSync } from 'node:fs';
import { Block } from '../../assembly/columns.ts';
import type { KernelExports, KernelImports } from '../../build/kernels.d.ts';
import wasmPath from '../../build/kernels.wasm' with { type: 'file' };

/** One value for each row, or one number for all rows. */
export type Column = Float64Array | number;

const COLUMNS_MAX = Block.columns;
const PAGE_BYTES = 65_536;
/** The offset of the arena, a block of COLUMNS_MAX columns. `load` checks that the module's own constants end before the arena. */
const ARENA_START = PAGE_BYTES;
/**
 * Number of pages of the memory: the module's constants, the arena and the text area. A page takes memory when it is first used. The garbage
 * collector counts the whole memory, so with more pages it leaves more garbage.
 */
const PAGES = 122;

type Offset = number;

/** The exports of assembly/index.ts, with the types that the compiler declares. */
type Kernels = Omit<KernelExports, 'memory'>;

/** The position of each column of a kernel, by column name. Each layout is an enumeration in assembly/columns.ts. */
export type ColumnLayout = { readonly [name: string]: number | string; readonly [place: number]: string };

// The size of the memory is fixed, because all views of a memory are detached when the memory grows.
const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });

/** The compiled kernels. Kernels have no state between calls, and write only to the columns of the arena. */
export const kernels = load();

/** The number of rows that a kernel computes in one call. Columns with this number of rows fit into a core's second-level cache. */
export const CHUNK_ROWS = kernels.blockRows();

const columns = Array.from(
  { length: COLUMNS_MAX },
  (_, i) => new Float64Array(memory.buffer, ARENA_START + i * kernels.columnBytes(), CHUNK_ROWS),
);

/** The object whose columns are in the arena, if its kernels have been called last. */
let owner: object | undefined;

/** Marks the arena as filled by `by`. Returns true if nothing else has used the arena since the last call with `by`. */
export function keepArena(by: object): boolean {
  const isKept = owner === by;
  owner = by;
  return isKept;
}

/** Returns the arena's column at `index`, which has CHUNK_ROWS rows. The content is valid until the next kernel call. */
export function arenaColumn(index: number): Float64Array {
  owner = undefined;
  const column = columns[index];
  if (!column) throw new RangeError(`the kernel arena has ${COLUMNS_MAX} columns, so there is no column ${index}`);
  return column;
}

/** Returns the memory of consecutive columns, for data that is longer than one column. */
export function arenaSpan(index: number, columns: number): Float64Array {
  const { byteOffset } = arenaColumn(index);
  arenaColumn(index + columns - 1);
  return new Float64Array(
    memory.buffer,
    byteOffset,
    (columns * kernels.columnBytes()) / Float64Array.BYTES_PER_ELEMENT,
  );
}

/** The whole memory. The texts that kernels read or write are after the arena, from TEXT_START on. */
export const memoryBytes = Buffer.from(memory.buffer);
export const memoryWords = new Int32Array(memory.buffer);
export const TEXT_START = ARENA_START + COLUMNS_MAX * kernels.columnBytes();

/**
 * Divides columns of any length into chunks of at most CHUNK_ROWS rows. Copies each chunk into the arena, to the positions of the layout.
 * Then calls `work` with the first row of the chunk and the row after the chunk's last row.
 * @throws RangeError if `count` is not a whole number >= 0, if the length of a column is not `count`, or if the layout has no column with
 *   the name of an input.
 */
export function inChunks(
  count: number,
  layout: ColumnLayout,
  inputs: Readonly<Record<string, Column>>,
  work: (block: Offset, start: number, end: number) => void,
): void {
  checkLengths(count, inputs);
  const given = Object.values(inputs);
  const places = Object.keys(inputs).map((name) => arenaColumn(layout[name] as number));
  given.forEach((column, i) => {
    if (typeof column === 'number') places[i]!.fill(column, 0, Math.min(count, CHUNK_ROWS));
  });
  for (let start = 0; start < count; start += CHUNK_ROWS) {
    const end = Math.min(start + CHUNK_ROWS, count);
    for (let i = 0; i < given.length; i++) {
      const column = given[i]!;
      if (typeof column !== 'number') places[i]!.set(rowsOf(column, start, end));
    }
    work(ARENA_START, start, end);
  }
}

/**
 * Runs a kernel over columns of any length. The kernel must compute each row independently. Copies the arena's columns at `outputs` into
 * the columns of `into`, or into new columns, and returns the copies. Allocation of new columns takes longer than copying.
 * @throws RangeError if `count` is not a whole number >= 0, or if the length of a column is not `count`.
 */
export function mapColumns(
  kernel: (count: number, block: Offset) => void,
  count: number,
  layout: ColumnLayout,
  inputs: Readonly<Record<string, Column>>,
  outputs: readonly number[],
  into?: readonly Float64Array[],
): readonly Float64Array[] {
  const written = outputs.map(arenaColumn);
  checkLengths(count, inputs);
  const results = into ?? outputs.map(() => new Float64Array(count));
  results.forEach((column, i) => {
    if (column.length !== count) throw lengthError(`into[${i}]`, column.length, count);
  });
  inChunks(count, layout, inputs, (block, start, end) => {
    kernel(end - start, block);
    for (let i = 0; i < results.length; i++) results[i]!.set(rowsOf(written[i]!, 0, end - start), start);
  });
  return results;
}

/**
 * Runs a kernel on one row. The values in `inputs` are in the order of the arena's columns. The caller reads the outputs from the arena.
 * For one row, the function takes a tenth of the time of `mapColumns`.
 */
export function mapRow(kernel: (count: number, block: Offset) => void, inputs: readonly number[]): void {
  owner = undefined;
  for (let i = 0; i < inputs.length; i++) columns[i]![0] = inputs[i]!;
  kernel(1, ARENA_START);
}

/**
 * Returns a view of the rows `start` (included) to `end` (excluded). If the range is the whole column, returns the column, because creating
 * a view takes as long as copying a hundred rows.
 */
function rowsOf(column: Float64Array, start: number, end: number): Float64Array {
  return start === 0 && end === column.length ? column : column.subarray(start, end);
}

/** @throws RangeError if `count` is not a whole number >= 0, or if the length of a column is not `count`. */
export function checkLengths(count: number, columns: Readonly<Record<string, Column | Uint32Array>>): void {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`count must be a whole number, is ${count}`);
  for (const name in columns) {
    const column = columns[name]!;
    if (typeof column !== 'number' && column.length !== count) throw lengthError(name, column.length, count);
  }
}

function lengthError(name: string, length: number, count: number): RangeError {
  return new RangeError(`column ${name} has ${length} rows, expected ${count}`);
}

function load(): Kernels {
  const module = new WebAssembly.Module(readFileSync(wasmPath));
  const imports: KernelImports = { env: { memory }, 'decimal-writer': { writeRare } };
  const { exports } = new WebAssembly.Instance(module, { ...imports });
  const loaded = exports as unknown as Kernels;
  const base = loaded.heapBase();
  if (base > ARENA_START) throw new RangeError(`the kernels' own data ends at ${base}, above the arena's start`);
  const arenaBytes = COLUMNS_MAX * loaded.columnBytes();
  if (ARENA_START + arenaBytes > PAGES * PAGE_BYTES) throw new RangeError(`${arenaBytes} bytes of arena do not fit`);
  return loaded;
}

/** Writes the text of a number that is not 0, without its sign, if the kernel is not sure of it. Returns the offset after the text. */
function writeRare(value: number, digits: number, out: Offset): Offset {
  const size = Math.abs(value);
  const shown = digits > 15 || Number.isInteger(size) ? size : Number(size.toPrecision(digits));
  return out + memoryBytes.write(String(shown), out, 'latin1');
}
