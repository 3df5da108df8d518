/** Probability masses at ascending nodes. The nodes are multiples of the forward, and their mean is 1. */
export type Masses = Readonly<{ nodes: Float64Array; masses: Float64Array; reach?: Reach | undefined }>;
/** Indices of the nodes at the lowest and the highest quote. */
export type Reach = readonly [low: number, high: number];

/**
 * Raises the option prices of `later` to at least those of `earlier` at every ratio of strike to forward, so no calendar spread has a
 * negative price. Returns `later` itself if they are high enough. Its nodes must cover the range of the nodes of `earlier`. All mass lies
 * at the nodes, so prices are convex functions of the strike, linear between the nodes. The maximum of two convex functions is convex: the
 * result has no negative masses, and the same mean. The new price is at least that of `earlier` at each node, and so between nodes.
 * `rungOf` then spreads each mass by a lognormal kernel, which preserves the order, because later kernels are at least as wide (Shaked and
 * Shanthikumar 2007, theorems 3.A.12 and 3.A.34).
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
  return { nodes, masses, reach: later.reach };

  /**
   * Returns the mass at a node: the change of the price's slope. Out-of-the-money prices are used, because they are accurate in the tails.
   */
  function massAt(i: number): number {
    const isCall = i > 0 && nodes[i - 1]! >= 1;
    const priceAt = (j: number) => price[j]! + (isCall || nodes[j]! < 1 ? 0 : nodes[j]! - 1);
    const slope = (from: number) => (priceAt(from + 1) - priceAt(from)) / (nodes[from + 1]! - nodes[from]!);
    const [before, after] = isCall ? [-1, 0] : [0, 1];
    return (i === last ? after : slope(i)) - (i === 0 ? before : slope(i - 1));
  }
}

/** Returns put prices below the forward and call prices from it on, for ascending strikes. They are accurate in the tails. */
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

/** A mass rises outwards if it exceeds the mass nearer the forward by more than this share. */
const RISE = 1e-4;
const SWEEPS_MAX = 60;
/** Mass may also move to this number of nodes (1.5 standard deviations) inside the outermost quotes. */
const BLEND = 10;

function hasHumps(masses: Float64Array, [low, high]: Reach): boolean {
  for (let i = low - 1; i > 0; i--) if (masses[i]! > masses[i + 1]! * (1 + RISE)) return true;
  for (let i = high + 1; i < masses.length - 1; i++) if (masses[i]! > masses[i - 1]! * (1 + RISE)) return true;
  return false;
}

/**
 * Removes local maxima of the masses beyond the outermost quotes, where `raiseAbove` may leave them. Mass moves from a node to nodes on both
 * of its sides, so the total and the mean stay, and every option price rises or stays (a mean-preserving spread).
 */
export function levelTails(law: Masses): Masses {
  const { nodes, reach } = law;
  if (!reach || !hasHumps(law.masses, reach)) return law;
  const masses = law.masses.slice();
  const last = nodes.length - 1;
  for (const side of [-1, 1]) {
    const edge = reach[side < 0 ? 0 : 1];
    for (let sweep = 0, isLevel = false; !isLevel && sweep < SWEEPS_MAX; sweep++) {
      isLevel = true;
      for (let i = edge + side; i > 0 && i < last; i += side) {
        if (masses[i]! <= masses[i - side]! * (1 + RISE)) continue;
        isLevel = false;
        level(i, side, edge);
      }
    }
  }
  return { nodes, masses, reach };

  /** Fills the valley between a node and the forward with mass of the node, up to the level that is left at the node. */
  function level(peak: number, side: number, edge: number): void {
    let inner = peak - side;
    while (masses[inner]! < masses[peak]! && side * (inner - edge) > -BLEND) inner -= side;
    const count = Math.min(Math.abs(peak - inner) - 1, side > 0 ? last - peak : peak);
    inner = peak - side * (count + 1);
    const distance = (i: number) => Math.abs(nodes[i]! - nodes[peak]!);
    let room = 0;
    for (let k = 1; k <= count; k++) room += distance(peak + side * k);
    /** What a node of the valley takes from the peak for each unit: the unit itself, and what moves outwards to keep the mean. */
    const share = (i: number) => 1 + (count * distance(i)) / room;
    let [to, before] = [masses[peak]!, Number.POSITIVE_INFINITY];
    while (to < before) {
      let [taken, shares] = [masses[peak]!, 1];
      for (let i = peak - side; i !== inner; i -= side) {
        if (masses[i]! >= to) continue;
        taken += share(i) * masses[i]!;
        shares += share(i);
      }
      before = to;
      to = taken / shares;
    }
    let outwards = 0;
    for (let i = peak - side; i !== inner; i -= side) {
      if (masses[i]! >= to) continue;
      outwards += ((to - masses[i]!) * distance(i)) / room;
      masses[i] = to;
    }
    for (let k = 1; k <= count; k++) masses[peak + side * k]! += outwards;
    masses[peak] = to;
  }
}
