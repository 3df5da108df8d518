import { MixtureColumn } from '../../../assembly/columns.ts';
import { impliedVolatilityOf } from '../../math/implied-volatility.ts';
import { arenaColumn, keepArena, kernels } from '../../math/kernels.ts';

/** The distribution of a price: a mixture of lognormals, one per node. Prices and strikes are multiples of the forward, its mean. */
export class PriceLaw {
  /** The columns have one row per lognormal: mean (`nodes`), probability (`masses`), and standard deviation of the logarithm (`widths`). */
  constructor(
    readonly nodes: Float64Array,
    readonly masses: Float64Array,
    readonly widths: Float64Array,
  ) {}

  /** Returns the probability of ending at or below a moneyness K/F. */
  below(moneyness: number): number {
    return kernels.mixtureShare(this.load(), 1, moneyness, BLOCK);
  }

  /** Returns the probability of ending at or above a moneyness K/F. The result is accurate in the right tail, where 1 - `below` is not. */
  above(moneyness: number): number {
    return kernels.mixtureShare(this.load(), -1, moneyness, BLOCK);
  }

  /** Returns the undiscounted price of an option, as a multiple of the forward. `callPut` is +1 for a call and -1 for a put. */
  price(callPut: number, moneyness: number): number {
    return kernels.mixturePrice(this.load(), callPut, moneyness, BLOCK);
  }

  /** Returns the total variance that the out-of-the-money price at ln(K/F) implies, or 0 if this price is too small for a double. */
  totalVariance(logMoneyness: number): number {
    const moneyness = Math.exp(logMoneyness);
    const callPut = logMoneyness >= 0 ? 1 : -1;
    return impliedVolatilityOf(callPut, this.price(callPut, moneyness), moneyness) ** 2;
  }

  /** Returns the mean, the variance, the skewness and the kurtosis (3 if normal) of the log-price ln(S/F). */
  logMoments(): { mean: number; variance: number; skewness: number; kurtosis: number } {
    const centers = this.nodes.map((node, i) => Math.log(node) - this.widths[i]! ** 2 / 2);
    const mean = this.masses.reduce((sum, mass, i) => sum + mass * centers[i]!, 0);
    let [second, third, fourth] = [0, 0, 0];
    for (let i = 0; i < centers.length; i++) {
      const [mass, d, v] = [this.masses[i]!, centers[i]! - mean, this.widths[i]! ** 2];
      second += mass * (d * d + v);
      third += mass * (d * d * d + 3 * d * v);
      fourth += mass * (d ** 4 + 6 * d * d * v + 3 * v * v);
    }
    return { mean, variance: second, skewness: third / second ** 1.5, kurtosis: fourth / second ** 2 };
  }

  /** Returns the log-density of ln(S/F) at up to 1,024 evenly spaced points. The next computation with a kernel overwrites it. */
  logDensities(points: number, from: number, step: number): Float64Array {
    const { nodes, masses, widths } = this;
    const count = this.load();
    for (let i = 0; i < count; i++) {
      ARENA.centers[i] = Math.log(nodes[i]!) - widths[i]! ** 2 / 2;
      ARENA.heights[i] = Math.log(masses[i]! / (widths[i]! * Math.sqrt(2 * Math.PI)));
    }
    kernels.mixtureLogDensities(count, points, from, step, BLOCK);
    return ARENA.logDensity.subarray(0, points);
  }

  /** Copies the columns to the kernels' memory, unless they are there. Returns the number of rows. */
  private load(): number {
    if (!keepArena(this)) {
      ARENA.nodes.set(this.nodes);
      ARENA.masses.set(this.masses);
      ARENA.widths.set(this.widths);
    }
    return this.nodes.length;
  }
}

const ARENA = {
  nodes: arenaColumn(MixtureColumn.nodes),
  masses: arenaColumn(MixtureColumn.masses),
  widths: arenaColumn(MixtureColumn.widths),
  centers: arenaColumn(MixtureColumn.centers),
  heights: arenaColumn(MixtureColumn.heights),
  logDensity: arenaColumn(MixtureColumn.logDensity),
};
const BLOCK = ARENA.nodes.byteOffset;

/** Returns the lognormal distribution with a given total variance. */
export function lognormalLaw(variance: number): PriceLaw {
  return new PriceLaw(Float64Array.of(1), Float64Array.of(1), Float64Array.of(Math.sqrt(variance)));
}

/** Limits a probability to [0, 1], because rounding errors may put a probability outside this range. */
export function clampProbability(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
