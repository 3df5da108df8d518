import { StepCache, StepMeter, type Steps } from '../../core/steps.ts';
import type { ChainStep } from '../../math/absorbing-chain.ts';
import { diffusionPassage } from '../../math/first-passage.ts';
import { inverseNormalCdf, normalCdf } from '../../math/normal.ts';
import { findEvents, termStructure } from './event-variance.ts';
import type { FittedSurface, HorizonLaw } from './fitted-surface.ts';
import {
  callsAt,
  chainOfStep,
  type Knot,
  knotsOf,
  massesOf,
  movedTo,
  type NodeWindow,
  nodeDistance,
  nodeIndex,
  nodeNumber,
  type PathStep,
  stepsBetween,
  unitOf,
  windowsOf,
} from './path-law.ts';

/** Every so many nodes, one is a barrier. */
const BARRIER_EVERY = 3;
/** Distances at which the solve of a barrier starts and ends, in standard deviations of the log-price. */
const START = 5;
const END = 0.15;
/** The nearest barrier whose solve starts at the first knot, in standard deviations. */
const START_FIRST = 4.5;
/** Maximum number of values in one step of the work. Such a step takes about 3 ms. */
const STEP_VALUES = 100_000;
/** The work of reading the laws of two knots, as a number of such values. */
const LAW_VALUES = 15_000;
/** Smaller probabilities are rounding errors of the masses. */
const CHANCE_MIN = 1e-16;
const FOLLOWING = { message: 'Following the price to barriers' };

/** The models of the path. All have the distributions of the surface at each settlement. */
export const PATHS = ['local', 'random'] as const;
export type Path = (typeof PATHS)[number];

/**
 * The levels of volatility of a path, one of which is drawn at the start: its probability, and its factor of the variance. `local` is a
 * diffusion whose volatility is a function of price and time (local volatility: Dupire 1994). In `random`, this function is multiplied by a
 * random level (stochastic local volatility: Lipton 2002). The mean variance at each price is that of `local`.
 */
const LEVELS: Record<Path, readonly { chance: number; factor: number }[]> = {
  local: [{ chance: 1, factor: 1 }],
  random: [
    { chance: 0.5, factor: 0.1 },
    { chance: 0.5, factor: 1.9 },
  ],
};

/** The probabilities of touching barriers on one side of spot, up to a knot. */
interface Touched {
  /** Log-distances of the barriers from spot, ascending. */
  readonly distance: number[];
  /** For each barrier, -N^-1(p/2) times the ratio of the deviation to the distance. It is 1 for a Brownian motion without drift. */
  readonly scaled: number[];
}

type Side = 1 | -1;
const SIDES = [1, -1] as const;

/** The paths that have not yet touched a barrier. */
interface Barrier {
  readonly side: Side;
  /** Number of the barrier's node on its side. */
  readonly node: number;
  /** For each level of volatility, masses of these paths at the active nodes. */
  masses: Float64Array[];
  touched: number;
}

/** The probabilities of touching a price by continuous paths whose distribution at each settlement is that of a surface. */
export class TouchGrid {
  /** `touched` has an entry for each knot. `first` is the number of the knot at the first settlement. */
  constructor(
    private readonly spot: number,
    private readonly knots: readonly Knot[],
    private readonly touched: readonly Record<Path, Record<Side, Touched>>[],
    private readonly first: number,
  ) {}

  /** Returns the probability that the price, from the surface's spot, is at `strike` (dollars) at some moment up to a horizon. */
  probability(
    strike: number,
    { years, atmVariance, forward }: Pick<HorizonLaw, 'years' | 'atmVariance' | 'forward'>,
    path: Path,
  ): number {
    const log = Math.log(strike / this.spot);
    if (log === 0) return 1;
    const [side, distance] = [log > 0 ? 1 : -1, Math.abs(log)] as const;
    const { knots, first } = this;
    const deviation = Math.sqrt(atmVariance);
    const at = (knot: number, factor = 1) => scaledAt(this.touched[knot]![path][side], distance * factor);
    let next = first;
    while (next < knots.length && knots[next]!.years < years) next++;
    const z = distance / deviation;
    // Before the first settlement and after the last, the laws are scaled copies of that at the settlement. So are the paths, but for their
    // drift, whose effect is that on a path of constant volatility.
    if (next === first || next === knots.length) {
      const edge = knots[Math.min(next, knots.length - 1)]!;
      const same = at(Math.min(next, knots.length - 1), edge.deviation / deviation);
      if (z > DRIFT_REACH) return touchOf(same * z);
      const own = plainScaled(z, side, deviation, forward / this.spot);
      return touchOf((same + own - plainScaled(z, side, edge.deviation, edge.forward)) * z);
    }
    const [before, after] = [knots[next - 1]!, knots[next]!];
    const share = (years - before.years) / (after.years - before.years);
    return touchOf(((1 - share) * at(next - 1) + share * at(next)) * z);
  }
}

