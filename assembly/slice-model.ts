/**
 * Worst error found: price 5.05, at draw 110 of scripts/slice-errors.ts.
 * The unit is the change that one rounding of each term can cause.
 *
 * The arithmetic of src/analytics/surface/slice-model.ts, which explains the names and the equations. Each sum adds its terms in the order
 * of the rows or nodes, one at a time, so its bits do not depend on the number of lanes.
 */
import { COLUMN, PAIR, rowAt } from './block';
import { SliceColumn } from './columns';
import { add, mul, sub } from './lanes';

// Columns with one number per row. Indices of nodes are f64, because every column is f64.
const CALL_PUT: usize = <usize>SliceColumn.callPut * COLUMN;
const STRIKE: usize = <usize>SliceColumn.strike * COLUMN;
const NEAR_FROM: usize = <usize>SliceColumn.nearFrom * COLUMN;
const NEAR_TO: usize = <usize>SliceColumn.nearTo * COLUMN;
const PRICE: usize = <usize>SliceColumn.price * COLUMN;
const SCALE: usize = <usize>SliceColumn.scale * COLUMN;
const SIDE: usize = <usize>SliceColumn.side * COLUMN;
const ERROR: usize = <usize>SliceColumn.error * COLUMN;
/** The prices of the nodes near each strike, NEAR_BYTES for each row. */
const NEAR: usize = <usize>SliceColumn.near * COLUMN;
const NEAR_BYTES: usize = 13 << 3;
// Vectors with one number per node, or one number more, NODES_BYTES apart.
const NODES_BYTES: usize = 224 << 3;
const NODE: usize = <usize>SliceColumn.nodes * COLUMN;
const Z: usize = NODE + NODES_BYTES;
const FIRST_BASIS: usize = NODE + 2 * NODES_BYTES;
const PRIOR: usize = NODE + 3 * NODES_BYTES;
const MASS: usize = <usize>SliceColumn.masses * COLUMN;
const MASS_BEFORE: usize = MASS + NODES_BYTES;
const MEAN_BEFORE: usize = MASS + 2 * NODES_BYTES;
const TILTED_MASS: usize = MASS + 3 * NODES_BYTES;
const TILTED_MEAN: usize = MASS + 4 * NODES_BYTES;
// OVERLAP numbers per node: basis functions, and the local sums of the earlier nodes.
const OVERLAP: i32 = 4;
const OVERLAP_BYTES: usize = 32;
const BASIS: usize = <usize>SliceColumn.basis * COLUMN;
const LOCAL_MASS: usize = <usize>SliceColumn.localMass * COLUMN;
const LOCAL_MEAN: usize = <usize>SliceColumn.localMean * COLUMN;
// Matrices, row by row.
const PENALTY: usize = <usize>SliceColumn.penalty * COLUMN;
const NORMAL: usize = <usize>SliceColumn.normal * COLUMN;
const FACTORS: usize = <usize>SliceColumn.factors * COLUMN;
// The inputs of `sliceNear`, in columns that the other kernels get later.
const NEAR_PRICE: usize = NORMAL;
const NEAR_SLOPE: usize = FACTORS;
const ROOT: usize = NODE;
// Vectors with one number per coefficient, COEFFICIENTS_BYTES apart.
const COEFFICIENTS_BYTES: usize = 32 << 3;
const COEFFICIENT: usize = <usize>SliceColumn.coefficients * COLUMN;
const GRADIENT: usize = COEFFICIENT + COEFFICIENTS_BYTES;
const STEP: usize = COEFFICIENT + 2 * COEFFICIENTS_BYTES;
const BASIS_MASS: usize = COEFFICIENT + 3 * COEFFICIENTS_BYTES;
const BASIS_MEAN: usize = COEFFICIENT + 4 * COEFFICIENTS_BYTES;
const CHANGE: usize = COEFFICIENT + 5 * COEFFICIENTS_BYTES;
const WITH_PRICE: usize = COEFFICIENT + 6 * COEFFICIENTS_BYTES;
const WITH_TILT: usize = COEFFICIENT + 7 * COEFFICIENTS_BYTES;
/** Five sums over the rows, or four sums over the nodes. */
const SUMS: usize = COEFFICIENT + 8 * COEFFICIENTS_BYTES;

