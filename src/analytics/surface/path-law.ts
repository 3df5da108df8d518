import { ChainStep } from '../../math/absorbing-chain.ts';
import { normalCdf } from '../../math/normal.ts';
import type { FittedSurface, HorizonLaw, SurfaceSlice } from './fitted-surface.ts';
import type { PriceLaw } from './price-law.ts';
import { lawOfPower } from './rungs.ts';

/** A time at which the distribution of the price is known. Prices are multiples of spot. */
export interface Knot {
  /** Years of trading time from the quotes. */
  readonly years: number;
  readonly forward: number;
  /** Standard deviation of the log-price at the money. */
  readonly deviation: number;
  readonly law: PriceLaw;
  /** Share of the variance since the knot before that one dated event causes, 0 to 1. */
  readonly eventShare: number;
}

/** The maximum ratio of the variances of successive knots, and that of the deviations of successive steps in time. */
const KNOT_RATIO = 1.25;
const STEP_DEVIATION_RATIO = 1.05;
/** The variance of the first knot, as a share of that of the first settlement. */
const FIRST_VARIANCE = 1 / 400;
/** Knots are dropped if the variance after the knot before them grows by less than this share. */
const GROWTH_MIN = 0.01;

/**
 * Returns the knots of a surface with settlements: the settlements, and times between them. Before the first settlement, laws are scaled
 * copies of the law at this settlement. `events` has the variances of dated events, by the number of the first settlement after each.
 */
export function knotsOf(surface: FittedSurface, events: ReadonlyMap<number, number>): Knot[] {
  const { slices, spot } = surface;
  const first = slices[0]!;
  const count = Math.ceil(-Math.log(FIRST_VARIANCE) / Math.log(KNOT_RATIO));
  const shares = Array.from({ length: count + 1 }, (_, i) => FIRST_VARIANCE ** (1 - i / count));
  // An event before the first settlement passes just before it.
  const calm = 1 - (events.get(0) ?? 0) / first.atmVariance;
  const knots: Knot[] = shares.map((share, i) => ({
    years: first.years * share,
    forward: (first.forward / spot) ** share,
    deviation: Math.sqrt(first.atmVariance * share),
    law: lawOfPower(first.law, Math.sqrt(share)),
    eventShare: i === 0 ? 0 : Math.max(0, share - Math.max(calm, shares[i - 1]!)) / (share - shares[i - 1]!),
  }));
  for (const [i, slice] of slices.entries()) {
    if (i === 0) continue;
    const event = events.get(i) ?? 0;
    const from = knots.at(-1)!;
    const ratio = slice.atmVariance / from.deviation ** 2;
    const isNeeded = ratio >= 1 + GROWTH_MIN || event > 0 || events.has(i + 1) || i === slices.length - 1;
    if (!isNeeded) continue;
    const inserted = event > 0 ? 0 : Math.ceil(Math.log(ratio) / Math.log(KNOT_RATIO)) - 1;
    for (let j = 1; j <= inserted; j++) {
      const share = (ratio ** (j / (inserted + 1)) - 1) / (ratio - 1);
      knots.push(knotOf(surface, lawAtYears(surface, from.years + share * (slice.years - from.years), slice)));
    }
    const growth = slice.atmVariance - from.deviation ** 2;
    knots.push(knotOf(surface, slice, event > 0 ? Math.min(1, event / growth) : 0));
  }
  return knots;
}

function knotOf({ spot }: FittedSurface, { years, forward, atmVariance, law }: HorizonLaw, eventShare = 0): Knot {
  return { years, forward: forward / spot, deviation: Math.sqrt(atmVariance), law, eventShare };
}

/** Returns the distribution after some years of trading time, before a settlement. */
function lawAtYears(surface: FittedSurface, years: number, { settlesAt }: SurfaceSlice): HorizonLaw {
  let [low, high] = [surface.clock.startMs, settlesAt];
  while (high - low > 1) {
    const middle = (low + high) / 2;
    if (surface.clock.years(middle) < years) low = middle;
    else high = middle;
  }
  return surface.lawAt(high);
}

/** Nodes of the price on both sides of spot, at distances that grow by the same factor from node to node. */
const NODE_RATIO = 1.08;
/** The distance of the innermost active node, and that of the outermost one, in standard deviations. */
const INNER = 0.05;
const REACH = 6.5;
/** At more than this number of its widths from its mean, a component of a law is treated as a point. */
const WIDTHS = 5;
/** The local variance is limited to this multiple of the variance per time at the money. Only nodes without mass reach the limit. */
const LOCAL_MAX = 25;

