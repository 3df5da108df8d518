import { runToCompletion, StepMeter, type Steps } from '../steps.ts';
import { normalCdf } from './normal.ts';

/** The distance to a barrier at 0: a diffusion with jumps, over one unit of time. Callers use logarithms of price. Any unit works. */
export interface Walk {
  /** Distance from the barrier at the start, >= 0. */
  readonly start: number;
  /** Mean change of the diffusion over the unit of time. Negative is toward the barrier. */
  readonly drift: number;
  /** Variance of the diffusion over the unit of time, > 0. */
  readonly variance: number;
  /** Expected number of jumps, >= 0. */
  readonly jumps: number;
  /** Mean of a jump. Negative is toward the barrier. */
  readonly jumpMean: number;
  /** Standard deviation of a jump, >= 0. */
  readonly jumpWidth: number;
}

/** Resolution: the number of time steps, and the least number of grid points for a standard deviation of a step and of a jump. */
interface Fineness {
  readonly steps: number;
  readonly points: number;
}

const FAR: Fineness = { steps: 16, points: 2.2 };
/**
 * For starts within one standard deviation of the whole walk. There the error of a step is largest, and it grows with the number of jumps
 * in a step.
 */
const NEAR: Fineness = { steps: 32, points: 3 };
const NEAR_WITH_MANY_JUMPS: Fineness = { steps: 64, points: 3 };
const MANY_JUMPS = 2;
/** The grid ends this many standard deviations of the whole walk beyond the start. Nothing comes back from there. */
const REACH = 4;
/** Largest start, in standard deviations of the whole walk. Only jumps could reach a barrier further away, so the probability is 0. */
const START_MAX = 25;
/** Least width of jumps, in standard deviations of the whole walk. Narrower jumps are taken to have this width. */
const JUMP_WIDTH_MIN = 0.05;
/** Half-width of a normal kernel, in standard deviations. What lies beyond is 6e-7 of it. */
const KERNEL_DEVIATIONS = 5;
/** If the probability of still more jumps in a step is at most this, the step is taken to have no more jumps. */
const CHANCE_MIN = 1e-4;
/** Products of densities and kernels in a step of the work of some 3 ms. */
const STEP_PRODUCTS = 250_000;
const FOLLOWING = { message: 'Computing the passage' };
/** Weights of Gregory's rule at the near end of the grid: the trapezoidal rule to the fourth order. */
const GREGORY = [3 / 8, 7 / 6, 23 / 24];

/**
 * Probability that the walk meets the barrier by the end of its time. 1 if it starts there. Between jumps the walk is a Brownian motion,
 * whose passage of a barrier is known (reflection principle). Jumps arrive at the rate of a Poisson process. Short steps of diffusion and
 * of jumps alternate (Strang 1968). A grid carries the density of the walks that have not met the barrier, and the probability of meeting
 * it within a step is known in closed form. Accurate to 2e-3, and usually to 1e-4.
 */
export function passage(walk: Walk): number {
  return runToCompletion(passageInSteps(walk));
}

export function* passageInSteps(walk: Walk): Steps<number> {
  if (walk.start <= 0) return 1;
  if (walk.jumps === 0) return diffusionPassage(walk.start, walk);
  const deviation = Math.sqrt(walk.variance + walk.jumps * (walk.jumpMean ** 2 + walk.jumpWidth ** 2));
  if (walk.start > START_MAX * deviation) return 0;
  return Math.min(Math.max(yield* splitPassage(walk, deviation), 0), 1);
}

/** Passage of a Brownian motion without jumps, from a start above 0. */
function diffusionPassage(start: number, { drift, variance }: Pick<Walk, 'drift' | 'variance'>): number {
  const deviation = Math.sqrt(variance);
  const reflected = normalCdf((drift - start) / deviation);
  // The exponential may overflow where the other factor is 0.
  const returned = reflected > 0 ? Math.exp((-2 * drift * start) / variance + Math.log(reflected)) : 0;
  return Math.min(normalCdf(-(drift + start) / deviation) + returned, 1);
}

function finenessOf({ start, jumps }: Walk, deviation: number): Fineness {
  if (start > deviation) return FAR;
  return jumps > MANY_JUMPS ? NEAR_WITH_MANY_JUMPS : NEAR;
}