/** The largest price error that is taken as noise, as a share of the half-width. */
const QUIET: f64 = 0.6;
/** The second derivative of the cost is larger by this factor for errors above `QUIET` and for errors beyond a bound. */
const STEEPNESS: f64 = 10.0;
/** The error above which a quote counts as faulty, in half-widths. Above `CAP`, the cost grows only linearly with the error. */
const CAP: f64 = 5.0;

/**
 * The loss of an error in half-widths. `side` is 0 for a quote, +1 for an upper bound, -1 for a lower bound. For a quote, it is the squared
 * error up to `QUIET`, steeper up to `CAP`, and then linear: convex, with a continuous derivative. On the permitted side of a bound, it is 0.
 */
class Loss {
  static value(error: f64, side: f64): f64 {
    const beyond = max(0.0, side * error);
    if (side !== 0.0) return STEEPNESS * (beyond * beyond);
    const size = Math.abs(error);
    if (size <= QUIET) return size * size;
    const capped = min(size, CAP) - QUIET;
    const value = QUIET * QUIET + 2.0 * QUIET * capped + STEEPNESS * capped * capped;
    return size <= CAP ? value : value + 2.0 * (QUIET + STEEPNESS * (CAP - QUIET)) * (size - CAP);
  }

  /** Returns half of the derivative. */
  static slope(error: f64, side: f64): f64 {
    if (side !== 0.0) return STEEPNESS * side * max(0.0, side * error);
    const size = Math.abs(error);
    if (size <= QUIET) return error;
    const slope = QUIET + STEEPNESS * (min(size, CAP) - QUIET);
    return error > 0.0 ? slope : -slope;
  }

  /** Returns half of the second derivative, or in the linear part, that of a parabola around 0 with the same slope. */
  static curvature(error: f64, side: f64): f64 {
    if (side !== 0.0) return side * error > 0.0 ? STEEPNESS : 0.0;
    const size = Math.abs(error);
    if (size <= QUIET) return 1.0;
    return size <= CAP ? STEEPNESS : Loss.slope(size, 0.0) / size;
  }
}

/**
 * Finds the nodes within `reach` kernel widths of each strike, and computes their option prices from the table of `NearPrices`, which has
 * `density` points per kernel width and distance 0 at `half`. The column `nearFrom` has the strike's position among the nodes.
 */
export function sliceNear(count: i32, nodes: i32, reach: f64, density: f64, half: f64, block: usize): void {
  let near = block;
  for (let row = block, end = rowAt(block, count); row < end; row += 8, near += NEAR_BYTES) {
    const position = load<f64>(row, NEAR_FROM);
    const from = min(<f64>nodes, max(0.0, Math.ceil(position - reach)));
    const to = max(from, min(<f64>nodes, Math.floor(position + reach) + 1.0));
    store<f64>(row, from, NEAR_FROM);
    store<f64>(row, to, NEAR_TO);
    const direction = load<f64>(row, CALL_PUT);
    const place = half + density * (direction * (from - position));
    const cell = Math.floor(place);
    // Cubic Hermite interpolation, with the same weights for all prices, because all are at the same place between two points.
    const x = place - cell;
    const y = 1.0 - x;
    const a = y * y * (1.0 + 2.0 * x);
    const b = x * y * y;
    const c = x * x * (1.0 + 2.0 * y);
    const d = -x * x * y;
    const root = Math.sqrt(load<f64>(row, STRIKE));
    const apart = (<i32>(direction * density)) << 3;
    let at = rowAt(block, <i32>cell);
    let price = near;
    for (let node = rowAt(block, <i32>from), stop = rowAt(block, <i32>to); node < stop; node += 8, price += 8) {
      const before = a * load<f64>(at, NEAR_PRICE) + b * load<f64>(at, NEAR_SLOPE);
      const value = before + c * load<f64>(at + 8, NEAR_PRICE) + d * load<f64>(at + 8, NEAR_SLOPE);
      store<f64>(price, value * (root * load<f64>(node, ROOT)), NEAR);
      at += apart;
    }
  }
}

