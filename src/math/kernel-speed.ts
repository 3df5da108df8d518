import { greeks } from './black-scholes.ts';

/** Number of options in one call of the kernel. */
const OPTIONS = 512;
/** Time of one part of the measurement, ms. Other work can run between two parts. */
const PIECE_MS = 10;
/** Maximum number of parts. A kernel counts as slow only after this number of parts, because the compiler starts late on a busy machine. */
const PIECES_MAX = 30;
/**
 * On the measured machines, the Greeks of one option take 90 to 300 ns with the runtime's compiler, and 1 to 4 µs without the compiler.
 */
const SLOW_NS = 550;

/** Returns the time for the Greeks of one option in the kernel's fastest call, ns. Takes 10 ms, or 0.3 s if the kernel is slow. */
export async function kernelNsPerOption(): Promise<number> {
  const column = (value: (i: number) => number) => Float64Array.from({ length: OPTIONS }, (_, i) => value(i));
  const options = {
    count: OPTIONS,
    callPut: column((i) => (i % 2 === 0 ? 1 : -1)),
    spot: column(() => 100),
    strike: column((i) => 80 + (40 * i) / OPTIONS),
    tte: column((i) => 0.05 + i / OPTIONS),
    iv: column((i) => 0.15 + 0.2 * (i / OPTIONS)),
    rate: column(() => 0.04),
    dividend: column(() => 0.01),
  };
  let bestMs = Number.POSITIVE_INFINITY;
  const nsPerOption = () => (bestMs * 1e6) / OPTIONS;
  for (let piece = 0; piece < PIECES_MAX && isWithoutCompiler(nsPerOption()); piece++) {
    const until = performance.now() + PIECE_MS;
    do {
      const begin = performance.now();
      greeks(options);
      bestMs = Math.min(bestMs, performance.now() - begin);
    } while (performance.now() < until);
    await new Promise(setImmediate);
  }
  return nsPerOption();
}

/** Returns whether kernels of this speed run without the runtime's compiler. A hardened operating system can forbid the compiler. */
export function isWithoutCompiler(nsPerOption: number): boolean {
  return nsPerOption > SLOW_NS;
}

/** Advice for an operator whose kernels run without the runtime's compiler. */
export const COMPILER_HINT =
  'Allow memory that is writable and executable: remove MemoryDenyWriteExecute= from the unit, or the rule that forbids it.';