/** Further away, in standard deviations, the drift has no effect on a probability that is practically 0. */
const DRIFT_REACH = 6;

/** Returns the figure of `Touched.scaled` for a path of constant volatility, to a barrier at `z` deviations. */
function plainScaled(z: number, side: Side, deviation: number, forward: number): number {
  const variance = deviation * deviation;
  const touched = diffusionPassage(z * deviation, { drift: -side * (Math.log(forward) - variance / 2), variance });
  return -inverseNormalCdf(Math.max(touched, CHANCE_MIN) / 2) / z;
}

function touchOf(scaled: number): number {
  return Math.min(1, 2 * normalCdf(-scaled));
}

/** Interpolates linearly in the logarithm of the distance. Outside the barriers, returns the value of the nearest one. */
function scaledAt({ distance, scaled }: Touched, at: number): number {
  const next = distance.findIndex((each) => each >= at);
  if (next <= 0) return next === 0 ? scaled[0]! : (scaled.at(-1) ?? 1);
  const [low, high] = [distance[next - 1]!, distance[next]!];
  const share = Math.log(at / low) / Math.log(high / low);
  return scaled[next - 1]! + share * (scaled[next]! - scaled[next - 1]!);
}

/** Returns the touch grid of a surface that has settlements, cached by the surface. `tokens` is the cost if it is not cached. */
export function touchGridOf(surface: FittedSurface, tokens = 0): Steps<TouchGrid> {
  return grids.of(surface, '', { ...FOLLOWING, tokens, steps: () => solve(surface) });
}

const grids = new StepCache<FittedSurface, TouchGrid>(() => 1);

function* solve(surface: FittedSurface): Steps<TouchGrid> {
  const events = yield* findEvents(termStructure(surface));
  const knots = knotsOf(surface, new Map(events.map(({ settlement, variance }) => [settlement, variance])));
  const unit = unitOf(knots[0]!);
  const meter = new StepMeter(STEP_VALUES);
  const paths = { local: new Paths(LEVELS.local, unit), random: new Paths(LEVELS.random, unit) };
  const touchedAt = (knot: Knot) => ({ local: paths.local.touchedBy(knot), random: paths.random.touchedBy(knot) });
  const touched = [touchedAt(knots[0]!)];
  let started = Math.ceil(nodeNumber(START_FIRST * knots[0]!.deviation, unit) / BARRIER_EVERY) * BARRIER_EVERY;
  const windows = windowsOf(knots, unit);
  let next = callsAt(knots[0]!, windows[0]!, windows[0]!, unit);
  for (const [i, window] of windows.entries()) {
    const [before, after] = [knots[i]!, knots[i + 1]!];
    if (meter.beginsNextStep(LAW_VALUES)) yield FOLLOWING;
    const own = next[1];
    next = callsAt(after, window, windows[i + 1] ?? window, unit);
    const steps = stepsBetween(before, after, window, [own, next[0]]);
    const last = nodeNumber(START * after.deviation, unit);
    const nodes: number[] = [];
    for (; started <= last; started += BARRIER_EVERY) nodes.push(started);
    const ended = nodeNumber(END * before.deviation, unit);
    const law = massesOf(own, window.price);
    for (const each of Object.values(paths)) each.enter(window, windows[i - 1], law, nodes, ended);
    for (const [j, step] of steps.entries()) {
      const looks = !step.isWatched && steps[j + 1]?.isWatched !== false;
      for (const each of Object.values(paths)) {
        if (meter.beginsNextStep(each.work(window))) yield FOLLOWING;
        each.follow(step, window, looks);
      }
    }
    touched.push(touchedAt(after));
  }
  const first = knots.findIndex(({ years }) => years >= surface.slices[0]!.years);
  return new TouchGrid(surface.spot, knots, touched, first);
}

