/**
 * The splines of fitted densities. A fitted log-density is a given log-density, usually hyperbolic, plus a cubic spline over z, the
 * log-moneyness ln(K/F) in at-the-money deviations (log-spline density estimation: Kooperberg and Stone 1991). Every expiry has the same
 * nodes and knots in z, so its `COEFFICIENTS` numbers are comparable. With coefficients of 0, the fitted density is the given one. Beyond
 * the outermost quotes, the spline is a straight line.
 */

/** Distance between adjacent nodes, in standard deviations. A lognormal kernel of this width spreads the probability mass of each node. */
export const NODE_STEP = 0.15;
/** The first and the last node, in standard deviations. Index options are quoted as far as 20 deviations below the forward. */
const [FIRST_NODE, LAST_NODE] = [-22.5, 10.5];
/** The number of nodes. */
export const NODES = Math.round((LAST_NODE - FIRST_NODE) / NODE_STEP) + 1;

/** Positions of the nodes, in standard deviations. */
export const NODE_Z = Float64Array.from({ length: NODES }, (_, i) => FIRST_NODE + i * NODE_STEP);

/** Positions of the inner knots, in standard deviations: close together where options are densely quoted. */
const INNER_KNOTS = [
  ...[-15, -10, -7, -5.25, -4, -3, -2.4, -1.9, -1.45, -1.05, -0.7, -0.35],
  ...[0, 0.35, 0.7, 1.05, 1.45, 1.9, 2.4, 3, 3.75, 4.5, 6, 8],
];
const DEGREE = 3;
const KNOTS = [
  ...Array.from({ length: DEGREE + 1 }, () => FIRST_NODE),
  ...INNER_KNOTS,
  ...Array.from({ length: DEGREE + 1 }, () => LAST_NODE),
];

/** The number of coefficients of a spline. */
export const COEFFICIENTS = KNOTS.length - DEGREE - 1;
/** The number of basis functions that are not zero at a node. */
export const OVERLAP = DEGREE + 1;

/** The coefficients for which the spline equals z (Greville's abscissae). */
export const LINEAR = Float64Array.from(
  { length: COEFFICIENTS },
  (_, i) => (KNOTS[i + 1]! + KNOTS[i + 2]! + KNOTS[i + 3]!) / DEGREE,
);

/** For each node, the index of the first basis function that is nonzero there. The other nonzero basis functions have the next indices. */
export const FIRST_BASIS = new Uint8Array(NODES);
/** Values of the `OVERLAP` basis functions at each node, one node after the other. */
export const BASIS = new Float64Array(NODES * OVERLAP);

for (let node = 0; node < NODES; node++) {
  const interval = intervalAt(node);
  FIRST_BASIS[node] = interval - DEGREE;
  BASIS.set(basisAt(NODE_Z[node]!, interval), node * OVERLAP);
}

/** Returns the interval between two knots that has a node. The last node belongs to the last interval. */
function intervalAt(node: number): number {
  let interval = DEGREE;
  while (interval < COEFFICIENTS - 1 && NODE_Z[node]! >= KNOTS[interval + 1]!) interval++;
  return interval;
}

/** Slopes of the `OVERLAP` basis functions at each node, by central differences. */
const SLOPES = new Float64Array(NODES * OVERLAP);
const SLOPE_STEP = 1e-5;
for (let node = 0; node < NODES; node++) {
  const [z, interval] = [NODE_Z[node]!, intervalAt(node)];
  const [before, after] = [basisAt(z - SLOPE_STEP, interval), basisAt(z + SLOPE_STEP, interval)];
  SLOPES.set(
    after.map((each, i) => (each - before[i]!) / (2 * SLOPE_STEP)),
    node * OVERLAP,
  );
}

/** A node at which the log-density must fall outwards: at or near an outermost quote, or at a knot between quotes. */
export interface Edge {
  readonly node: number;
  /** -1 below the forward, +1 above. */
  readonly side: -1 | 1;
  /** The least fall per unit of ln(K/F). */
  readonly fall: 0 | 1;
  /** Index of the first basis function that is nonzero at the node, and the slopes there of this function and of the next ones. */
  readonly first: number;
  readonly slopes: Float64Array;
}

/** The spline is free up to this distance from the forward, in standard deviations, even if no quote is as far. */
const FREE = 1.8;

