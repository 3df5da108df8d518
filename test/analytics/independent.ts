import { blackScholesDelta, bruteMaxPain, normalCdf, type PlainContract, type PlainOption } from './plain.ts';

/**
 * An independent implementation of the levels and the density, as plain as possible. It uses nothing of the code that
 * it checks. Gamma and vanna are differences of deltas. The delta of a day later is an integral. The flip reprices every
 * contract at every level of the linear grid. Walls and max pain try every strike. The density is integrated. The prepared
 * columns (volatility, time, rate, dividend) are taken as given: they have their own tests.
 */
export interface Holding extends PlainContract {
  /** The same for all contracts of one series. */
  readonly series: number;
}

export interface IndependentLevels {
  /** Dollars: gamma per 1 % move, delta as such, vanna per vol point, charm over the coming calendar day. */
  readonly net: number;
  readonly gross: number;
  readonly dex: number;
  readonly vex: number;
  readonly cex: number;
  /** Sums of the absolute values. */
  readonly grossVex: number;
  readonly grossCex: number;
  /** `NaN` if no strike lies on that side. */
  readonly callWall: number;
  readonly putWall: number;
  readonly callUnsided: number;
  readonly putUnsided: number;
  readonly absolute: number;
  readonly flip: { readonly level: number; readonly resolved: boolean };
  /** The series with the most gross gamma. */
  readonly dominant: number;
  /** By series. */
  readonly maxPain: ReadonlyMap<number, number>;
}

export function independentLevels(holdings: readonly Holding[], spot: number): IndependentLevels {
  const dollars = holdings.map((each) => gexOf(each, spot));
  const sums = { dex: 0, vex: 0, cex: 0, grossVex: 0, grossCex: 0 };
  for (const each of holdings) {
    if (!counts(each)) continue;
    const scale = each.callPut * each.weight * each.multiplier * spot;
    sums.dex += scale * blackScholesDelta(each, spot);
    const vex = scale * difference((iv) => blackScholesDelta({ ...each, iv }, spot), each.iv, BUMP * each.iv) * 0.01;
    const change = deltaAfterADay(each, spot) - blackScholesDelta(each, spot);
    const cex = isOpen(each, spot) ? 0 : scale * change;
    sums.vex += vex;
    sums.cex += cex;
    sums.grossVex += Math.abs(vex);
    sums.grossCex += Math.abs(cex);
  }
  const heaps = (side: (callPut: number) => boolean) => {
    const heap = new Map<number, number>();
    holdings.forEach(({ callPut, strike }, i) => {
      heap.set(strike, (heap.get(strike) ?? 0) + (side(callPut) ? Math.abs(dollars[i]!) : 0));
    });
    return [...heap].sort(([a], [b]) => a - b);
  };
  const [calls, puts] = [heaps((callPut) => callPut === 1), heaps((callPut) => callPut === -1)];
  const bySeries = Map.groupBy(holdings, ({ series }) => series);
  const grossOf = new Map<number, number>();
  holdings.forEach(({ series }, i) => {
    grossOf.set(series, (grossOf.get(series) ?? 0) + Math.abs(dollars[i]!));
  });
  return {
    net: dollars.reduce((sum, each) => sum + each, 0),
    gross: dollars.reduce((sum, each) => sum + Math.abs(each), 0),
    ...sums,
    callWall: largest(
      calls.filter(([strike]) => strike >= spot),
      spot,
    ),
    putWall: largest(
      puts.filter(([strike]) => strike <= spot),
      spot,
    ),
    callUnsided: largest(calls, spot),
    putUnsided: largest(puts, spot),
    absolute: largest(
      heaps(() => true),
      spot,
    ),
    flip: flipOf(holdings, spot),
    dominant: [...grossOf].reduce((best, each) => (each[1] > best[1] ? each : best))[0],
    maxPain: new Map([...bySeries].map(([series, its]) => [series, bruteMaxPain(its)])),
  };
}

function counts({ iv, weight }: Holding): boolean {
  return iv > 0 && weight > 0;
}