/** The log-distance from spot of node `n` = 0, 1, ... on either side. `unit` is that of node 0. */
export function nodeDistance(n: number, unit: number): number {
  return unit * NODE_RATIO ** n;
}

/** Returns the number of the first node at a log-distance or further. */
export function nodeNumber(distance: number, unit: number): number {
  return Math.max(0, Math.ceil(Math.log(distance / unit) / Math.log(NODE_RATIO) - 1e-9));
}

/** The active nodes between two knots. */
export interface NodeWindow {
  /** Numbers of the innermost and of the outermost active node on each side. */
  readonly inner: number;
  readonly outer: number;
  /** Prices at the nodes, ascending, as multiples of spot. The one in the middle is spot. */
  readonly price: Float64Array;
}

/** Returns the log-distance of node 0 from spot. */
export function unitOf(first: Knot): number {
  return INNER * first.deviation;
}

/** Returns the nodes for the time after each knot, except the last. `unit` is the log-distance of node 0. */
export function windowsOf(knots: readonly Knot[], unit: number): NodeWindow[] {
  let furthest = 0;
  return knots.slice(1).map((after, i) => {
    const reach = REACH * after.deviation + Math.abs(Math.log(after.forward));
    furthest = Math.max(furthest, nodeNumber(reach, unit));
    return windowOf(nodeNumber(INNER * knots[i]!.deviation, unit), furthest, unit);
  });
}

function windowOf(inner: number, outer: number, unit: number): NodeWindow {
  const count = outer - inner + 1;
  const price = new Float64Array(2 * count + 1);
  price[count] = 1;
  for (let i = 0; i < count; i++) {
    const distance = nodeDistance(inner + i, unit);
    price[count + 1 + i] = Math.exp(distance);
    price[count - 1 - i] = Math.exp(-distance);
  }
  return { inner, outer, price };
}

/** Returns the place of a node of one side among the active nodes. */
export function nodeIndex({ inner, outer }: NodeWindow, { side, node }: { side: number; node: number }): number {
  return outer - inner + 1 + side * (1 + node - inner);
}

/** Moves masses to the nodes of a later window. The mass of a node that is no longer active goes to the nodes beside it. */
export function movedTo(window: NodeWindow, from: NodeWindow, mass: Float64Array): Float64Array {
  const moved = new Float64Array(window.price.length);
  const [center, centerFrom] = [window.outer - window.inner + 1, from.outer - from.inner + 1];
  moved[center] = mass[centerFrom]!;
  for (const side of [1, -1]) {
    const edge = nodeIndex(window, { side, node: window.inner });
    for (let node = from.inner; node <= from.outer; node++) {
      const at = nodeIndex(from, { side, node });
      if (node >= window.inner) {
        moved[nodeIndex(window, { side, node })]! += mass[at]!;
        continue;
      }
      const share = (from.price[at]! - 1) / (window.price[edge]! - 1);
      moved[edge]! += share * mass[at]!;
      moved[center]! += (1 - share) * mass[at]!;
    }
  }
  return moved;
}

/** Returns the undiscounted prices of calls at a knot. The strikes are the nodes of each of two windows. */
export function callsAt(knot: Knot, before: NodeWindow, after: NodeWindow, unit: number): [Float64Array, Float64Array] {
  const both = windowOf(before.inner, after.outer, unit);
  const calls = callPrices(knot, both.price);
  const center = calls.length >> 1;
  const inner = after.inner - before.inner;
  const reach = before.price.length >> 1;
  return [
    calls.slice(center - reach, center + reach + 1),
    Float64Array.of(...calls.slice(0, center - inner), calls[center]!, ...calls.slice(center + inner + 1)),
  ];
}

function callPrices({ law, forward }: Knot, strikes: Float64Array): Float64Array {
  const count = strikes.length;
  const logs = strikes.map(Math.log);
  const calls = new Float64Array(count);
  // Masses and means of the components whose calls are surely exercised at all strikes before each one.
  const mass = new Float64Array(count + 1);
  const value = new Float64Array(count + 1);
  const { nodes, masses, widths } = law;
  for (let i = 0; i < nodes.length; i++) {
    const [weight, mean, width] = [masses[i]!, nodes[i]! * forward, widths[i]!];
    if (weight < MASS_MIN) continue;
    const log = Math.log(mean);
    let k = firstAbove(logs, log - WIDTHS * width);
    mass[k]! += weight;
    value[k]! += weight * mean;
    for (; k < count && logs[k]! < log + WIDTHS * width; k++) {
      const distance = (log - logs[k]!) / width;
      calls[k]! += weight * (mean * normalCdf(distance + width / 2) - strikes[k]! * normalCdf(distance - width / 2));
    }
  }
  for (let k = count - 1, [above, worth] = [0, 0]; k >= 0; k--) {
    above += mass[k + 1]!;
    worth += value[k + 1]!;
    calls[k]! += worth - above * strikes[k]!;
  }
  return calls;
}

