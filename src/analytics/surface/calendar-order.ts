/** Probability masses at ascending nodes. The nodes are multiples of the forward, and their mean is 1. */
export interface Masses {
  readonly nodes: Float64Array;
  readonly masses: Float64Array;
}

/**
 * Raises a law so that it is worth at least as much as an earlier one at every strike over forward. Then no calendar spread has a negative
 * value. Returns the law itself if it already is.
 *
 * The price of masses at nodes is a convex function of the strike, linear between the nodes. The larger of two convex functions is convex. So
 * the result has positive masses again, and the same mean. The result is at least the earlier law's price at its own nodes, therefore also
 * between them, where the earlier price is below its chord. Both laws are then spread by kernels, the later one by wider kernels, which
 * preserves the order (convex order: Shaked and Shanthikumar 2007, theorems 3.A.12 and 3.A.34).
 *
 * The nodes of `later` must reach as far as those of `earlier`.
 */
export function raiseAbove(later: Masses, earlier: Masses): Masses {
  const { nodes } = later;
  const own = otmPrices(later, nodes);
  const least = otmPrices(earlier, nodes);
  const isBelow = own.map((price, i) => Number(price < least[i]!));
  if (!isBelow.includes(1)) return later;
  const price = own.map((each, i) => Math.max(each, least[i]!));
  const masses = later.masses.slice();
  const last = nodes.length - 1;
  for (let i = 0; i <= last; i++) {
    const changes = isBelow[i]! + (isBelow[i - 1] ?? 0) + (isBelow[i + 1] ?? 0) > 0;
    if (changes) masses[i] = Math.max(0, massAt(i));
  }
  return { nodes, masses };

  /** The change of the slope of the price at a node: of the calls above the forward, of the puts below it, each accurate in its tail. */
  function massAt(i: number): number {
    const isCall = i > 0 && nodes[i - 1]! >= 1;
    const priceAt = (j: number) => price[j]! + (isCall || nodes[j]! < 1 ? 0 : nodes[j]! - 1);
    const slope = (from: number) => (priceAt(from + 1) - priceAt(from)) / (nodes[from + 1]! - nodes[from]!);
    const [before, after] = isCall ? [-1, 0] : [0, 1];
    return (i === last ? after : slope(i)) - (i === 0 ? before : slope(i - 1));
  }
}

/** Prices of the puts below the forward and of the calls from it on, at ascending strikes. Sums of positive numbers, so tails are accurate. */
export function otmPrices({ nodes, masses }: Masses, strikes: Float64Array): Float64Array {
  const prices = new Float64Array(strikes.length);
  let [price, mass, node] = [0, 0, 0];
  for (let i = 0; i < strikes.length && strikes[i]! < 1; i++) {
    const strike = strikes[i]!;
    price += i === 0 ? 0 : mass * (strike - strikes[i - 1]!);
    for (; node < nodes.length && nodes[node]! < strike; node++) {
      mass += masses[node]!;
      price += masses[node]! * (strike - nodes[node]!);
    }
    prices[i] = price;
  }
  [price, mass, node] = [0, 0, nodes.length - 1];
  for (let i = strikes.length - 1; i >= 0 && strikes[i]! >= 1; i--) {
    const strike = strikes[i]!;
    price += i === strikes.length - 1 ? 0 : mass * (strikes[i + 1]! - strike);
    for (; node >= 0 && nodes[node]! > strike; node--) {
      mass += masses[node]!;
      price += masses[node]! * (nodes[node]! - strike);
    }
    prices[i] = price;
  }
  return prices;
}
