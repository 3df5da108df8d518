/**
 * A plain second implementation of the mathematics without the kernels, for comparison in tests. It is not fast, and need not be.
 */
export interface PlainOption {
  readonly callPut: number;
  readonly spot: number;
  readonly strike: number;
  readonly tte: number;
  readonly iv: number;
  readonly rate: number;
  readonly dividend: number;
}

/** N(x): Marsaglia 2004 near zero, Laplace 1805 beyond three. */
export function normalCdf(x: number): number {
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (Math.abs(x) < 3) {
    let [term, sum] = [x, 0];
    for (let n = 1; sum + term !== sum; n += 2) {
      sum += term;
      term *= (x * x) / (n + 2);
    }
    return 0.5 + density * sum;
  }
  let fraction = Math.abs(x);
  for (let n = 40; n >= 1; n--) fraction = Math.abs(x) + n / fraction;
  return x < 0 ? density / fraction : 1 - density / fraction;
}

export function blackScholesPrice({ callPut, spot, strike, tte, iv, rate, dividend }: PlainOption): number {
  const deviation = iv * Math.sqrt(tte);
  const d1 = (Math.log(spot / strike) + (rate - dividend) * tte) / deviation + deviation / 2;
  const carried = spot * Math.exp(-dividend * tte) * normalCdf(callPut * d1);
  const paid = strike * Math.exp(-rate * tte) * normalCdf(callPut * (d1 - deviation));
  return callPut * (carried - paid);
}

/** Root of the total variance at which Black's formula gives a price, by bisection. */
export function volatilityOf(side: number, strike: number, price: number): number {
  let [low, high] = [1e-9, 10];
  for (let i = 0; i < 100; i++) {
    const s = (low + high) / 2;
    const d1 = -Math.log(strike) / s + s / 2;
    if (side * (normalCdf(side * d1) - strike * normalCdf(side * (d1 - s))) < price) low = s;
    else high = s;
  }
  return (low + high) / 2;
}

/** `spot` may differ from that of the option. */
export function blackScholesDelta(option: PlainOption, spot = option.spot): number {
  const { callPut, strike, tte, iv, rate, dividend } = option;
  const d1 = (Math.log(spot / strike) + (rate - dividend + (iv * iv) / 2) * tte) / (iv * Math.sqrt(tte));
  return callPut * Math.exp(-dividend * tte) * normalCdf(callPut * d1);
}

/**
 * The delta a calendar day later if spot moves along its forward, for more than two days to settlement. The carry of an
 * option of less than 30 days is spread over 30 days.
 */
export function deltaAlongForward(option: PlainOption): number {
  const { spot, tte, rate, dividend } = option;
  const day = 1 / 365.25;
  const growth = Math.exp(dividend * day * (Math.min(1, tte / (30 * day)) - 1));
  return growth * blackScholesDelta({ ...option, spot: spot * Math.exp((rate - dividend) * day), tte: tte - day });
}

/** Second difference of prices, of fourth order, with steps of a fiftieth of a standard deviation. */
export function bumpedGamma(option: PlainOption): number {
  const step = 0.02 * option.spot * option.iv * Math.sqrt(option.tte);
  // Out-of-the-money prices are small and lose the fewest digits to cancellation. Both sides have the same gamma.
  const callPut = option.strike >= option.spot ? 1 : -1;
  const at = (steps: number) => blackScholesPrice({ ...option, callPut, spot: option.spot + steps * step });
  return (-at(2) + 16 * at(1) - 30 * at(0) + 16 * at(-1) - at(-2)) / (12 * step * step);
}

/** An option of which there are `weight` contracts of `multiplier` shares each. */
export interface PlainContract extends PlainOption {
  readonly weight: number;
  readonly multiplier: number;
}

/** The contracts' net gamma, dollars per 1 % move, with spot at a level and each volatility unchanged. */
export function netGex(contracts: readonly PlainContract[], level: number): number {
  return contracts.reduce((sum, each) => {
    if (!(each.iv > 0) || each.weight === 0) return sum;
    const gamma = bumpedGamma({ ...each, spot: level });
    return sum + each.callPut * gamma * each.weight * each.multiplier * level * level * 0.01;
  }, 0);
}

/** The sign change nearest spot: searched outward in small steps, then refined by bisection. */
export function nearestSignChange(value: (level: number) => number, spot: number, step: number): number {
  let [above, below] = [spot, spot];
  let [valueAbove, valueBelow] = [value(spot), value(spot)];
  while (above < 1.5 * spot) {
    const [up, down] = [above + step, below - step];
    const [valueUp, valueDown] = [value(up), value(down)];
    if (valueUp * valueAbove <= 0) return halve(value, above, up);
    if (valueDown * valueBelow <= 0) return halve(value, down, below);
    [above, below, valueAbove, valueBelow] = [up, down, valueUp, valueDown];
  }
  return Number.NaN;
}

function halve(value: (level: number) => number, from: number, to: number): number {
  let [low, high] = [from, to];
  const sign = Math.sign(value(low));
  for (let turn = 0; turn < 20; turn++) {
    const half = (low + high) / 2;
    if (Math.sign(value(half)) === sign) low = half;
    else high = half;
  }
  return (low + high) / 2;
}

/** The strike with the smallest total payout: every option at every listed strike, the lowest on a tie. */
export function bruteMaxPain(
  contracts: readonly Pick<PlainContract, 'callPut' | 'strike' | 'weight' | 'multiplier'>[],
): number {
  const strikes = [...new Set(contracts.map(({ strike }) => strike))].sort((a, b) => a - b);
  const paid = strikes.map((settle) =>
    contracts.reduce((sum, { callPut, strike, weight, multiplier }) => {
      return sum + Math.max(callPut * (settle - strike), 0) * weight * multiplier;
    }, 0),
  );
  // Sums in another order differ in their last digits.
  const least = Math.min(...paid) * (1 + 1e-12);
  return strikes[paid.findIndex((each) => each <= least)]!;
}
