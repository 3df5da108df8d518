import type { KernelExports } from './exports.d.ts';

/** One number for each row, or one number for all rows. */
export type Column = Float64Array | readonly number[] | number;

type Columns<Name extends string> = Readonly<Record<Name, Column>>;
type Results<Name extends string> = Readonly<Record<Name, Float64Array>>;

/** callPut is +1 for a call and -1 for a put. spot and strike are prices, tte is in years, and the others are decimals per year. */
export type Option = 'callPut' | 'spot' | 'strike' | 'tte' | 'iv' | 'rate' | 'dividend';
export type Greek = 'price' | 'delta' | 'theta' | 'rho' | 'charm' | 'gamma' | 'vega' | 'vanna' | 'volga';
export type Jump = 'jumpIntensity' | 'jumpMean' | 'jumpVol';

/** The functions over columns of any length. Each throws a RangeError if columns have different lengths or a column is missing. */
export interface Kernels {
  /** The version of Zomma from which the file was built. */
  readonly version: string | undefined;
  /** The exports of the module, its memory, and the offset of the block, for kernels that have no function here. */
  readonly exports: KernelExports;
  readonly memory: WebAssembly.Memory;
  readonly block: number;
  /** Black-Scholes-Merton, as raw derivatives: per 1.00 of spot, volatility and rate, and per year. */
  greeks(options: Columns<Option>): Results<Greek>;
  /** 0 for a price at or below the intrinsic value, NaN for a price at or above the largest possible one. */
  impliedVolatility(options: Columns<Exclude<Option, 'iv'> | 'price'>): Results<'iv'>;
  /** Merton's jump diffusion: probabilities of an end at or above and below the strike, and prices. */
  merton(options: Columns<Exclude<Option, 'callPut'> | Jump>): Results<'probAbove' | 'probBelow' | 'call' | 'put'>;
}

/** The kernel of each function and its columns, in the order of the block. */
export const FUNCTIONS: Readonly<
  Record<
    'greeks' | 'impliedVolatility' | 'merton',
    {
      readonly kernel: string;
      readonly inputs: readonly string[];
      readonly first: number;
      readonly outputs: readonly string[];
    }
  >
>;

/** Loads the module from bytes or from a URL; without an argument, from kernels.wasm beside this file. */
export function loadKernels(source?: URL | BufferSource): Promise<Kernels>;
