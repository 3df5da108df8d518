import { impliedVolatility } from '../../math/implied-volatility.ts';
import { normalCdf } from '../../math/normal.ts';

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
    return this.sum((mass, node, width) => mass * normalCdf(Math.log(moneyness / node) / width + width / 2));
  }

  /** Returns the probability of ending at or above a moneyness K/F. The result is accurate in the right tail, where 1 - `below` is not. */
  above(moneyness: number): number {
    return this.sum((mass, node, width) => mass * normalCdf(Math.log(node / moneyness) / width - width / 2));
  }

  /** Returns the probability density at a moneyness K/F above 0. */
  density(moneyness: number): number {
    const sum = this.sum((mass, node, width) => {
      const d = Math.log(moneyness / node) / width + width / 2;
      return (mass / width) * Math.exp((-d * d) / 2);
    });
    return sum / (moneyness * Math.sqrt(2 * Math.PI));
  }

  /** Returns the undiscounted price of an option, as a multiple of the forward. `callPut` is +1 for a call and -1 for a put. */
  price(callPut: number, moneyness: number): number {
    const { nodes, masses, widths } = this;
    let [sum, reach, ofWidth] = [0, 0, Number.NaN];
    for (let i = 0; i < nodes.length; i++) {
      const node = nodes[i]!;
      const width = widths[i]!;
      if (width !== ofWidth) reach = Math.exp(FAR * width);
      ofWidth = width;
      if (node > moneyness * reach || node * reach < moneyness)
        sum += masses[i]! * Math.max(0, callPut * (node - moneyness));
      else sum += masses[i]! * lognormalPrice(callPut, node, moneyness, width);
    }
    return sum;
  }

  /** Returns the total variance that the out-of-the-money price at ln(K/F) implies, or 0 if this price is too small for a double. */
  totalVariance(logMoneyness: number): number {
    const moneyness = Math.exp(logMoneyness);
    const callPut = logMoneyness >= 0 ? 1 : -1;
    const columns = { count: 1, callPut, spot: 1, strike: moneyness, tte: 1, rate: 0, dividend: 0 };
    const price = this.price(callPut, moneyness);
    return impliedVolatility({ ...columns, price: Float64Array.of(price) })[0]! ** 2;
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

  private sum(term: (mass: number, node: number, width: number) => number): number {
    let sum = 0;
    for (let i = 0; i < this.nodes.length; i++) sum += term(this.masses[i]!, this.nodes[i]!, this.widths[i]!);
    return sum;
  }
}

/** Returns the lognormal distribution with a given total variance. */
export function lognormalLaw(variance: number): PriceLaw {
  return new PriceLaw(Float64Array.of(1), Float64Array.of(1), Float64Array.of(Math.sqrt(variance)));
}

/** At more than this number of standard deviations, the mass of a lognormal is too small to change a sum of doubles. */
const FAR = 9;

/** Returns the undiscounted price of an option on a lognormal. `mean` is the lognormal's mean, `width` its log's standard deviation. */
export function lognormalPrice(callPut: number, mean: number, strike: number, width: number): number {
  const distance = Math.log(mean / strike) / width;
  return (
    callPut *
    (mean * normalCdf(callPut * (distance + width / 2)) - strike * normalCdf(callPut * (distance - width / 2)))
  );
}

/** Limits a probability to [0, 1], because rounding errors may put a probability outside this range. */
export function clampProbability(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
