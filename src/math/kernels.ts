import { readFileSync } from 'node:fs';
import wasmPath from '../../build/kernels.wasm' with { type: 'file' };

/** One value a row, or one for all rows. */
export type Column = Float64Array | number;

/** Rows worked on at a time: sixteen columns of them stay within a core's second-level cache. */
export const CHUNK_ROWS = 1024;

const COLUMN_BYTES = CHUNK_ROWS * Float64Array.BYTES_PER_ELEMENT;
const COLUMNS_MAX = 16;
const PAGE_BYTES = 65_536;
/** The module's own constants end here, at the most; checked when it is loaded. */
const ARENA_START = PAGE_BYTES;
const PAGES = (ARENA_START + COLUMNS_MAX * COLUMN_BYTES) / PAGE_BYTES;

type Offset = number;

/** What assembly/index.ts exports. */
interface Kernels {
  heapBase(): number;
  blackScholes(count: number, ...columns: Offset[]): void;
  impliedVolatility(count: number, ...columns: Offset[]): void;
  merton(count: number, ...columns: Offset[]): void;
  addGammaByStrike(
    count: number,
    gamma: Offset,
    weight: Offset,
    strikeIndex: Offset,
    first: number,
    strikes: number,
    sums: Offset,
  ): void;
  addGammaProfile(
    count: number,
    strike: Offset,
    tte: Offset,
    iv: Offset,
    rate: Offset,
    dividend: Offset,
    weight: Offset,
    reference: number,
    levels: number,
    moves: Offset,
    sums: Offset,
  ): void;
  logMoves(count: number, levels: Offset, reference: number, moves: Offset): void;
  cumulative(x: number): number;
  inverseCumulative(p: number): number;
}

// Of fixed size: growing a memory detaches every view of it.
const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });

/** The compiled kernels. They keep no state between calls and know only the arena's columns. */
export const kernels = load();

const columns = Array.from(
  { length: COLUMNS_MAX },
  (_, at) => new Float64Array(memory.buffer, ARENA_START + at * COLUMN_BYTES, CHUNK_ROWS),
);

/** The arena's column at `index`, for at most CHUNK_ROWS rows at a time; its content lasts until the next kernel call. */
export function arenaColumn(index: number): Float64Array {
  const column = columns[index];
  if (!column) throw new RangeError(`the kernel arena has ${COLUMNS_MAX} columns, there is no column ${index}`);
  return column;
}

/**
 * Runs a kernel that works row by row over columns of any length, chunk by chunk, and gives `outputs` new columns.
 * @throws RangeError where the count is no count or a column is of another length.
 */
export function mapColumns(
  kernel: (count: number, ...columns: Offset[]) => void,
  count: number,
  inputs: Readonly<Record<string, Column>>,
  outputs: number,
): Float64Array[] {
  checkLengths(count, inputs);
  const given = Object.values(inputs);
  const used = Array.from({ length: given.length + outputs }, (_, at) => arenaColumn(at));
  const offsets = used.map((column) => column.byteOffset);
  const results = Array.from({ length: outputs }, () => new Float64Array(count));
  given.forEach((column, at) => {
    if (typeof column === 'number') used[at]!.fill(column, 0, Math.min(count, CHUNK_ROWS));
  });
  for (let start = 0; start < count; start += CHUNK_ROWS) {
    const end = Math.min(start + CHUNK_ROWS, count);
    given.forEach((column, at) => {
      if (typeof column !== 'number') used[at]!.set(column.subarray(start, end));
    });
    kernel(end - start, ...offsets);
    results.forEach((result, at) => {
      result.set(used[given.length + at]!.subarray(0, end - start), start);
    });
  }
  return results;
}

/** @throws RangeError that names the first column whose length is not the count. */
export function checkLengths(count: number, columns: Readonly<Record<string, Column | Uint32Array>>): void {
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError(`count must be a whole number, is ${count}`);
  for (const [name, column] of Object.entries(columns)) {
    if (typeof column !== 'number' && column.length !== count) {
      throw new RangeError(`column ${name} has ${column.length} rows, expected ${count}`);
    }
  }
}

function load(): Kernels {
  const module = new WebAssembly.Module(readFileSync(wasmPath));
  const { exports } = new WebAssembly.Instance(module, { env: { memory, abort } });
  const loaded = exports as unknown as Kernels;
  const base = loaded.heapBase();
  if (base > ARENA_START) throw new RangeError(`the kernels' own data ends at ${base}, above the arena's start`);
  return loaded;
}

function abort(): never {
  throw new Error('a kernel aborted');
}
