import { StepMeter, type Steps } from '../core/steps.ts';
import { normalCdf } from './normal.ts';

/**
 * A diffusion with jumps over one unit of time. The value of the diffusion is the distance from a barrier at 0. The caller chooses the unit
 * of the distance, and all present callers use logarithms of prices.
 */
export interface Walk {
  /** Distance from the barrier at the start, >= 0. */
  readonly start: number;
  /** Mean change of the diffusion over the unit of time. A negative mean moves the process toward the barrier. */
  readonly drift: number;
  /** Variance of the diffusion over the unit of time, > 0. */
  readonly variance: number;
  /** Expected number of jumps in the unit of time, >= 0. */
  readonly jumps: number;
  /** Mean size of a jump. A negative mean moves the process toward the barrier. */
  readonly jumpMean: number;
  /** Standard deviation of a jump's size, >= 0. */
  readonly jumpWidth: number;
}

/** The resolution of the computation. */
interface Fineness {
  /** The number of equal intervals in the unit of time. */
  readonly intervals: number;
  /** The number of grid points per standard deviation of the diffusion in an interval, or of a jump if a jump's deviation is smaller. */
  readonly points: number;
}

const FAR: Fineness = { intervals: 16, points: 2.2 };
/**
 * The resolution if the start is at most one standard deviation of the whole walk away from the barrier. The error per interval is largest
 * for a start near the barrier, and grows with the number of jumps in an interval.
 */
const NEAR: Fineness = { intervals: 32, points: 3 };
const NEAR_WITH_MANY_JUMPS: Fineness = { intervals: 64, points: 3 };
const MANY_JUMPS = 2;
/**
 * The grid extends this distance beyond the start, in standard deviations of the whole walk. A walk beyond the grid is treated as if it
 * never returned to the barrier.
 */
const REACH = 4;
/**
 * Maximum distance between start and barrier, in standard deviations of the whole walk. For a larger distance, only jumps can reach the
 * barrier. Without drift, the probability is at most 1/25^2 = 1.6e-3 (Kolmogorov's inequality). This probability is less than the error
 * bound of `passage`, so the result is 0.
 */
const START_MAX = 25;
/**
 * Minimum standard deviation of a jump, in standard deviations of the whole walk. If the standard deviation of a jump is smaller, the
 * computation uses this minimum instead.
 */
const JUMP_WIDTH_MIN = 0.05;
/**
 * Half-width of the interval in which a normal density is computed, in standard deviations. The probability outside this interval is 6e-7.
 */
const KERNEL_DEVIATIONS = 5;
/** If the probability of more than n jumps in an interval is at most this value, the computation assumes at most n jumps. */
const CHANCE_MIN = 1e-4;
/**
 * Maximum number of products in one step of the work. Such a step takes about 3 ms. A product is a value of the density times a value of a
 * kernel.
 */
const STEP_PRODUCTS = 250_000;
const FOLLOWING = { message: 'Computing the passage' };
/** The weights of the grid points next to the barrier, by Gregory's rule. With these weights, the trapezoidal rule has the fourth order. */
const GREGORY = [3 / 8, 7 / 6, 23 / 24];

/**
 * Returns the probability that the walk meets the barrier within the unit of time. Returns 1 if the walk starts at the barrier. The
 * absolute error is at most 2e-3, and usually 1e-4.
 *
 * Between jumps, the walk is a Brownian motion, whose probability of meeting a barrier is known in closed form (reflection principle).
 * Jumps are a Poisson process. The time is divided into short intervals. In each interval, diffusion and jumps are applied one after the
 * other (Strang 1968). A grid contains the density of the walks that have not met the barrier.
 */
export function* passage(walk: Walk): Steps<number> {
  if (walk.start <= 0) return 1;
  if (walk.jumps === 0) return diffusionPassage(walk.start, walk);
  const deviation = deviationOf(walk);
  if (walk.start > START_MAX * deviation) return 0;
  return Math.min(Math.max(yield* splitPassage(walk, deviation), 0), 1);
}

