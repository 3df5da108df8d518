import {
  BlackScholesColumn,
  GammaProfileColumn,
  ImpliedVolatilityColumn,
  MertonColumn,
} from '../../assembly/columns.ts';
import type { instantiate } from '../../build/kernels.d.ts';
import { worstError } from '../../src/bench/reference-errors.ts';
import { distinctOptions, jumpsFor, type OptionSet, outOfTheMoney } from '../../src/bench/workloads.ts';
import type { ReferenceSample } from './reference-sample.ts';

const COLUMNS = 24;
const PAGE_BYTES = 65_536;
const PAGES = 6;
/** The columns begin behind the constants of the module, as in the server's loader (src/math/kernels.ts). */
const ARENA_START = PAGE_BYTES;

type Exports = Omit<Awaited<ReturnType<typeof instantiate>>, 'memory'>;
type Kernel = (count: number, block: number) => void;
/** One value for each row, or one number for all rows. */
type Input = Float64Array | number;

/** The server's kernels, running in this browser. */
export interface BrowserKernels {
  readonly exports: Exports;
  /** The columns of the kernels' memory. */
  readonly columns: readonly Float64Array[];
  /** Copies the rows of the inputs into the first columns, and calls `work` for each chunk of rows. */
  inChunks(count: number, inputs: readonly Input[], work: (rows: number, block: number, start: number) => void): void;
  /** Runs a kernel over columns of any length. Returns the columns at `outputs`, copied into new columns or into `into`. */
  map(kernel: Kernel, count: number, inputs: readonly Input[], outputs: readonly number[], into?: Columns): Columns;
}

type Columns = readonly Float64Array[];

/** Compiles the file whose path the page names. Rejects if the browser cannot compile it. */
export async function compileKernels(path: string): Promise<BrowserKernels> {
  return startKernels(await WebAssembly.compileStreaming(fetch(path)));
}

export function startKernels(module: WebAssembly.Module): BrowserKernels {
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
  const abort = () => {
    throw new Error('a kernel aborted');
  };
  const exports = new WebAssembly.Instance(module, { env: { memory, abort } }).exports as unknown as Exports;
  const chunk = exports.blockRows();
  const columns = Array.from(
    { length: COLUMNS },
    (_, i) => new Float64Array(memory.buffer, ARENA_START + i * exports.columnBytes(), chunk),
  );
  const rowsOf = (column: Float64Array, start: number, end: number) =>
    start === 0 && end === column.length ? column : column.subarray(start, end);
  const inChunks: BrowserKernels['inChunks'] = (count, inputs, work) => {
    inputs.forEach((input, i) => {
      if (typeof input === 'number') columns[i]!.fill(input, 0, Math.min(count, chunk));
    });
    for (let start = 0; start < count; start += chunk) {
      const end = Math.min(start + chunk, count);
      for (let i = 0; i < inputs.length; i++) {
        const input = inputs[i]!;
        if (typeof input !== 'number') columns[i]!.set(rowsOf(input, start, end));
      }
      work(end - start, ARENA_START, start);
    }
  };
  return {
    exports,
    columns,
    inChunks,
    map(kernel, count, inputs, outputs, into = outputs.map(() => new Float64Array(count))) {
      inChunks(count, inputs, (rows, block, start) => {
        kernel(rows, block);
        for (let i = 0; i < into.length; i++) into[i]!.set(rowsOf(columns[outputs[i]!]!, 0, rows), start);
      });
      return into;
    },
  };
}

/** Work whose time is measured: that of a row of `zomma bench`, on the same inputs. */
export interface KernelWork {
  readonly kernel: string;
  /** Name of a unit of work, and how many of them a run has. */
  readonly unit: string;
  readonly units: number;
  /** Does the work once, copies included. */
  run(): Columns;
}

/** Number of options of the workloads. */
export const BENCH_OPTIONS = 4096;
const LEVELS = 200;
const LEVEL_SPOTS = Float64Array.from({ length: LEVELS }, (_, i) => 100 + i);

/** The server's order of prices and Greeks. Members are named one by one, because the bundler then inlines their positions. */
const ONE = [
  BlackScholesColumn.price,
  BlackScholesColumn.delta,
  BlackScholesColumn.gamma,
  BlackScholesColumn.vega,
  BlackScholesColumn.theta,
  BlackScholesColumn.rho,
  BlackScholesColumn.vanna,
  BlackScholesColumn.charm,
  BlackScholesColumn.volga,
];
const PAIR = [
  ...ONE,
  BlackScholesColumn.putPrice,
  BlackScholesColumn.putDelta,
  BlackScholesColumn.putTheta,
  BlackScholesColumn.putRho,
  BlackScholesColumn.putCharm,
];
const MERTON = [MertonColumn.probAbove, MertonColumn.probBelow, MertonColumn.call, MertonColumn.put];

const inputsOf = ({ spot, strike, tte, iv, rate, dividend }: OptionSet) => [spot, strike, tte, iv, rate, dividend];

/** Price and Greeks of options, raw, in the order of the server's binary answer. The inputs are in the order of the kernel. */
export function greekColumns(kernels: BrowserKernels, inputs: Columns, into?: Columns): Columns {
  const kernel: Kernel = (count, block) => kernels.exports.blackScholes(count, block, false);
  return kernels.map(kernel, inputs[0]!.length, inputs, ONE, into);
}