/** Further from the forward than this, in standard deviations, a log-density falls outwards also between quotes, at each knot. */
const FALLS_FROM = 3;

/**
 * Returns the edges for the z of the outermost quotes. From there on outwards, the spline is a straight line. It falls by 1 or more per unit of
 * ln(K/F): below the forward, the density of the price then does not rise towards a price of 0, and above, the mean is finite (Lee 2004).
 */
export function edgesAt(low: number, high: number): Edge[] {
  const [from, to] = nodesWithin(Math.min(low, -FREE), Math.max(high, FREE));
  return [edgeOf(from, -1, 1), edgeOf(to, 1, 1)];
}

/** Returns the places between the forward and the edges where a log-density must fall outwards. */
export function knotsWithin(edges: readonly Edge[]): Edge[] {
  return edges.flatMap(({ node, side }) => FALLS.filter((fall) => fall.side === side && side * (node - fall.node) > 1));
}

function edgeOf(node: number, side: -1 | 1, fall: 0 | 1): Edge {
  return { node, side, fall, first: FIRST_BASIS[node]!, slopes: SLOPES.subarray(node * OVERLAP, (node + 1) * OVERLAP) };
}

const FALLS = INNER_KNOTS.filter((z) => Math.abs(z) > FALLS_FROM).map((z) =>
  edgeOf(Math.round((z - FIRST_NODE) / NODE_STEP), z < 0 ? -1 : 1, 0),
);

/** Returns the nodes from z = `low` to z = `high`, the first and the last, without the outermost one on each side, whose mass spreads beyond. */
export function nodesWithin(low: number, high: number): [number, number] {
  const place = (z: number) => Math.min(Math.max((z - FIRST_NODE) / NODE_STEP, 0), NODES - 1);
  return [Math.min(Math.ceil(place(low)) + 1, NODES - 1), Math.max(Math.floor(place(high)) - 1, 0)];
}

/** Returns `FIRST_BASIS` and `BASIS` for splines that are straight lines beyond the edges. */
export function straightBeyond(edges: readonly Edge[]): { firstBasis: Uint8Array; basis: Float64Array } {
  const [firstBasis, basis] = [FIRST_BASIS.slice(), BASIS.slice()];
  for (const { node, side, first, slopes } of edges) {
    for (let i = node + side; i >= 0 && i < NODES; i += side) {
      firstBasis[i] = first;
      for (let j = 0; j < OVERLAP; j++) {
        basis[i * OVERLAP + j] = BASIS[node * OVERLAP + j]! + slopes[j]! * (NODE_Z[i]! - NODE_Z[node]!);
      }
    }
  }
  return { firstBasis, basis };
}

/** Returns the values at z of all B-splines that are nonzero in an interval between two knots (de Boor 1978, algorithm BSPLVB). */
function basisAt(z: number, interval: number): number[] {
  const values = [1];
  for (let degree = 1; degree <= DEGREE; degree++) {
    let carried = 0;
    for (let i = 0; i < degree; i++) {
      const right = KNOTS[interval + i + 1]! - z;
      const left = z - KNOTS[interval + 1 - degree + i]!;
      const share = values[i]! / (right + left);
      values[i] = carried + right * share;
      carried = left * share;
    }
    values[degree] = carried;
  }
  return values;
}

/**
 * The matrix, row by row, of the quadratic form that gives the roughness of a spline: the integral over z of the squared third derivative.
 * It is zero for a quadratic spline.
 */
export const ROUGHNESS = new Float64Array(COEFFICIENTS * COEFFICIENTS);

for (let node = 0; node + DEGREE < NODES; node++) {
  const difference = new Float64Array(COEFFICIENTS);
  for (const [offset, factor] of [-1, 3, -3, 1].entries()) {
    const other = node + offset;
    for (let i = 0; i < OVERLAP; i++) difference[FIRST_BASIS[other]! + i]! += factor * BASIS[other * OVERLAP + i]!;
  }
  for (let i = 0; i < COEFFICIENTS; i++) {
    for (let j = 0; j < COEFFICIENTS; j++) {
      ROUGHNESS[i * COEFFICIENTS + j]! += (difference[i]! * difference[j]!) / NODE_STEP ** 5;
    }
  }
}