/** Returns the size of the work of `passage`, as the number of products of a density and a kernel. A million products take about 10 ms. */
export function passageProducts(walk: Walk): number {
  const deviation = deviationOf(walk);
  if (walk.start <= 0 || walk.jumps === 0 || walk.start > START_MAX * deviation) return 0;
  const { intervals, ofDiffusion, ofJump } = gridOf(walk, deviation);
  return intervals * (ofDiffusion + jumpNumbers(walk.jumps / intervals).length * ofJump);
}

/** Returns the standard deviation of the whole walk. */
function deviationOf({ variance, jumps, jumpMean, jumpWidth }: Walk): number {
  return Math.sqrt(variance + jumps * (jumpMean ** 2 + jumpWidth ** 2));
}

/** Returns the probability that a Brownian motion without jumps meets the barrier, from a start above 0. */
export function diffusionPassage(start: number, { drift, variance }: Pick<Walk, 'drift' | 'variance'>): number {
  const deviation = Math.sqrt(variance);
  const reflected = normalCdf((drift - start) / deviation);
  // The exponential may overflow if the other factor is 0.
  const returned = reflected > 0 ? Math.exp((-2 * drift * start) / variance + Math.log(reflected)) : 0;
  return Math.min(normalCdf(-(drift + start) / deviation) + returned, 1);
}

function finenessOf({ start, jumps }: Walk, deviation: number): Fineness {
  if (start > deviation) return FAR;
  return jumps > MANY_JUMPS ? NEAR_WITH_MANY_JUMPS : NEAR;
}

/** Returns the intervals and the grid of a walk. `ofDiffusion` and `ofJump` are the products of one interval's diffusion and of one jump. */
function gridOf(walk: Walk, deviation: number) {
  const { intervals, points: fine } = finenessOf(walk, deviation);
  const interval = { drift: walk.drift / intervals, variance: walk.variance / intervals };
  const width = Math.max(walk.jumpWidth, JUMP_WIDTH_MIN * deviation);
  const spacing = Math.min(Math.sqrt(interval.variance), width) / fine;
  const points = Math.ceil((walk.start + REACH * deviation) / spacing);
  const products = (deviation: number) => points * Math.min(points, (2 * KERNEL_DEVIATIONS * deviation) / spacing);
  const [ofDiffusion, ofJump] = [2 * products(Math.sqrt(interval.variance)), products(width)];
  return { intervals, interval, width, spacing, points, ofDiffusion, ofJump };
}

/** Returns a row for each number n = 1, 2, ... of jumps in an interval: the probability of at least n jumps, and of n jumps. */
function jumpNumbers(expected: number): { atLeast: number; exactly: number }[] {
  const numbers: { atLeast: number; exactly: number }[] = [];
  let chance = Math.exp(-expected);
  let atLeast = 1 - chance;
  for (let n = 1; atLeast > 0; n++) {
    chance *= expected / n;
    const exactly = atLeast - chance > CHANCE_MIN ? chance : atLeast;
    numbers.push({ atLeast, exactly });
    atLeast -= exactly;
  }
  return numbers;
}