const MASS_MIN = 1e-12;

function firstAbove(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the mass at each node that gives these call prices at the nodes. Mass beyond the nodes is at the first and the last node. */
export function massesOf(calls: Float64Array, price: Float64Array): Float64Array {
  const last = price.length - 1;
  const slope = (i: number) => (calls[i + 1]! - calls[i]!) / (price[i + 1]! - price[i]!);
  return calls.map((_, i) => Math.max(0, (i === last ? 0 : slope(i)) - (i === 0 ? -1 : slope(i - 1))));
}

/** A short step in time between two knots. Rates are per step. */
export interface PathStep {
  /** For each node, the variance of the price over the distance between the nodes beside it: the rate of moving over a unit of price. */
  readonly spread: Float64Array;
  /** The growth of the forward, as a share of it. */
  readonly drift: number;
  /** False within a dated event: the price passes barriers unseen, and is looked at after the event. */
  readonly isWatched: boolean;
}

/**
 * Returns the steps between two knots of a path whose distribution at each step is a mixture of those of the knots. The variance at a node is
 * the local variance (Dupire 1994): the growth of the call's price over the mass. It is computed on the nodes themselves, so that the
 * steps lead from the prices of one knot to those of the next without an error of the grid.
 */
export function stepsBetween(
  before: Knot,
  after: Knot,
  { price }: NodeWindow,
  calls: readonly [Float64Array, Float64Array],
): PathStep[] {
  const masses = [massesOf(calls[0], price), massesOf(calls[1], price)] as const;
  const growth = Math.log(after.deviation / before.deviation) / Math.log(STEP_DEVIATION_RATIO);
  const most = LOCAL_MAX * Math.max(after.deviation ** 2 - before.deviation ** 2, 0);
  // An event passes in the middle of the interval.
  const calm = (1 - after.eventShare) / 2;
  const parts = [
    { from: 0, to: calm, isWatched: true },
    { from: calm, to: 1 - calm, isWatched: false },
    { from: 1 - calm, to: 1, isWatched: true },
  ];
  return parts.flatMap(({ from, to, isWatched }) => {
    const number = to > from ? Math.max(1, Math.ceil(growth * (to - from))) : 0;
    const share = (to - from) / number;
    return Array.from({ length: number }, (_, j) => ({ ...stepAt(from + (j + 0.5) * share, share), isWatched }));
  });

  function stepAt(middle: number, share: number) {
    const forward = before.forward + middle * (after.forward - before.forward);
    const drift = (share * (after.forward - before.forward)) / forward;
    const spread = new Float64Array(price.length);
    /** What the drift adds to the call's price: the drift times the mean of the masses above the node. */
    let carried = 0;
    for (let i = price.length - 2; i > 0; i--) {
      const mass = masses[0][i]! + middle * (masses[1][i]! - masses[0][i]!);
      const drifted = drift * price[i]! * mass;
      // A rising forward takes the node's own mass above the node. A falling one takes it away from below.
      const added = carried + (drift > 0 ? drifted : 0);
      carried += drifted;
      const grown = share * (calls[1][i]! - calls[0][i]!) - added;
      const limit = (most * share * price[i]! ** 2) / (price[i + 1]! - price[i - 1]!);
      if (grown > 0) spread[i] = mass > 0 ? Math.min(grown / mass, limit) : limit;
    }
    return { spread, drift };
  }
}

/** Returns the step as a chain on the nodes. `factor` multiplies the variance at each node. */
export function chainOfStep({ spread, drift }: PathStep, price: Float64Array, factor?: Float64Array): ChainStep {
  const [up, down] = [new Float64Array(price.length), new Float64Array(price.length)];
  for (let i = 1; i < price.length - 1; i++) {
    const rate = spread[i]! * (factor?.[i] ?? 1);
    up[i] = (rate + Math.max(drift, 0) * price[i]!) / (price[i + 1]! - price[i]!);
    down[i] = (rate + Math.max(-drift, 0) * price[i]!) / (price[i]! - price[i - 1]!);
  }
  return new ChainStep(up, down);
}