/** Writes the log-density at each node, up to a constant, to the masses. Returns the largest log-density. */
export function sliceLogs(nodes: i32, block: usize): f64 {
  let top = -Infinity;
  let basis = block;
  for (let node = block, end = rowAt(block, nodes); node < end; node += 8, basis += OVERLAP_BYTES) {
    const first = rowAt(block, <i32>load<f64>(node, FIRST_BASIS));
    let sum = load<f64>(node, PRIOR);
    for (let i = 0; i < OVERLAP; i++) {
      sum += load<f64>(rowAt(basis, i), BASIS) * load<f64>(rowAt(first, i), COEFFICIENT);
    }
    store<f64>(node, sum, MASS);
    if (sum > top) top = sum;
  }
  return top;
}

/**
 * Multiplies the mass of each node by factor * ratio^i. Writes the sums of mass, mass * node, mass * z and mass * node * z to the four sums.
 */
export function sliceTilt(nodes: i32, factor: f64, ratio: f64, block: usize): void {
  let total = 0.0;
  let mean = 0.0;
  let first = 0.0;
  let both = 0.0;
  for (let node = block, end = rowAt(block, nodes); node < end; node += 8) {
    const mass = load<f64>(node, MASS) * factor;
    store<f64>(node, mass, MASS);
    total += mass;
    mean += mass * load<f64>(node, NODE);
    first += mass * load<f64>(node, Z);
    both += mass * load<f64>(node, NODE) * load<f64>(node, Z);
    factor *= ratio;
  }
  store<f64>(block, total, SUMS);
  store<f64>(block, mean, SUMS + 8);
  store<f64>(block, first, SUMS + 16);
  store<f64>(block, both, SUMS + 24);
}

/** Divides the masses by their total. Computes the sums over the earlier nodes that `sliceErrors` needs. */
export function sliceSums(nodes: i32, total: f64, block: usize): void {
  let mass = 0.0;
  let mean = 0.0;
  store<f64>(block, 0.0, MASS_BEFORE);
  store<f64>(block, 0.0, MEAN_BEFORE);
  for (let node = block, end = rowAt(block, nodes); node < end; node += 8) {
    const own = load<f64>(node, MASS) / total;
    store<f64>(node, own, MASS);
    mass += own;
    mean += own * load<f64>(node, NODE);
    store<f64>(node + 8, mass, MASS_BEFORE);
    store<f64>(node + 8, mean, MEAN_BEFORE);
  }
}

/** Computes the error of each row's price. Adds the losses of the errors to a cost, one at a time, and returns the sum. */
export function sliceErrors(count: i32, nodes: i32, cost: f64, block: usize): f64 {
  const last = rowAt(block, nodes);
  const massOfAll = load<f64>(last, MASS_BEFORE);
  const meanOfAll = load<f64>(last, MEAN_BEFORE);
  let near = block;
  for (let row = block, end = rowAt(block, count); row < end; row += 8, near += NEAR_BYTES) {
    const from = rowAt(block, <i32>load<f64>(row, NEAR_FROM));
    const to = rowAt(block, <i32>load<f64>(row, NEAR_TO));
    const strike = load<f64>(row, STRIKE);
    let value =
      load<f64>(row, CALL_PUT) > 0.0
        ? meanOfAll - load<f64>(to, MEAN_BEFORE) - strike * (massOfAll - load<f64>(to, MASS_BEFORE))
        : strike * load<f64>(from, MASS_BEFORE) - load<f64>(from, MEAN_BEFORE);
    for (let node = from, price = near; node < to; node += 8, price += 8) {
      value += load<f64>(node, MASS) * load<f64>(price, NEAR);
    }
    const error = (value - load<f64>(row, PRICE)) / load<f64>(row, SCALE);
    store<f64>(row, error, ERROR);
    cost += Loss.value(error, load<f64>(row, SIDE));
  }
  return cost;
}

/** Writes the gradient of the penalty times -1/2. Returns the penalty. Elements further than `reach` from the diagonal are zero. */
export function slicePenalty(coefficients: i32, reach: i32, block: usize): f64 {
  let cost = 0.0;
  for (let i = 0; i < coefficients; i++) {
    let sum = 0.0;
    for (let j = max(0, i - reach), end = min(coefficients, i + reach + 1); j < end; j++) {
      sum += load<f64>(rowAt(block, i * coefficients + j), PENALTY) * load<f64>(rowAt(block, j), COEFFICIENT);
    }
    store<f64>(rowAt(block, i), -sum, GRADIENT);
    cost += load<f64>(rowAt(block, i), COEFFICIENT) * sum;
  }
  return cost;
}