function* splitPassage(walk: Walk, deviation: number): Steps<number> {
  const { intervals, interval, width, spacing, points, ofDiffusion, ofJump } = gridOf(walk, deviation);
  const half = { drift: interval.drift / 2, variance: interval.variance / 2 };
  const grid = Float64Array.from({ length: points }, (_, i) => i * spacing);
  const weight = Float64Array.from({ length: points }, (_, i) => spacing * (GREGORY[i] ?? 1));
  const met = (density: Float64Array, chance: Float64Array) => {
    let sum = 0;
    for (let i = 0; i < points; i++) sum += weight[i]! * density[i]! * chance[i]!;
    return sum;
  };
  const diffuse = killedDiffusion(points, spacing, interval, weight);
  const jump = killedJump(points, spacing, walk.jumpMean, width, weight);
  const numbers = jumpNumbers(walk.jumps / intervals);
  const none = Math.exp(-walk.jumps / intervals);
  const meter = new StepMeter(STEP_PRODUCTS);
  const byDiffusion = grid.map((from) => diffusionPassage(from, interval));
  const byJump = grid.map((from) => normalCdf(-(from + walk.jumpMean) / width));

  // The same grid also computes the walk without jumps. The exact probability of the walk without jumps is known, so the error of the grid
  // is known. The result is corrected by this error.
  let passed = diffusionPassage(walk.start, half);
  let passedPlain = passed;
  let density: Float64Array = grid.map((to) => passing(to, walk.start, half));
  let plain = density;
  for (let i = 0; i < intervals; i++) {
    if (i > 0) {
      if (meter.beginsNextStep(ofDiffusion)) yield FOLLOWING;
      passed += met(density, byDiffusion);
      density = diffuse(density);
      passedPlain += met(plain, byDiffusion);
      plain = diffuse(plain);
    }
    // For each number n of jumps in this interval, adds the density after n jumps, multiplied by the Poisson probability of n jumps.
    let after = density;
    const next = density.map((each) => none * each);
    for (const { atLeast, exactly } of numbers) {
      if (meter.beginsNextStep(ofJump)) yield FOLLOWING;
      passed += atLeast * met(after, byJump);
      after = jump(after);
      for (let to = 0; to < points; to++) next[to]! += exactly * after[to]!;
    }
    density = next;
  }
  const last = grid.map((from) => diffusionPassage(from, half));
  passed += met(density, last);
  passedPlain += met(plain, last);
  return passed + Math.exp(-walk.jumps) * (diffusionPassage(walk.start, walk) - passedPlain);
}

/** Returns the density at `to` of a Brownian motion that starts at `from` and has not reached 0. */
function passing(to: number, from: number, { drift, variance }: { drift: number; variance: number }): number {
  const off = to - from - drift;
  return (
    (Math.exp((-off * off) / (2 * variance)) / Math.sqrt(2 * Math.PI * variance)) *
    -Math.expm1((-2 * to * from) / variance)
  );
}

type Transition = (density: Float64Array) => Float64Array<ArrayBuffer>;

/** Returns a function that applies the diffusion of one interval to a density. Walks that reach 0 are removed. */
function killedDiffusion(
  points: number,
  spacing: number,
  interval: { drift: number; variance: number },
  weight: Float64Array,
): Transition {
  const reach = KERNEL_DEVIATIONS * Math.sqrt(interval.variance) + Math.abs(interval.drift);
  const band = Math.min(Math.ceil(reach / spacing), points);
  const kernel = new Float64Array(points * (2 * band + 1));
  for (let to = 0; to < points; to++) {
    for (let by = -band; by <= band; by++) {
      const from = to + by;
      if (from < 0 || from >= points) continue;
      kernel[to * (2 * band + 1) + by + band] = weight[from]! * passing(to * spacing, from * spacing, interval);
    }
  }
  return (density) => {
    const next = new Float64Array(points);
    for (let to = 0; to < points; to++) {
      const [first, last] = [Math.max(-band, -to), Math.min(band, points - 1 - to)];
      const row = to * (2 * band + 1) + band;
      let sum = 0;
      for (let by = first; by <= last; by++) sum += kernel[row + by]! * density[to + by]!;
      next[to] = sum;
    }
    return next;
  };
}

/** Returns a function that applies one jump to a density. Walks that jump below 0 are removed. */
function killedJump(points: number, spacing: number, mean: number, width: number, weight: Float64Array): Transition {
  const first = Math.ceil((mean - KERNEL_DEVIATIONS * width) / spacing);
  const last = Math.floor((mean + KERNEL_DEVIATIONS * width) / spacing);
  const kernel = Float64Array.from({ length: last - first + 1 }, (_, i) => {
    const off = ((first + i) * spacing - mean) / width;
    return Math.exp((-off * off) / 2) / (width * Math.sqrt(2 * Math.PI));
  });
  return (density) => {
    const weighted = density.map((each, i) => each * weight[i]!);
    const next = new Float64Array(points);
    for (let to = 0; to < points; to++) {
      const [low, high] = [Math.max(first, to - points + 1), Math.min(last, to)];
      let sum = 0;
      for (let by = low; by <= high; by++) sum += kernel[by - first]! * weighted[to - by]!;
      next[to] = sum;
    }
    return next;
  };
}
