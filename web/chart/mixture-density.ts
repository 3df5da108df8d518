/** The probability distribution of a price at expiry, as a mixture of lognormals. Each list has one entry per lognormal. */
export interface PriceMixture {
  readonly forward: number;
  /** Mean of each component, as a multiple of the forward. */
  readonly node: readonly number[];
  /** Probabilities of the components. */
  readonly mass: readonly number[];
  /** Standard deviations of the log-price: one for each component, or one number for all components. */
  readonly kernel: number | readonly number[];
}

/** Returns the lognormal distribution. `deviation` is the standard deviation of the log-price. */
export function lognormalMixture(forward: number, deviation: number): PriceMixture {
  return { forward, node: [1], mass: [1], kernel: deviation };
}

const kernelOf = (kernel: PriceMixture['kernel'], i: number) => (typeof kernel === 'number' ? kernel : kernel[i]!);

/** Returns the probability of a settlement at or below a price. */
export function probabilityBelow({ forward, node, mass, kernel }: PriceMixture, price: number): number {
  if (price <= 0) return 0;
  let sum = 0;
  for (let i = 0; i < node.length; i++) {
    const width = kernelOf(kernel, i);
    sum += mass[i]! * normalBelow(Math.log(price / (forward * node[i]!)) / width + width / 2);
  }
  return Math.min(1, Math.max(0, sum));
}

/** Returns the probability density at a price, per dollar. */
export function densityAt({ forward, node, mass, kernel }: PriceMixture, price: number): number {
  if (price <= 0) return 0;
  let sum = 0;
  for (let i = 0; i < node.length; i++) {
    const width = kernelOf(kernel, i);
    const d = Math.log(price / (forward * node[i]!)) / width + width / 2;
    sum += (mass[i]! / width) * Math.exp((-d * d) / 2);
  }
  return sum / (price * Math.sqrt(2 * Math.PI));
}

/** Returns the probabilities of a settlement below two prices, between them, and above them. */
export function probabilitiesAround(mixture: PriceMixture, [a, b]: readonly [number, number]) {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  const below = probabilityBelow(mixture, low);
  const above = 1 - probabilityBelow(mixture, high);
  return { low, high, below, between: Math.max(0, 1 - below - above), above };
}

/** The probability of a price below the chart axis. The probability of a price above the axis is the same. */
const TAIL = 0.002;

/** Returns the price range of an axis that includes the prices `also`. A price beyond one end has at most the probability `TAIL`. */
export function densityRange(mixture: PriceMixture, also: readonly number[]): { low: number; high: number } {
  return {
    low: Math.min(quantileOf(mixture, TAIL), ...also.map((price) => price * 0.99)),
    high: Math.max(quantileOf(mixture, 1 - TAIL), ...also.map((price) => price * 1.01)),
  };
}

const BISECTIONS = 40;

/** Returns the price for a given probability that the underlying settles below the price. */
export function quantileOf(mixture: PriceMixture, probability: number): number {
  let [low, high] = [Math.log(1e-3), Math.log(1e3)];
  for (let i = 0; i < BISECTIONS; i++) {
    const middle = (low + high) / 2;
    if (probabilityBelow(mixture, mixture.forward * Math.exp(middle)) < probability) low = middle;
    else high = middle;
  }
  return mixture.forward * Math.exp((low + high) / 2);
}

/**
 * Returns the implied volatility of the out-of-the-money option at ln(K/F), times the square root of the time to settlement. The
 * distribution gives the price of the option, and Black's formula converts this price into a volatility. The server computes volatilities
 * in the same way, so the page and the server show the same figures.
 */
export function deviationAt({ kernel, node, mass }: Omit<PriceMixture, 'forward'>, logMoneyness: number): number {
  const moneyness = Math.exp(logMoneyness);
  let price = 0;
  for (const [i, mean] of node.entries())
    price += mass[i]! * mean * optionPrice(logMoneyness >= 0, moneyness / mean, kernelOf(kernel, i));
  // Bisection finds the deviation, because the option price increases with the deviation. 60 bisections give the precision of a double.
  let [low, high] = [0, 20];
  for (let i = 0; i < 60; i++) {
    const half = (low + high) / 2;
    if (optionPrice(logMoneyness >= 0, moneyness, half) < price) low = half;
    else high = half;
  }
  return (low + high) / 2;
}

/** Returns Black's price of an option on a forward of 1. `deviation` is the volatility times the square root of the time to settlement. */
function optionPrice(isCall: boolean, strike: number, deviation: number): number {
  const d1 = -Math.log(strike) / deviation + deviation / 2;
  return isCall
    ? normalBelow(d1) - strike * normalBelow(d1 - deviation)
    : strike * normalBelow(deviation - d1) - normalBelow(-d1);
}

/**
 * From this absolute value of `x` on, `normalBelow` uses a continued fraction for the tail. With `TAIL_TERMS` terms, the fraction has the
 * precision of a double. For smaller absolute values, a power series has the same precision.
 */
const TAIL_FROM = 3;
const TAIL_TERMS = 40;

/** Returns the standard normal distribution function, with a relative error of about 1e-13 (Marsaglia 2004). */
export function normalBelow(x: number): number {
  const size = Math.abs(x);
  const density = Math.exp(-(size * size) / 2) / Math.sqrt(2 * Math.PI);
  if (size < TAIL_FROM) {
    let [sum, term] = [0, x];
    for (let i = 1; sum + term !== sum; i += 2) {
      sum += term;
      term *= (x * x) / (i + 2);
    }
    return 0.5 + density * sum;
  }
  let fraction = size;
  for (let i = TAIL_TERMS; i > 0; i--) fraction = size + i / fraction;
  return x > 0 ? 1 - density / fraction : density / fraction;
}