/** Computes the sums of the masses times z, and of the masses times each basis function. Sets the sums over the rows to 0. */
export function sliceBasis(nodes: i32, coefficients: i32, block: usize): void {
  for (let i = block, end = rowAt(block, coefficients); i < end; i += 8) {
    store<f64>(i, 0.0, BASIS_MASS);
    store<f64>(i, 0.0, BASIS_MEAN);
    store<f64>(i, 0.0, WITH_PRICE);
    store<f64>(i, 0.0, WITH_TILT);
  }
  for (let sum = block, end = rowAt(block, 5); sum < end; sum += 8) store<f64>(sum, 0.0, SUMS);
  store<f64>(block, 0.0, TILTED_MASS);
  store<f64>(block, 0.0, TILTED_MEAN);
  let first = block;
  let local = block;
  for (let node = block, end = rowAt(block, nodes); node < end; node += 8, local += OVERLAP_BYTES) {
    first = rowAt(block, <i32>load<f64>(node, FIRST_BASIS));
    const mass = load<f64>(node, MASS);
    const mean = mass * load<f64>(node, NODE);
    const z = load<f64>(node, Z);
    store<f64>(node + 8, load<f64>(node, TILTED_MASS) + mass * z, TILTED_MASS);
    store<f64>(node + 8, load<f64>(node, TILTED_MEAN) + mean * z, TILTED_MEAN);
    for (let i: usize = 0; i < OVERLAP_BYTES; i += PAIR) {
      const masses = v128.load(first + i, BASIS_MASS);
      const means = v128.load(first + i, BASIS_MEAN);
      v128.store(local + i, masses, LOCAL_MASS);
      v128.store(local + i, means, LOCAL_MEAN);
      v128.store(first + i, add(masses, mul(f64x2.splat(mass), v128.load(local + i, BASIS))), BASIS_MASS);
      v128.store(first + i, add(means, mul(f64x2.splat(mean), v128.load(local + i, BASIS))), BASIS_MEAN);
    }
  }
  for (let i: usize = 0; i < OVERLAP_BYTES; i += PAIR) {
    v128.store(local + i, v128.load(first + i, BASIS_MASS), LOCAL_MASS);
    v128.store(local + i, v128.load(first + i, BASIS_MEAN), LOCAL_MEAN);
  }
}

