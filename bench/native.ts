import { dlopen, FFIType } from 'bun:ffi';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OptionSet } from '../src/bench/workloads.ts';

/** Native code that does the same work as the kernels. A library is `undefined` if it could not be built. */
export interface Native {
  readonly avx2: (Greeks & Profile) | undefined;
  readonly libm: Greeks | undefined;
  readonly quantlib: (Greeks & Volatilities) | undefined;
  readonly letsBeRational: Volatilities | undefined;
  /** The sources that could not be built, with the reasons. */
  readonly missing: readonly string[];
}

interface Greeks {
  /**
   * Computes prices and Greeks. `input` has seven columns of `count` doubles, one after the other: call or put (+1, -1), spot, strike,
   * time, volatility, rate, dividend yield. `output` gets the columns price, delta, gamma, vega, theta, rho, and, except from QuantLib,
   * vanna, charm and volga.
   */
  greeks(count: number, input: Float64Array, output: Float64Array): void;
}

interface Volatilities {
  impliedVolatility(count: number, input: Float64Array, iv: Float64Array): void;
}

interface Profile {
  gammaProfile(count: number, input: Float64Array, levels: Float64Array, sums: Float64Array): void;
}

export const FLAGS = ['-O3', '-march=native', '-shared', '-fPIC'];
/** The sources of Let's Be Rational, which no registry has. The variable names the folder with them, for example of github.com/vollib. */
const RATIONAL_SOURCES = ['LetsBeRational.cpp', 'erf_cody.cpp', 'normaldistribution.cpp', 'rationalcubic.cpp'];
const RATIONAL_FOLDER = 'ZOMMA_LETS_BE_RATIONAL';
const GREEKS = { args: [FFIType.i64, FFIType.ptr, FFIType.ptr, FFIType.i64], returns: FFIType.void } as const;

/**
 * Compiles and loads the native code. Leaves out a source if its compiler or library is missing. Leaves out avx2.c if the processor has no
 * AVX2.
 */
export function buildNative(withQuantlib = true): Native {
  const folder = mkdtempSync(join(tmpdir(), 'zomma-bench-'));
  const missing: string[] = [];
  const build = (compiler: string, source: string, libraries: string[]): string | undefined => {
    const library = join(folder, `${source}.so`);
    if (Bun.which(compiler) === null) {
      missing.push(`${source} (no ${compiler})`);
      return undefined;
    }
    Bun.spawnSync([compiler, ...FLAGS, '-o', library, join(import.meta.dir, 'native', source), ...libraries], {
      stderr: 'ignore',
    });
    if (existsSync(library)) return library;
    missing.push(`${source} (compilation failed)`);
    return undefined;
  };
  const avx2 = hasAvx2() ? build('cc', 'avx2.c', []) : undefined;
  const libm = build('cc', 'libm.c', ['-lm']);
  const rationalFolder = process.env[RATIONAL_FOLDER];
  const rationalFiles = RATIONAL_SOURCES.map((name) => join(rationalFolder ?? '', name));
  if (!rationalFolder)
    missing.push(
      `Let's Be Rational (no registry has its C++ sources, and ${RATIONAL_FOLDER} names no folder with them)`,
    );
  const rational = rationalFolder && build('c++', 'lets-be-rational.cpp', rationalFiles);
  const quantlib = withQuantlib ? build('c++', 'quantlib.cpp', ['-lQuantLib']) : undefined;
  return {
    avx2: avx2 === undefined ? undefined : openAvx2(avx2),
    libm: libm === undefined ? undefined : { greeks: greeksOf(dlopen(libm, { greeks: GREEKS }).symbols) },
    quantlib: quantlib === undefined ? undefined : openQuantlib(quantlib),
    letsBeRational: rational ? volatilitiesOf(dlopen(rational, { implied_volatility: GREEKS }).symbols) : undefined,
    missing,
  };
}

/** Returns the columns of a set of options, one after the other, as the input of native code. */
export function packed(options: OptionSet, extra: readonly Float64Array[] = []): Float64Array {
  const { count, callPut, spot, strike, tte, iv, rate, dividend } = options;
  const columns = [callPut, spot, strike, tte, iv, rate, dividend, ...extra];
  const all = new Float64Array(count * columns.length);
  for (const [i, column] of columns.entries()) all.set(column, i * count);
  return all;
}

function openAvx2(library: string) {
  const { symbols } = dlopen(library, {
    greeks: GREEKS,
    gamma_profile: {
      args: [FFIType.i64, FFIType.ptr, FFIType.i64, FFIType.ptr, FFIType.ptr, FFIType.i64],
      returns: FFIType.void,
    },
  });
  return {
    greeks: greeksOf(symbols),
    gammaProfile: (count: number, input: Float64Array, levels: Float64Array, sums: Float64Array) => {
      symbols.gamma_profile(count, input, count, levels, sums, levels.length);
    },
  };
}

function openQuantlib(library: string) {
  const { symbols } = dlopen(library, { greeks: GREEKS, implied_volatility: GREEKS });
  return { greeks: greeksOf(symbols), ...volatilitiesOf(symbols) };
}

function volatilitiesOf({ implied_volatility }: { implied_volatility: NativeGreeks }): Volatilities {
  return { impliedVolatility: (count, input, iv) => void implied_volatility(count, input, iv, count) };
}

type NativeGreeks = (count: number, input: Float64Array, output: Float64Array, stride: number) => unknown;

function greeksOf({ greeks }: { greeks: NativeGreeks }) {
  return (count: number, input: Float64Array, output: Float64Array) => void greeks(count, input, output, count);
}

function hasAvx2(): boolean {
  const { stdout } = Bun.spawnSync(['grep', '-c', '-m1', 'avx2', '/proc/cpuinfo'], { stderr: 'ignore' });
  return stdout.toString().trim() === '1';
}