function* splitPassage(walk: Walk, deviation: number): Steps<number> {
  const { steps, points: fine } = finenessOf(walk, deviation);
  const step = { drift: walk.drift / steps, variance: walk.variance / steps };
  const half = { drift: step.drift / 2, variance: step.variance / 2 };
  const width = Math.max(walk.jumpWidth, JUMP_WIDTH_MIN * deviation);
  const spacing = Math.min(Math.sqrt(step.variance), width) / fine;
  const points = Math.ceil((walk.start + REACH * deviation) / spacing);
  const grid = Float64Array.from({ length: points }, (_, i) => i * spacing);
  const weight = Float64Array.from({ length: points }, (_, i) => spacing * (GREGORY[i] ?? 1));
  const met = (density: Float64Array, chance: Float64Array) => {
    let sum = 0;
    for (let i = 0; i < points; i++) sum += weight[i]! * density[i]! * chance[i]!;
    return sum;
  };
  const diffuse = killedDiffusion(points, spacing, step, weight);
  const jump = killedJump(points, spacing, walk.jumpMean, width, weight);
  const products = (deviation: number) => points * Math.min(points, (2 * KERNEL_DEVIATIONS * deviation) / spacing);
  const [ofDiffusion, ofJump] = [2 * products(Math.sqrt(step.variance)), products(width)];
  const meter = new StepMeter(STEP_PRODUCTS);
  const byDiffusion = grid.map((from) => diffusionPassage(from, step));
  const byJump = grid.map((from) => normalCdf(-(from + walk.jumpMean) / width));

  // The walk without jumps is computed on the same grid. Its exact passage is known, so its error on the grid corrects the result.
  let passed = diffusionPassage(walk.start, half);
  let passedPlain = passed;
  let density: Float64Array = grid.map((to) => passing(to, walk.start, half));
  let plain = density;
  for (let i = 0; i < steps; i++) {
    if (i > 0) {
      if (meter.isFull(ofDiffusion)) yield FOLLOWING;
      passed += met(density, byDiffusion);
      density = diffuse(density);
      passedPlain += met(plain, byDiffusion);
      plain = diffuse(plain);
    }
    // Every number of jumps that the step may have, by its Poisson weight.
    let chance = Math.exp(-walk.jumps / steps);
    let more = 1 - chance;
    let after = density;
    const next = density.map((each) => chance * each);
    for (let n = 1; more > 0; n++) {
      if (meter.isFull(ofJump)) yield FOLLOWING;
      passed += more * met(after, byJump);
      after = jump(after);
      chance *= walk.jumps / steps / n;
      const its = more - chance > CHANCE_MIN ? chance : more;
      more -= its;
      for (let to = 0; to < points; to++) next[to]! += its * after[to]!;
    }
    density = next;
  }
  const last = grid.map((from) => diffusionPassage(from, half));
  passed += met(density, last);
  passedPlain += met(plain, last);
  return passed + Math.exp(-walk.jumps) * (diffusionPassage(walk.start, walk) - passedPlain);
}

/** Density at `to` of a Brownian motion from `from` that has not met 0 on its way. */
function passing(to: number, from: number, { drift, variance }: { drift: number; variance: number }): number {
  const off = to - from - drift;
  return (
    (Math.exp((-off * off) / (2 * variance)) / Math.sqrt(2 * Math.PI * variance)) *
    -Math.expm1((-2 * to * from) / variance)
  );
}

type Step = (density: Float64Array) => Float64Array<ArrayBuffer>;

/** A step of the diffusion. Walks that meet 0 are removed. */
function killedDiffusion(
  points: number,
  spacing: number,
  step: { drift: number; variance: number },
  weight: Float64Array,
): Step {
  const reach = KERNEL_DEVIATIONS * Math.sqrt(step.variance) + Math.abs(step.drift);
  const band = Math.min(Math.ceil(reach / spacing), points);
  const kernel = new Float64Array(points * (2 * band + 1));
  for (let to = 0; to < points; to++) {
    for (let by = -band; by <= band; by++) {
      const from = to + by;
      if (from < 0 || from >= points) continue;
      kernel[to * (2 * band + 1) + by + band] = weight[from]! * passing(to * spacing, from * spacing, step);
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

/** One jump. Walks that end beyond 0 are removed. */
function killedJump(points: number, spacing: number, mean: number, width: number, weight: Float64Array): Step {
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
