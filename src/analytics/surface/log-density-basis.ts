/**
 * The splines that describe fitted densities. A fitted log-density is the sum of a given log-density, usually normal, and a cubic spline
 * over z (log-spline density estimation: Kooperberg and Stone 1991). The variable z is the log-moneyness ln(K/F) in standard deviations at
 * the money. Every expiry uses the same nodes and knots in z. So a density is described by `COEFFICIENTS` numbers, which are comparable
 * between expiries. If all coefficients are 0, the fitted density is the given density.
 */

/** Distance between adjacent nodes, in standard deviations. A lognormal kernel of this width spreads the probability mass of each node. */
export const NODE_STEP = 0.15;
/** The first and the last node, in standard deviations. Index options are quoted as far as ten deviations below the forward. */
const [FIRST_NODE, LAST_NODE] = [-12, 8.1];
/** The number of nodes. */
export const NODES = Math.round((LAST_NODE - FIRST_NODE) / NODE_STEP) + 1;

/** Positions of the nodes, in standard deviations. */
export const NODE_Z = Float64Array.from({ length: NODES }, (_, i) => FIRST_NODE + i * NODE_STEP);

/** Positions of the inner knots, in standard deviations: close together where options are densely quoted, further apart in the tails. */
const INNER_KNOTS = [
  ...[-9, -7, -5.5, -4.5, -3.75, -3, -2.4, -1.9, -1.45, -1.05, -0.7, -0.35],
  ...[0, 0.35, 0.7, 1.05, 1.45, 1.9, 2.4, 3, 3.75, 4.5, 6],
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
  // The last node belongs to the last interval.
  const z = Math.min(NODE_Z[node]!, LAST_NODE - 1e-12);
  let interval = DEGREE;
  while (interval < COEFFICIENTS - 1 && z >= KNOTS[interval + 1]!) interval++;
  FIRST_BASIS[node] = interval - DEGREE;
  BASIS.set(basisAt(z, interval), node * OVERLAP);
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
 * The matrix of a quadratic form, row by row. The quadratic form computes the roughness of a spline from its coefficients. Roughness is the
 * integral over z of the squared third derivative. A spline that is quadratic in z has zero roughness. So if the given density is normal, a
 * penalty on roughness moves the fitted density towards a normal density.
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