/** Adds the rows to the normal equations, before centering. */
export function sliceRows(count: i32, nodes: i32, coefficients: i32, block: usize): void {
  const lastNode = rowAt(block, nodes);
  const end = rowAt(block, coefficients);
  // No node has the basis functions before `bottom`, or those from `top` on.
  const bottom = basisAt(block, block, lastNode);
  const top = basisAt(block, lastNode, lastNode) + OVERLAP_BYTES;
  const massOfAll = load<f64>(lastNode, MASS_BEFORE);
  const meanOfAll = load<f64>(lastNode, MEAN_BEFORE);
  const tiltOfAll = load<f64>(lastNode, TILTED_MASS);
  const tiltedMeanOfAll = load<f64>(lastNode, TILTED_MEAN);
  let near = block;
  for (let row = block, stop = rowAt(block, count); row < stop; row += 8, near += NEAR_BYTES) {
    const error = load<f64>(row, ERROR);
    const side = load<f64>(row, SIDE);
    const scale = load<f64>(row, SCALE);
    const weight = Loss.curvature(error, side) / (scale * scale);
    if (weight === 0.0) continue;
    const pull = Loss.slope(error, side) / scale;
    const strike = load<f64>(row, STRIKE);
    const strikes = f64x2.splat(strike);
    const from = rowAt(block, <i32>load<f64>(row, NEAR_FROM));
    const to = rowAt(block, <i32>load<f64>(row, NEAR_TO));
    let first = bottom;
    let last = top;
    let value: f64;
    let tilted: f64;
    // Nodes outside the range [from, to) add the intrinsic value. Pairs of numbers may write one number too many, which is written again.
    if (load<f64>(row, CALL_PUT) > 0.0) {
      value = meanOfAll - load<f64>(to, MEAN_BEFORE) - strike * (massOfAll - load<f64>(to, MASS_BEFORE));
      tilted = tiltedMeanOfAll - load<f64>(to, TILTED_MEAN) - strike * (tiltOfAll - load<f64>(to, TILTED_MASS));
      first = basisAt(block, from, lastNode);
      let i = first;
      const local = basisAt(block, to, lastNode);
      for (; i < local; i += PAIR) v128.store(i, f64x2.splat(0.0), CHANGE);
      i = local;
      for (let at = block + ((to - block) << 2); i < local + OVERLAP_BYTES; i += PAIR, at += PAIR) {
        const mean = sub(v128.load(i, BASIS_MEAN), v128.load(at, LOCAL_MEAN));
        const mass = sub(v128.load(i, BASIS_MASS), v128.load(at, LOCAL_MASS));
        v128.store(i, sub(mean, mul(strikes, mass)), CHANGE);
      }
      for (; i < top; i += PAIR) {
        v128.store(i, sub(v128.load(i, BASIS_MEAN), mul(strikes, v128.load(i, BASIS_MASS))), CHANGE);
      }
    } else {
      value = strike * load<f64>(from, MASS_BEFORE) - load<f64>(from, MEAN_BEFORE);
      tilted = strike * load<f64>(from, TILTED_MASS) - load<f64>(from, TILTED_MEAN);
      last = basisAt(block, max(to, block + 8) - 8, lastNode) + OVERLAP_BYTES;
      let i = bottom;
      const local = basisAt(block, from, lastNode);
      for (; i < local; i += PAIR) {
        v128.store(i, sub(mul(strikes, v128.load(i, BASIS_MASS)), v128.load(i, BASIS_MEAN)), CHANGE);
      }
      i = local;
      for (let at = block + ((from - block) << 2); i < local + OVERLAP_BYTES; i += PAIR, at += PAIR) {
        v128.store(i, sub(mul(strikes, v128.load(at, LOCAL_MASS)), v128.load(at, LOCAL_MEAN)), CHANGE);
      }
      for (; i < last; i += PAIR) v128.store(i, f64x2.splat(0.0), CHANGE);
    }
    let basis = block + ((from - block) << 2);
    for (let node = from, price = near; node < to; node += 8, price += 8, basis += OVERLAP_BYTES) {
      const part = load<f64>(node, MASS) * load<f64>(price, NEAR);
      const parts = f64x2.splat(part);
      const change = rowAt(block, <i32>load<f64>(node, FIRST_BASIS));
      value += part;
      tilted += part * load<f64>(node, Z);
      v128.store(change, add(v128.load(change, CHANGE), mul(parts, v128.load(basis, BASIS))), CHANGE);
      const high = add(v128.load(change, CHANGE + PAIR), mul(parts, v128.load(basis, BASIS + PAIR)));
      v128.store(change, high, CHANGE + PAIR);
    }
    tilted -= value * tiltOfAll;
    addTo(block + SUMS, weight * value * value);
    addTo(block + SUMS + 8, weight * value * tilted);
    addTo(block + SUMS + 16, weight * tilted * tilted);
    addTo(block + SUMS + 24, pull * value);
    addTo(block + SUMS + 32, pull * tilted);
    // The number after the last one is 0, so that pairs of numbers can be added.
    store<f64>(last, 0.0, CHANGE);
    let normal = block + ((first - block) >> 3) * (end - block) + (first - block);
    for (let i = first; i < last; i += 8, normal += end - block) {
      const change = load<f64>(i, CHANGE);
      const weighted = weight * change;
      addTo(i + GRADIENT, -(pull * change));
      addTo(i + WITH_PRICE, weighted * value);
      addTo(i + WITH_TILT, weighted * tilted);
      // The last pair may reach the number right of the diagonal, which is not part of the triangle.
      for (let j = first, at = normal; j <= i; j += PAIR, at += PAIR) {
        v128.store(at, add(v128.load(at, NORMAL), mul(f64x2.splat(weighted), v128.load(j, CHANGE))), NORMAL);
      }
    }
  }
}

