/** The probability distribution of the price at a settlement, as a mixture of lognormals. Each mean is a multiple of the forward. */
export interface SmileLaw {
  /** Standard deviation of the log-price, equal for all components. */
  readonly kernel: number;
  readonly node: readonly number[];
  readonly mass: readonly number[];
}

/**
 * Returns the implied volatility of the out-of-the-money option at ln(K/F), times the square root of the time to settlement. The
 * distribution gives the price of the option, and Black's formula converts this price into a volatility. The server computes volatilities
 * in the same way, so the page and the server show the same figures.
 */
export function deviationAt({ kernel, node, mass }: SmileLaw, logMoneyness: number): number {
  const moneyness = Math.exp(logMoneyness);
  let price = 0;
  for (const [i, mean] of node.entries())
    price += mass[i]! * mean * optionPrice(logMoneyness >= 0, moneyness / mean, kernel);
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