function gexOf(holding: Holding, spot: number): number {
  if (!counts(holding)) return 0;
  const { callPut, weight, multiplier } = holding;
  return callPut * gamma(holding, spot) * weight * multiplier * spot * spot * 0.01;
}

/** Step of the differences: a thousandth of a deviation. The truncation error (fourth power) and the rounding error are both small. */
const BUMP = 0.001;

/**
 * A call and its put have the same derivatives: their deltas differ by a term that does not depend on spot. The smaller
 * delta loses fewer digits.
 */
function gamma(holding: Holding, spot: number): number {
  const { strike, tte, rate, dividend } = holding;
  const otm = { ...holding, callPut: strike >= spot * Math.exp((rate - dividend) * tte) ? 1 : -1 };
  return difference((level) => blackScholesDelta(otm, level), spot, BUMP * spot * holding.iv * Math.sqrt(holding.tte));
}

const DAY = 1 / 365.25;

/** The delta a day later, or at an earlier settlement, if the forward stays the same. */
export function deltaAfterADay(option: PlainOption, spot = option.spot): number {
  const { callPut, strike, tte, iv, rate, dividend } = option;
  const factor = Math.exp(-dividend * tte + dividend * tte * (Math.min(tte, DAY) / Math.max(tte, 30 * DAY)));
  const moneyness = Math.log(spot / strike) + (rate - dividend) * tte;
  const rest = iv * Math.sqrt(Math.max(tte - DAY, 0));
  if (rest === 0) return callPut * moneyness > 0 ? callPut * factor : 0;
  return callPut * factor * normalCdf(callPut * (moneyness / rest + rest / 2));
}

/** Whether a strike is within one standard deviation of the forward, over the part of the coming day that is in the last day. */
export function isOpen({ strike, tte, iv, rate, dividend }: PlainOption, spot: number): boolean {
  const moneyness = Math.log(spot / strike) + (rate - dividend) * tte;
  return Math.abs(moneyness) < iv * Math.sqrt(Math.max(Math.min(tte, 2 * DAY - tte), 0));
}

/** First derivative by central differences of fourth order. */
function difference(value: (x: number) => number, x: number, step: number): number {
  const inner = value(x + step) - value(x - step);
  const outer = value(x + 2 * step) - value(x - 2 * step);
  return (8 * inner - outer) / (12 * step);
}

/** The strike nearest spot on a tie. Of two equally near, the lower. */
function largest(heaps: readonly (readonly [strike: number, heap: number])[], spot: number): number {
  let [best, most] = [Number.NaN, -1];
  for (const [strike, heap] of heaps) {
    const nearer = Math.abs(strike - spot) < Math.abs(best - spot);
    if (heap > most || (heap === most && nearer)) [best, most] = [strike, heap];
  }
  return best;
}

/** Net gamma with spot at a level, dollars per 1 % move. */
function netAt(holdings: readonly Holding[], level: number): number {
  return holdings.reduce((sum, each) => sum + gexOf(each, level), 0);
}

/** Net gamma at spots a quarter percent of the current one apart, within 20, then 35, then 50 percent of it. */
function flipOf(holdings: readonly Holding[], spot: number): { level: number; resolved: boolean } {
  // A call and its put have the same gamma. If their volatilities are equal too, they count as one.
  const alike = Map.groupBy(
    holdings.filter(counts),
    ({ strike, tte, iv, rate, dividend }) => `${strike} ${tte} ${iv} ${rate} ${dividend}`,
  );
  const held = [...alike.values()].map((its) => {
    const net = its.reduce((sum, { callPut, weight, multiplier }) => sum + callPut * weight * multiplier, 0);
    return { ...its[0]!, callPut: Math.sign(net), weight: Math.abs(net), multiplier: 1 };
  });
  const known = new Map<number, { step: number; level: number; gex: number }>();
  const net = (step: number) => {
    const level = spot * (1 + step / 400);
    const its = known.get(step) ?? { step, level, gex: netAt(held, level) };
    known.set(step, its);
    return its;
  };
  for (const steps of [80, 140, 200]) {
    const grid = Array.from({ length: 2 * steps + 1 }, (_, i) => net(i - steps));
    const signed = grid.filter(({ gex }) => gex !== 0);
    const crossings = signed.slice(1).flatMap((to, i) => {
      const from = signed[i]!;
      if (from.gex < 0 === to.gex < 0) return [];
      // Across levels without gamma, the middle of them.
      const share = to.step === from.step + 1 ? from.gex / (from.gex - to.gex) : 0.5;
      return [from.level + share * (to.level - from.level)];
    });
    if (crossings.length > 0) return { level: nearest(crossings, spot), resolved: true };
  }
  const least = Math.min(...[...known.values()].map(({ gex }) => Math.abs(gex)));
  const levels = [...known.values()].filter(({ gex }) => Math.abs(gex) === least).map(({ level }) => level);
  return { level: nearest(levels, spot), resolved: false };
}