/** Centers the normal equations: the total mass and the mean stay 1. Because the mean must stay 1, a coefficient also changes the tilt. */
export function sliceCenter(nodes: i32, coefficients: i32, block: usize): void {
  const lastNode = rowAt(block, nodes);
  const end = rowAt(block, coefficients);
  const priceSquared = load<f64>(block, SUMS);
  const priceTilt = load<f64>(block, SUMS + 8);
  const tiltSquared = load<f64>(block, SUMS + 16);
  const priceError = load<f64>(block, SUMS + 24);
  const tiltError = load<f64>(block, SUMS + 32);
  const covariance = load<f64>(lastNode, TILTED_MEAN) - load<f64>(lastNode, TILTED_MASS);
  for (let i = block; i < end; i += 8) {
    const mass = load<f64>(i, BASIS_MASS);
    const slope = (load<f64>(i, BASIS_MEAN) - mass) / covariance;
    store<f64>(i, slope, CHANGE);
    addTo(i + GRADIENT, priceError * mass + tiltError * slope);
    addTo(i + WITH_PRICE, -((priceSquared * mass + priceTilt * slope) / 2.0));
    addTo(i + WITH_TILT, -((priceTilt * mass + tiltSquared * slope) / 2.0));
  }
  for (let i = block, normal = block; i < end; i += 8, normal += end - block) {
    const withPrice = f64x2.splat(load<f64>(i, WITH_PRICE));
    const withTilt = f64x2.splat(load<f64>(i, WITH_TILT));
    const mass = f64x2.splat(load<f64>(i, BASIS_MASS));
    const slope = f64x2.splat(load<f64>(i, CHANGE));
    for (let j = block, at = normal; j <= i; j += PAIR, at += PAIR) {
      const prices = add(mul(withPrice, v128.load(j, BASIS_MASS)), mul(mass, v128.load(j, WITH_PRICE)));
      const tilts = add(add(prices, mul(withTilt, v128.load(j, CHANGE))), mul(slope, v128.load(j, WITH_TILT)));
      v128.store(at, sub(v128.load(at, NORMAL), tilts), NORMAL);
    }
  }
}

/**
 * Solves the normal equations with a damped diagonal by Cholesky's method, in the order of src/math/cholesky.ts. Returns the decrease of the
 * cost that the step promises.
 */
export function sliceStep(coefficients: i32, damping: f64, block: usize): f64 {
  const size = rowAt(0, coefficients);
  const end = block + size;
  memory.copy(block + FACTORS, block + NORMAL, <usize>coefficients * size);
  memory.copy(block + STEP, block + GRADIENT, size);
  for (let i = block, at = block; i < end; i += 8, at += size + 8) {
    store<f64>(at, load<f64>(at, FACTORS) * (1.0 + damping), FACTORS);
  }
  for (let k = block, diagonal = block; k < end; k += 8, diagonal += size + 8) {
    const root = Math.sqrt(Math.max(load<f64>(diagonal, FACTORS), 1e-300));
    store<f64>(diagonal, root, FACTORS);
    const solved = load<f64>(k, STEP) / root;
    store<f64>(k, solved, STEP);
    for (let i = k + 8, at = diagonal + size; i < end; i += 8, at += size) {
      const factor = load<f64>(at, FACTORS) / root;
      store<f64>(at, factor, FACTORS);
      store<f64>(i, factor, CHANGE);
      addTo(i + STEP, -(factor * solved));
      const factors = f64x2.splat(factor);
      for (let j = k + 8, to = at + 8; j <= i; j += PAIR, to += PAIR) {
        v128.store(to, sub(v128.load(to, FACTORS), mul(factors, v128.load(j, CHANGE))), FACTORS);
      }
    }
  }
  for (let i = end - 8, row = block + (<usize>coefficients - 1) * size; i >= block; i -= 8, row -= size) {
    const solved = load<f64>(i, STEP) / load<f64>(row + (i - block), FACTORS);
    store<f64>(i, solved, STEP);
    for (let k = block, at = row; k < i; k += 8, at += 8) addTo(k + STEP, -(load<f64>(at, FACTORS) * solved));
  }
  let promised = 0.0;
  for (let i = block, at = block; i < end; i += 8, at += size + 8) {
    const step = load<f64>(i, STEP);
    promised += step * (load<f64>(i, GRADIENT) + damping * load<f64>(at, NORMAL) * step);
  }
  return promised;
}

/** Returns the address of the first basis function at a node. The end of the nodes has the basis functions of the last node. */
function basisAt(block: usize, node: usize, end: usize): usize {
  return rowAt(block, <i32>load<f64>(min(node, end - 8), FIRST_BASIS));
}

function addTo(address: usize, value: f64): void {
  store<f64>(address, load<f64>(address) + value);
}