/** The inputs of `greekColumns`, which are also the columns of a binary request. */
export function optionInputs(options: OptionSet): Columns {
  return [options.callPut, ...inputsOf(options)];
}

function volatilities(kernels: BrowserKernels, options: Columns, prices: Float64Array): Columns {
  const [callPut, spot, strike, tte, , rate, dividend] = options as Float64Array[];
  const inputs = [callPut!, prices, spot!, strike!, tte!, rate!, dividend!];
  return kernels.map(kernels.exports.impliedVolatility, prices.length, inputs, [ImpliedVolatilityColumn.iv]);
}

/** Returns the work of every row of `zomma bench`, on its inputs. */
export function kernelWork(kernels: BrowserKernels): KernelWork[] {
  const { exports } = kernels;
  const options = distinctOptions(BENCH_OPTIONS);
  const inputs = optionInputs(options);
  const quoted = optionInputs(outOfTheMoney(options));
  const prices = greekColumns(kernels, quoted)[0]!;
  const { jumpIntensity, jumpMean, jumpVol } = jumpsFor(options);
  const jumps = [...inputsOf(options), jumpIntensity, jumpMean, jumpVol];
  const pairs: Kernel = (count, block) => exports.blackScholesPair(count, block, false);
  const pairInputs = [0, ...inputsOf(options)];
  const one = greekColumns(kernels, inputs);
  const two = kernels.map(pairs, BENCH_OPTIONS, pairInputs, PAIR);
  const work = (kernel: string, run: () => Columns, unit = 'option', units = BENCH_OPTIONS): KernelWork => ({
    kernel,
    unit,
    units,
    run,
  });
  const profile = (name: string, isLogarithmic: boolean) =>
    work(
      `gamma profile, ${name} levels`,
      () => gammaProfile(kernels, options, isLogarithmic),
      'contract and level',
      BENCH_OPTIONS * LEVELS,
    );
  return [
    work('price and eight Greeks', () => greekColumns(kernels, inputs, one)),
    work(
      'price and eight Greeks, call and put',
      () => kernels.map(pairs, BENCH_OPTIONS, pairInputs, PAIR, two),
      'option',
      2 * BENCH_OPTIONS,
    ),
    work('implied volatility', () => volatilities(kernels, quoted, prices)),
    work('Merton probabilities', () =>
      kernels.map(exports.mertonProbabilities, BENCH_OPTIONS, jumps, MERTON.slice(0, 2)),
    ),
    work('Merton probabilities and prices', () => kernels.map(exports.merton, BENCH_OPTIONS, jumps, MERTON)),
    profile('log-spaced', true),
    profile('any', false),
  ];
}

/** Sums gamma over the options at LEVELS levels of spot, each option with the weight of its side. */
function gammaProfile({ exports, columns, inChunks }: BrowserKernels, options: OptionSet, isLogarithmic: boolean) {
  const { count, strike, tte, iv, rate, dividend, callPut } = options;
  const moves = columns[GammaProfileColumn.moves]!.byteOffset;
  // Two partial sums of each level, in two neighbouring columns.
  const { buffer, byteOffset } = columns[GammaProfileColumn.sums]!;
  const sums = new Float64Array(buffer, byteOffset, 2 * LEVELS).fill(0);
  const first = LEVEL_SPOTS[0]!;
  const step = Math.log(1.5) / (LEVELS - 1);
  if (!isLogarithmic) {
    const levels = columns[GammaProfileColumn.levels]!;
    levels.set(LEVEL_SPOTS);
    exports.logMoves(LEVELS, levels.byteOffset, first, moves);
  }
  inChunks(count, [strike, tte, iv, rate, dividend, callPut], (rows, block) => {
    if (isLogarithmic) exports.addGammaLogProfile(rows, block, first, step, LEVELS, byteOffset);
    else exports.addGammaProfile(rows, block, first, LEVELS, moves, byteOffset);
  });
  return [Float64Array.from({ length: LEVELS }, (_, i) => sums[2 * i]! + sums[2 * i + 1]!)];
}

/** The largest error of an output. `src/bench/reference-errors.ts` defines the scale. */
export interface BrowserError {
  readonly kernel: string;
  readonly output: string;
  readonly worstScaledError: number;
}

/** Compares the kernels with reference values. */
export function browserAccuracy(kernels: BrowserKernels, sample: ReferenceSample): BrowserError[] {
  const columnOf = (numbers: ReferenceSample['prices']) => Float64Array.from(numbers, (each) => each ?? Number.NaN);
  const options = sample.options.map(columnOf);
  const jumps = sample.jumps.map(columnOf);
  const [above, , call, put] = kernels.map(kernels.exports.merton, jumps[0]!.length, jumps, MERTON);
  const [solved] = volatilities(kernels, options, columnOf(sample.prices));
  const values = [...greekColumns(kernels, options), solved, above, call, put];
  return sample.outputs.map(({ kernel, output, exact, condition }, i) => ({
    kernel,
    output,
    worstScaledError: worstError(values[i]!, columnOf(exact), columnOf(condition)).worstScaledError,
  }));
}
