import { levelTails, type Masses, otmPrices, raiseAbove } from './calendar-order.ts';
import { NODE_STEP, NODE_Z } from './log-density-basis.ts';
import { lognormalLaw, PriceLaw } from './price-law.ts';

/** The price distribution at a settlement or between two. At a fixed ratio of strike to forward, prices never fall with time. */
export interface Rung extends Masses {
  /** Years of trading time. */
  readonly years: number;
  /** Standard deviation that scales the nodes. */
  readonly deviation: number;
  /** Total variance at the money. */
  readonly atmVariance: number;
  readonly law: PriceLaw;
}

/** The maximum ratio of the variances of successive distributions. For larger ratios, distributions are inserted between settlements. */
const VARIANCE_RATIO_MAX = 1.25;
/** The number of iterations for computing the standard deviation of an inserted distribution from the distribution's variance. */
const DEVIATION_ROUNDS = 2;
/** An inserted distribution is left out if an option price exceeds that at the later settlement by more than this number of deviations. */
const PRICE_NOISE = 1e-5;

/** Smaller masses count as this mass in the interpolation of their logarithms. */
const MASS_MIN = 1e-300;

/** Returns the price distribution of a density, after raising option prices below those of `before` to them, and without humps in the tails. */
export function rungAbove(before: Rung | undefined, density: Masses, deviation: number, years: number): Rung {
  return rungOf(levelTails(before ? raiseAbove(density, before) : density), deviation, years);
}

/** Returns the distribution of masses that lognormals spread. `deviation` scales the nodes. */
export function lawOf(nodes: Float64Array, masses: Float64Array, deviation: number): PriceLaw {
  return new PriceLaw(nodes, masses, new Float64Array(nodes.length).fill(NODE_STEP * deviation));
}

/** Returns the price distribution of a density whose nodes are scaled by `deviation`. */
export function rungOf({ nodes, masses, reach }: Masses, deviation: number, years: number): Rung {
  const law = lawOf(nodes, masses, deviation);
  return { nodes, masses, reach, deviation, years, law, atmVariance: law.totalVariance(0) };
}

/**
 * Returns the distributions to insert between two settlements of different variances, in calendar order with the second one. The logarithm
 * of the mass at each node, which is as many deviations from the forward at both, is interpolated linearly, so the shape changes evenly.
 */
export function rungsBetween(before: Rung, after: Rung): Rung[] {
  const ratio = after.atmVariance / before.atmVariance;
  const count = Math.ceil(Math.log(ratio) / Math.log(VARIANCE_RATIO_MAX)) - 1;
  if (count < 1) return [];
  const [logs, laterLogs] = [before, after].map(({ masses }) =>
    masses.map((mass) => Math.log(Math.max(mass, MASS_MIN))),
  ) as [Float64Array, Float64Array];
  const rungs: Rung[] = [];
  for (let i = 1; i <= count; i++) {
    const atmVariance = before.atmVariance * ratio ** (i / (count + 1));
    const share = (atmVariance - before.atmVariance) / (after.atmVariance - before.atmVariance);
    const years = before.years + share * (after.years - before.years);
    const masses = normalized(logs.map((log, j) => Math.exp(log + share * (laterLogs[j]! - log))));
    const last = rungs.at(-1) ?? before;
    const deviation = deviationFor(atmVariance, masses, last.deviation, after.deviation);
    const rung = rungAbove(last, { ...spread(masses, deviation), reach: after.reach }, deviation, years);
    if (isBelow(rung, after)) rungs.push(rung);
  }
  return rungs;
}

/** Divides masses by their sum. */
function normalized(masses: Float64Array): Float64Array {
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => mass / total);
}

/** Returns the deviation, limited to [least, most], with which the masses have a given total variance at the money. */
function deviationFor(variance: number, masses: Float64Array, least: number, most: number): number {
  let deviation = Math.sqrt(least * most);
  for (let round = 0; round < DEVIATION_ROUNDS; round++) {
    const trial = rungOf(spread(masses, deviation), deviation, 0);
    deviation = Math.min(Math.max(deviation * Math.sqrt(variance / trial.atmVariance), least), most);
  }
  return deviation;
}

/** Puts the masses at nodes that `deviation` scales. Divides the nodes by the distribution's mean, so that the new mean is the forward. */
function spread(masses: Float64Array, deviation: number): Masses {
  const nodes = NODE_Z.map((z) => Math.exp(deviation * z));
  const mean = nodes.reduce((sum, node, i) => sum + masses[i]! * node, 0);
  return { nodes: nodes.map((node) => node / mean), masses };
}

/** Returns whether the option price at every strike is at most the price of a later distribution plus `PRICE_NOISE`. */
function isBelow(rung: Rung, later: Rung): boolean {
  const most = otmPrices(later, later.nodes);
  const prices = otmPrices(rung, later.nodes);
  return prices.every((price, i) => price <= most[i]! + PRICE_NOISE * later.deviation);
}

/** Returns the law of `X^power / E[X^power]`. Prices rise with `power` by star order (Shaked and Shanthikumar 2007, section 4.B). */
export function lawOfPower({ nodes, masses, widths }: PriceLaw, power: number): PriceLaw {
  const scaled = nodes.map((node, i) => node ** power * Math.exp((power * (power - 1) * widths[i]! ** 2) / 2));
  const mean = scaled.reduce((sum, node, i) => sum + masses[i]! * node, 0);
  return new PriceLaw(
    scaled.map((node) => node / mean),
    masses,
    widths.map((width) => width * power),
  );
}

/** Returns the mixture of two distributions with a given at-the-money variance. Its option prices lie between those of the two. */
export function mixtureAt(variance: number, before: Rung, after: Rung): PriceLaw {
  const [low, high] = [before.law.price(1, 1), after.law.price(1, 1)];
  const price = lognormalLaw(variance).price(1, 1);
  const share = high > low ? Math.min(1, Math.max(0, (price - low) / (high - low))) : 1;
  const joined = (one: Float64Array, other: Float64Array) => Float64Array.from([...one, ...other]);
  return new PriceLaw(
    joined(before.law.nodes, after.law.nodes),
    joined(
      before.law.masses.map((mass) => mass * (1 - share)),
      after.law.masses.map((mass) => mass * share),
    ),
    joined(before.law.widths, after.law.widths),
  );
}
