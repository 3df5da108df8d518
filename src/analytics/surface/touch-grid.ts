import { StepCache, StepMeter, type Steps } from '../../core/steps.ts';
import { inverseNormalCdf, normalCdf } from '../../math/normal.ts';
import { findEvents, termStructure } from './event-variance.ts';
import type { FittedSurface } from './fitted-surface.ts';
import {
  callsAt,
  type Knot,
  knotsOf,
  massesOf,
  movedTo,
  type NodeWindow,
  nodeDistance,
  nodeIndex,
  stepsBetween,
  unitOf,
  windowBetween,
} from './path-law.ts';

/** Every so many nodes, one is a barrier. */
const BARRIER_EVERY = 4;
/** Distances at which the solve of a barrier starts and ends, in standard deviations of the log-price. */
const START = 5;
const END = 0.15;
/** The nearest barrier whose solve starts at the first knot, in standard deviations. */
const START_FIRST = 4.5;
const SIDES = [1, -1] as const;
/** Maximum number of values in one step of the work. Such a step takes about 5 ms. */
const STEP_VALUES = 200_000;
/** The work of reading the laws of two knots, as a number of such values. */
const LAW_VALUES = 30_000;
const FOLLOWING = { message: 'Following the price to barriers' };

/** The probabilities of touching barriers on one side of spot, up to a knot. */
interface Touched {
  /** Log-distances of the barriers from spot, ascending. */
  readonly distance: number[];
  /** For each barrier, -N^-1(p/2) times the ratio of the deviation to the distance. It is 1 for a Brownian motion without drift. */
  readonly scaled: number[];
}

/** The paths that have not yet touched a barrier. */
interface Barrier {
  readonly side: 1 | -1;
  /** Number of the barrier's node on its side. */
  readonly node: number;
  /** Masses of these paths at the active nodes. */
  mass: Float64Array;
  touched: number;
}

/**
 * The probabilities of touching a price by the continuous path whose distribution at each settlement is that of a surface: a diffusion
 * whose volatility depends on price and time (local volatility: Dupire 1994).
 */
export class TouchGrid {
  constructor(
    private readonly spot: number,
    private readonly knots: readonly Knot[],
    private readonly touched: readonly Record<1 | -1, Touched>[],
    /** Number of the knot at the first settlement. */
    private readonly first: number,
  ) {}

  /**
   * Returns the probability that the price, from the surface's spot, is at `strike` (dollars) at some moment up to an instant. The instant
   * is given by trading time, years, and the total variance at the money.
   */
  probability(strike: number, { years, atmVariance }: { years: number; atmVariance: number }): number {
    const log = Math.log(strike / this.spot);
    if (log === 0) return 1;
    const [side, distance] = [log > 0 ? 1 : -1, Math.abs(log)] as const;
    const { knots, first } = this;
    const deviation = Math.sqrt(atmVariance);
    const at = (knot: number, factor = 1) => scaledAt(this.touched[knot]![side], distance * factor);
    let next = first;
    while (next < knots.length && knots[next]!.years < years) next++;
    // Before the first settlement and after the last, the laws are scaled copies of that at the settlement. So are the paths.
    const edge = next === first ? first : knots.length - 1;
    if (next === first || next === knots.length) {
      return touchOf((at(edge, knots[edge]!.deviation / deviation) * distance) / deviation);
    }
    const [before, after] = [knots[next - 1]!, knots[next]!];
    const share = (years - before.years) / (after.years - before.years);
    return touchOf((((1 - share) * at(next - 1) + share * at(next)) * distance) / deviation);
  }
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
  const first = knots.findIndex(({ years }) => years >= surface.slices[0]!.years);
  const unit = unitOf(knots[0]!);
  const meter = new StepMeter(STEP_VALUES);
  const touched: Record<1 | -1, Touched>[] = [touchedBy([], knots[0]!, unit)];
  let barriers: Barrier[] = [];
  let started = 0;
  while (unit * nodeDistance(started) < START_FIRST * knots[0]!.deviation) started += BARRIER_EVERY;
  let window: NodeWindow | undefined;
  for (const [i, after] of knots.entries()) {
    const before = knots[i - 1];
    if (!before) continue;
    const from = window;
    window = windowBetween(before, after, unit, from);
    const { price, inner } = window;
    const count = price.length;
    if (meter.beginsNextStep(LAW_VALUES)) yield FOLLOWING;
    const calls = [callsAt(before, price), callsAt(after, price)] as const;
    const steps = stepsBetween(before, after, window, calls);

    const distance = ({ node }: Barrier) => unit * nodeDistance(node);
    barriers = barriers.filter((each) => distance(each) >= END * before.deviation);
    for (const each of barriers) each.mass = movedTo(window, from!, each.mass);
    for (; unit * nodeDistance(started) <= START * after.deviation; started += BARRIER_EVERY) {
      for (const side of SIDES) {
        const barrier = { side, node: started, mass: massesOf(calls[0], price), touched: 0 };
        removeBeyond(barrier, nodeIndex(window, barrier));
        barriers.push(barrier);
      }
    }
    const sums = new Float64Array(count);
    for (const [j, { chain, isWatched }] of steps.entries()) {
      if (meter.beginsNextStep(barriers.length * count)) yield FOLLOWING;
      for (const barrier of barriers) {
        const at = nodeIndex(window, barrier);
        if (!isWatched) chain.below(count, barrier.mass, sums);
        else if (barrier.side > 0) barrier.touched += chain.below(at, barrier.mass, sums);
        else barrier.touched += chain.above(at, barrier.mass, sums);
        if (!isWatched && steps[j + 1]?.isWatched !== false) removeBeyond(barrier, at);
      }
    }
    touched.push(touchedBy(barriers, after, unit));
  }
  return new TouchGrid(surface.spot, knots, touched, first);
}

/** Removes the paths that are at a barrier or beyond it, and counts them as having touched it. `at` is the place of its node. */
function removeBeyond(barrier: Barrier, at: number): void {
  const { mass, side } = barrier;
  const [first, end] = side > 0 ? [at, mass.length] : [0, at + 1];
  for (let i = first; i < end; i++) barrier.touched += mass[i]!;
  mass.fill(0, first, end);
}

function touchedBy(barriers: readonly Barrier[], { deviation }: Knot, unit: number): Record<1 | -1, Touched> {
  const of = (wanted: number) => {
    const own = barriers.filter(({ side }) => side === wanted);
    const distance = own.map(({ node }) => unit * nodeDistance(node));
    const scaled = own.map((barrier, i) => (-inverseNormalCdf(barrier.touched / 2) * deviation) / distance[i]!);
    return { distance, scaled };
  };
  return { [1]: of(1), [-1]: of(-1) };
}
