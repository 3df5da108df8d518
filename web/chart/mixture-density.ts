import { normalBelow } from './law-smile.ts';

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
