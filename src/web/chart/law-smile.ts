/** The law of the price at a settlement: a mixture of lognormals. Means are multiples of the forward. */
export interface SmileLaw {
  /** Standard deviation of the log-price in every component. */
  readonly kernel: number;
  readonly node: readonly number[];
  readonly mass: readonly number[];
}

/**
 * Returns the volatility that Black's formula implies for the law's price of the out-of-the-money option at ln(K/F), times the root of the
 * time to settlement. The server computes the figures of the same law, so both agree.
 */
export function deviationAt({ kernel, node, mass }: SmileLaw, logMoneyness: number): number {
  const moneyness = Math.exp(logMoneyness);
  let price = 0;
  for (const [i, mean] of node.entries())
    price += mass[i]! * mean * optionPrice(logMoneyness >= 0, moneyness / mean, kernel);
  // The price rises with the deviation, so halving an interval finds it. 60 halvings reach the precision of a double.
  let [low, high] = [0, 20];
  for (let i = 0; i < 60; i++) {
    const half = (low + high) / 2;
    if (optionPrice(logMoneyness >= 0, moneyness, half) < price) low = half;
    else high = half;
  }
  return (low + high) / 2;
}

/** Black's price of an option on a forward of 1. `deviation` is the volatility times the root of the time. */
function optionPrice(isCall: boolean, strike: number, deviation: number): number {
  const d1 = -Math.log(strike) / deviation + deviation / 2;
  return isCall
    ? normalBelow(d1) - strike * normalBelow(d1 - deviation)
    : strike * normalBelow(deviation - d1) - normalBelow(-d1);
}

/** The standard normal distribution function, with an error of some 1e-15 (Hart 1968, as in West 2005). */
export function normalBelow(x: number): number {
  const size = Math.abs(x);
  if (size > 37) return x > 0 ? 1 : 0;
  const density = Math.exp(-(size * size) / 2);
  let tail: number;
  if (size < 7.07106781186547) {
    tail = (density * horner(HART_ABOVE, size)) / horner(HART_BELOW, size);
  } else {
    let fraction = size + 0.65;
    for (let i = 4; i > 0; i--) fraction = size + i / fraction;
    tail = density / fraction / 2.506628274631;
  }
  return x > 0 ? 1 - tail : tail;
}

const horner = (coefficients: readonly number[], x: number) => coefficients.reduce((sum, each) => sum * x + each, 0);

const HART_ABOVE = [
  3.52624965998911e-2, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
  220.206867912376,
];
const HART_BELOW = [
  8.83883476483184e-2, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
  793.826512519948, 440.413735824752,
];
