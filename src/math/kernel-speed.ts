import { greeks } from './black-scholes.ts';

/** Options of one call. */
const OPTIONS = 512;
/** Time of one piece of the measurement, ms. Other work can run between two pieces. */
const PIECE_MS = 10;
/** On a busy machine, the compiler gets its turn late. So a slow kernel is measured in this many pieces before it is called slow. */
const PIECES_MAX = 30;
/**
 * On the machines that were measured, the runtime takes 100 to 300 ns for the Greeks of an option with its compiler, and 2 to 7 µs without it.
 */
const SLOW_NS = 1_000;

/** Returns the time that the kernel of the Greeks takes for an option, ns: the best call. Takes 10 ms, or 0.3 s if the kernel is slow. */
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

/** Whether kernels of this speed run without the runtime's compiler, which a hardened unit or kernel can forbid. */
export function isWithoutCompiler(nsPerOption: number): boolean {
  return nsPerOption > SLOW_NS;
}

/** What an operator can do about kernels that run without the runtime's compiler. */
export const COMPILER_HINT =
  'Allow memory that is writable and executable: remove MemoryDenyWriteExecute= from the unit, or the rule that forbids it.';
