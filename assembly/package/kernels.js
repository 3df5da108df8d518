/** Loads kernels.wasm in Node, Bun and browsers. docs/kernels.md describes the module, and the units of the columns. */

/** The columns of each function, in the order of the block: its inputs are the columns from 0 on, its outputs those from `first` on. */
export const FUNCTIONS = {
  greeks: {
    kernel: 'blackScholes',
    inputs: ['callPut', 'spot', 'strike', 'tte', 'iv', 'rate', 'dividend'],
    first: 9,
    outputs: ['price', 'delta', 'theta', 'rho', 'charm', 'gamma', 'vega', 'vanna', 'volga'],
  },
  impliedVolatility: {
    kernel: 'impliedVolatility',
    inputs: ['callPut', 'price', 'spot', 'strike', 'tte', 'rate', 'dividend'],
    first: 7,
    outputs: ['iv'],
  },
  merton: {
    kernel: 'merton',
    inputs: ['spot', 'strike', 'tte', 'iv', 'rate', 'dividend', 'jumpIntensity', 'jumpMean', 'jumpVol'],
    first: 9,
    outputs: ['probAbove', 'probBelow', 'call', 'put'],
  },
};

const PAGE_BYTES = 65_536;

/** Loads the module from bytes or from a URL, and returns its functions over columns. */
export async function loadKernels(source = new URL('./kernels.wasm', import.meta.url)) {
  const module = await WebAssembly.compile(source instanceof URL ? await bytesOf(source) : source);
  const memory = new WebAssembly.Memory({ initial: 6 });
  const writeRare = () => {
    throw new Error('writeNumbers and writeRows need writeRare of the caller');
  };
  const { exports } = await WebAssembly.instantiate(module, { env: { memory }, 'decimal-writer': { writeRare } });
  const [rows, bytes, columns] = [exports.blockRows(), exports.columnBytes(), exports.blockColumns()];
  const block = Math.ceil(exports.heapBase() / 64) * 64;
  memory.grow(Math.max(0, Math.ceil((block + columns * bytes - memory.buffer.byteLength) / PAGE_BYTES)));
  const arena = Array.from({ length: columns }, (_, i) => new Float64Array(memory.buffer, block + i * bytes, rows));
  const [version] = WebAssembly.Module.customSections(module, 'version').map((text) => new TextDecoder().decode(text));

  const run = ({ kernel, inputs, first, outputs }, given) => {
    const count = inputs.map((name) => given[name]).find(isColumn)?.length ?? 1;
    for (const name of inputs) {
      const column = given[name];
      if (typeof column === 'number' || (isColumn(column) && column.length === count)) continue;
      throw new RangeError(`${name} ${column === undefined ? 'is missing' : `must be a number or ${count} numbers`}`);
    }
    const results = outputs.map(() => new Float64Array(count));
    for (let from = 0; from < count; from += rows) {
      const to = Math.min(from + rows, count);
      inputs.forEach((name, i) => {
        const column = given[name];
        if (typeof column === 'number') arena[i].fill(column, 0, to - from);
        else arena[i].set(from === 0 && to === count ? column : column.slice(from, to));
      });
      exports[kernel](to - from, block, 0);
      results.forEach((column, i) => {
        column.set(arena[first + i].subarray(0, to - from), from);
      });
    }
    return Object.fromEntries(outputs.map((name, i) => [name, results[i]]));
  };
  const functions = Object.entries(FUNCTIONS).map(([name, layout]) => [name, (given) => run(layout, given)]);
  return { version, exports, memory, block, ...Object.fromEntries(functions) };
}

const isColumn = (value) =>
  value instanceof Float64Array || (Array.isArray(value) && value.every((each) => typeof each === 'number'));

/** Returns the bytes of a file or of an address. Node cannot fetch a file. */
async function bytesOf(url) {
  if (url.protocol === 'file:') return (await import('node:fs/promises')).readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response.arrayBuffer();
}