function nearest(levels: readonly number[], spot: number): number {
  return levels.reduce((best, each) => (Math.abs(each - spot) < Math.abs(best - spot) ? each : best));
}

/** A lognormal component of a mixture: its mean as a multiple of the forward, its volatility per year. */
export interface Lognormal {
  readonly weight: number;
  readonly mean: number;
  readonly volatility: number;
}

/** The density of the price at settlement alone: every figure is an integral over it. */
export class IntegratedDensity {
  readonly #components: readonly { weight: number; centre: number; deviation: number }[];
  readonly #low: number;
  readonly #high: number;
  readonly #panel: number;

  constructor(components: readonly Lognormal[], forward: number, tte: number) {
    this.#components = components.map(({ weight, mean, volatility }) => {
      const deviation = volatility * Math.sqrt(tte);
      return { weight, centre: Math.log(forward * mean) - (deviation * deviation) / 2, deviation };
    });
    const reach = (side: number) => this.#components.map(({ centre, deviation }) => centre + side * 10 * deviation);
    this.#low = Math.min(...reach(-1));
    this.#high = Math.max(...reach(1));
    // Half the narrowest deviation: five points per interval are accurate to thirteen digits.
    this.#panel = Math.min(...this.#components.map(({ deviation }) => deviation)) / 2;
  }

  /** Density per dollar. */
  at(price: number): number {
    return this.#ofLog(Math.log(price)) / price;
  }

  /** Expectation of a function of the price. The function is smooth between the two prices and 0 elsewhere. */
  expected(value: (price: number) => number, from = 0, to = Number.POSITIVE_INFINITY): number {
    const [low, high] = [Math.max(Math.log(from), this.#low), Math.min(Math.log(to), this.#high)];
    if (low >= high) return 0;
    const panels = Math.ceil((high - low) / this.#panel);
    const half = (high - low) / panels / 2;
    let sum = 0;
    for (let panel = 0; panel < panels; panel++) {
      const middle = low + (2 * panel + 1) * half;
      for (const [node, weight] of GAUSS_LEGENDRE) {
        const y = middle + node * half;
        sum += weight * half * value(Math.exp(y)) * this.#ofLog(y);
      }
    }
    return sum;
  }

  /** Undiscounted price of a European option. */
  price(callPut: number, strike: number): number {
    return callPut === 1
      ? this.expected((price) => price - strike, strike)
      : this.expected((price) => strike - price, 0, strike);
  }

  #ofLog(y: number): number {
    return this.#components.reduce((sum, { weight, centre, deviation }) => {
      const z = (y - centre) / deviation;
      return sum + (weight * Math.exp((-z * z) / 2)) / (deviation * Math.sqrt(2 * Math.PI));
    }, 0);
  }
}

/** Nodes and weights on [-1, 1], Abramowitz and Stegun table 25.4. */
const GAUSS_LEGENDRE = [
  [-0.906179845938664, 0.2369268850561891],
  [-0.5384693101056831, 0.4786286704993665],
  [0, 0.5688888888888889],
  [0.5384693101056831, 0.4786286704993665],
  [0.906179845938664, 0.2369268850561891],
] as const;