/** All paths of a model, and for each barrier those that have not yet touched it. */
class Paths {
  private free: Float64Array[] = [];
  private barriers: Barrier[] = [];

  constructor(
    private readonly levels: (typeof LEVELS)[Path],
    private readonly unit: number,
  ) {}

  /** Moves to the nodes of the next window, starts barriers at `nodes` on both sides, and ends those nearer than the node `ended`. */
  enter(
    window: NodeWindow,
    previous: NodeWindow | undefined,
    law: Float64Array,
    nodes: readonly number[],
    ended: number,
  ): void {
    // A single level always has the law itself.
    const isKnown = !previous || this.levels.length === 1;
    this.free = isKnown
      ? this.levels.map(({ chance }) => law.map((each) => chance * each))
      : this.free.map((each) => movedTo(window, previous, each));
    this.barriers = this.barriers.filter(({ node }) => node >= ended);
    for (const each of this.barriers) each.masses = each.masses.map((mass) => movedTo(window, previous!, mass));
    for (const node of nodes) {
      for (const side of SIDES) {
        const barrier = { side, node, masses: this.free.map((each) => each.slice()), touched: 0 };
        removeBeyond(barrier, nodeIndex(window, barrier));
        this.barriers.push(barrier);
      }
    }
  }

  /** Returns the number of values that `follow` computes. */
  work({ price }: NodeWindow): number {
    return (this.barriers.length / 2 + 2) * this.levels.length * price.length;
  }

  /** Makes a step in time. `looks` is true after the last step of an event: paths beyond a barrier have then touched it. */
  follow(step: PathStep, window: NodeWindow, looks: boolean): void {
    const { price } = window;
    const sums = new Float64Array(price.length);
    const chains = this.chains(step, price);
    if (this.levels.length > 1) {
      for (const [i, mass] of this.free.entries()) chains[i]!.below(price.length, mass, sums);
    }
    for (const barrier of this.barriers) {
      const at = nodeIndex(window, barrier);
      for (const [i, mass] of barrier.masses.entries()) {
        if (!step.isWatched) chains[i]!.below(price.length, mass, sums);
        else if (barrier.side > 0) barrier.touched += chains[i]!.below(at, mass, sums);
        else barrier.touched += chains[i]!.above(at, mass, sums);
      }
      if (looks) removeBeyond(barrier, at);
    }
  }

  /** Returns the step of each level. At each node, the mean of the levels' variances is that of the step. */
  private chains(step: PathStep, price: Float64Array): ChainStep[] {
    if (this.levels.length === 1) return [chainOfStep(step, price)];
    const mean = new Float64Array(price.length);
    const all = new Float64Array(price.length);
    for (const [i, { factor }] of this.levels.entries()) {
      const mass = this.free[i]!;
      for (let j = 0; j < price.length; j++) {
        const each = Math.max(0, mass[j]!);
        mean[j]! += factor * each;
        all[j]! += each;
      }
    }
    return this.levels.map(({ factor }) => {
      const own = mean.map((each, j) => (each > 0 ? (factor * all[j]!) / each : 1));
      return chainOfStep(step, price, own);
    });
  }

  touchedBy({ deviation }: Knot): Record<Side, Touched> {
    const of = (wanted: Side) => {
      const own = this.barriers.filter(({ side }) => side === wanted);
      const distance = own.map(({ node }) => nodeDistance(node, this.unit));
      const scaled = own.map(({ touched }, i) => {
        const chance = Math.max(touched, CHANCE_MIN);
        return (-inverseNormalCdf(chance / 2) * deviation) / distance[i]!;
      });
      return { distance, scaled };
    };
    return { 1: of(1), [-1]: of(-1) };
  }
}

/** Removes the paths that are at a barrier or beyond it, and counts them as having touched it. `at` is the place of its node. */
function removeBeyond(barrier: Barrier, at: number): void {
  for (const mass of barrier.masses) {
    const [first, end] = barrier.side > 0 ? [at, mass.length] : [0, at + 1];
    for (let i = first; i < end; i++) barrier.touched += mass[i]!;
    mass.fill(0, first, end);
  }
}
