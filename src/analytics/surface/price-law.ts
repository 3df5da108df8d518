import { impliedVolatility } from '../../math/implied-volatility.ts';
import { normalCdf } from '../../math/normal.ts';

/**
 * A distribution of the price at one instant, as a mixture of lognormals around the nodes. Prices and strikes are multiples of the forward,
 * which is the mean of the law.
 */
export class PriceLaw {
  /**
   * Columns of equal length: the mean of each component, ascending within one kernel width, its probability, and the standard deviation of its
   * log-price.
   */
  constructor(
    readonly nodes: Float64Array,
    readonly masses: Float64Array,
    readonly kernels: Float64Array,
  ) {}

  /** Probability of ending at or below a moneyness K/F. */
  below(moneyness: number): number {
    return this.sum((mass, node, kernel) => mass * normalCdf(Math.log(moneyness / node) / kernel + kernel / 2));
  }

  /** Probability of ending at or above a moneyness. Accurate in the right tail, where 1 - below() is not. */
  above(moneyness: number): number {
    return this.sum((mass, node, kernel) => mass * normalCdf(Math.log(node / moneyness) / kernel - kernel / 2));
  }

  /** Undiscounted price of an option, as a multiple of the forward. */
  price(callPut: number, moneyness: number): number {
    return this.sum((mass, node, kernel) => {
      const distance = (callPut * Math.log(node / moneyness)) / kernel;
      if (distance < -FAR) return 0;
      if (distance > FAR) return mass * callPut * (node - moneyness);
      return mass * kernelPrice(callPut, node, moneyness, kernel);
    });
  }

  /** Total variance that Black's formula gives to the price of the out-of-the-money option at ln(K/F). NaN if the price is zero. */
  totalVariance(logMoneyness: number): number {
    const moneyness = Math.exp(logMoneyness);
    const callPut = logMoneyness >= 0 ? 1 : -1;
    const columns = { count: 1, callPut, spot: 1, strike: moneyness, tte: 1, rate: 0, dividend: 0 };
    const price = this.price(callPut, moneyness);
    return impliedVolatility({ ...columns, price: Float64Array.of(price) })[0]! ** 2;
  }

  /** Moments of the log-price ln(S/F) about its mean: the mean itself, the variance, skewness and kurtosis (3 for a normal law). */
  logMoments(): { mean: number; variance: number; skewness: number; kurtosis: number } {
    const centers = this.nodes.map((node, i) => Math.log(node) - this.kernels[i]! ** 2 / 2);
    const mean = this.masses.reduce((sum, mass, i) => sum + mass * centers[i]!, 0);
    let [second, third, fourth] = [0, 0, 0];
    for (let i = 0; i < centers.length; i++) {
      const [mass, d, v] = [this.masses[i]!, centers[i]! - mean, this.kernels[i]! ** 2];
      second += mass * (d * d + v);
      third += mass * (d * d * d + 3 * d * v);
      fourth += mass * (d ** 4 + 6 * d * d * v + 3 * v * v);
    }
    return { mean, variance: second, skewness: third / second ** 1.5, kurtosis: fourth / second ** 2 };
  }

  private sum(term: (mass: number, node: number, kernel: number) => number): number {
    let sum = 0;
    for (let i = 0; i < this.nodes.length; i++) sum += term(this.masses[i]!, this.nodes[i]!, this.kernels[i]!);
    return sum;
  }
}

/** Returns the lognormal with a total variance. */
export function lognormalLaw(variance: number): PriceLaw {
  return new PriceLaw(Float64Array.of(1), Float64Array.of(1), Float64Array.of(Math.sqrt(variance)));
}

/** Beyond this many deviations a kernel has no mass that a double can add. */
const FAR = 9;

/** Returns the undiscounted price of an option on one lognormal with a mean and a standard deviation of the logarithm. */
export function kernelPrice(callPut: number, mean: number, strike: number, kernel: number): number {
  const distance = Math.log(mean / strike) / kernel;
  return (
    callPut *
    (mean * normalCdf(callPut * (distance + kernel / 2)) - strike * normalCdf(callPut * (distance - kernel / 2)))
  );
}
