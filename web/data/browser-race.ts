import type { KernelWork } from './browser-kernels.ts';

/** Times of one piece of work, nanoseconds per unit. */
export interface MeasuredTime {
  /** Median over the rounds. */
  readonly ns: number;
  /** First and third quartile over the rounds. */
  readonly spread: readonly [low: number, high: number];
  /** Number of rounds. */
  readonly n: number;
}

export interface MeasureOptions {
  /** Time that the work takes in a round, ms. */
  readonly sliceMs: number;
  readonly rounds: number;
  /** Waits until the page had its turn. Rejects if the run is canceled. */
  pause(): Promise<void>;
  /** Gets the share of the rounds that are done, 0 to 1. */
  onProgress(share: number): void;
}

/** A round lasts at least this long, ms, as in `zomma bench`. */
const SLICE_MS = 10;
/** A round lasts no longer, ms, because the page cannot react meanwhile. */
const SLICE_MS_MAX = 100;
/** A step of the browser's clock is at most this share of a round, except with clocks of more than 2 ms. */
const STEP_SHARE = 0.02;

/**
 * Returns the step of the browser's clock, ms: the median difference of two readings that differ. Browsers coarsen the clock on purpose,
 * mostly to 0.1 or 1 ms.
 */
export function clockStepMs(): number {
  const steps: number[] = [];
  const started = performance.now();
  for (let last = started; steps.length < 25 && last - started < 50; ) {
    const now = performance.now();
    if (now > last) steps.push(now - last);
    last = now;
  }
  return quartilesOf(steps).ns || SLICE_MS_MAX;
}

/** Returns the time that the work takes in a round, for a step of the clock. Both in ms. */
export function sliceFor(stepMs: number): number {
  return Math.min(SLICE_MS_MAX, Math.max(SLICE_MS, stepMs / STEP_SHARE));
}

/** Number of runs after which the compiler has optimised the work, as in `zomma bench`. */
const WARM_RUNS = 60;

/** Measures work in rounds, after a warm-up. Rejects if `pause` rejects. */
export async function measureWork(
  { run, units }: KernelWork,
  { sliceMs, rounds, pause, onProgress }: MeasureOptions,
): Promise<MeasuredTime> {
  let [runs, passed, repeats, fastest] = [0, 0, 1, Number.POSITIVE_INFINITY];
  while (passed < 4 * sliceMs || (runs < WARM_RUNS && passed < 100 * sliceMs)) {
    const ms = timeOf(run, repeats);
    [runs, passed] = [runs + repeats, passed + ms];
    // The clock may be too coarse for few runs.
    if (ms < sliceMs / 2) repeats *= 2;
    else fastest = Math.min(fastest, ms / repeats);
    await pause();
  }
  repeats = Math.max(1, Math.round(sliceMs / Math.min(fastest, passed / runs)));
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    times.push((1e6 * timeOf(run, repeats)) / repeats / units);
    onProgress((round + 1) / rounds);
    await pause();
  }
  return quartilesOf(times);
}

function timeOf(run: () => unknown, repeats: number): number {
  const started = performance.now();
  for (let i = 0; i < repeats; i++) run();
  return performance.now() - started;
}

/** Returns median and quartiles. All are NaN if there are no values. */
export function quartilesOf(values: readonly number[]): MeasuredTime {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { ns: at(0.5), spread: [at(0.25), at(0.75)], n: values.length };
}

/** Lets the page react and draw. Rejects with `AbortError` if the signal is aborted. */
export function pageTurn(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => setTimeout(() => (signal.aborted ? reject(signal.reason) : resolve())));
}
