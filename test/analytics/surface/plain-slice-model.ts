import {
  COEFFICIENTS,
  type Edge,
  edgesAt,
  LINEAR,
  NODE_STEP,
  NODE_Z,
  NODES,
  OVERLAP,
  ROUGHNESS,
  straightBeyond,
} from '../../../src/analytics/surface/log-density-basis.ts';
import { NEAR, REACH } from '../../../src/analytics/surface/near-prices.ts';
import type { PriceBounds, QuoteBands } from '../../../src/analytics/surface/slice-model.ts';
import { PlainNearPrices } from './plain-near-prices.ts';
import { lossCurvature, lossOf, lossSlope } from './plain-quote-loss.ts';

/** Weights of penalties, in squared half-widths: for roughness, for squared coefficients near the forward, and for tails that are too flat. */
const SMOOTHING = 0.01;
const SHRINKAGE = 1e-3;
const FLATNESS = 1e3;
/** The matrix of the penalty's quadratic form, row by row. Elements further than `PENALTY_REACH` from the diagonal are zero. */
const PENALTY = ROUGHNESS.map((each, i) => {
  const row = i / (COEFFICIENTS + 1);
  return SMOOTHING * each + (Number.isInteger(row) && Math.abs(LINEAR[row]!) < 3 ? SHRINKAGE : 0);
});
const PENALTY_REACH = OVERLAP + 1;
/** The search for the tilt ends if the absolute value of the logarithm of the mean is below this limit. */
const MEAN_ERROR = 1e-13;
const TILTS_MAX = 50;
/** The largest change of the tilt in one iteration. */
const TILT_STEP_MAX = 2;

/**
 * The arithmetic of `SliceModel` in plain JavaScript, row by row and in the same order. The kernels must give the same bits.
 */
export class PlainSliceModel {
  readonly nodes = new Float64Array(NODES);
  readonly masses = new Float64Array(NODES);
  /** The number of rows. The rows are the quotes, followed by the bounds. */
  readonly count: number;
  /** Four columns: the side (+1 call, -1 put), the strike and the price in multiples of the forward, and the divisor of the price error. */
  private readonly callPut: Float64Array;
  private readonly strike: Float64Array;
  private readonly price: Float64Array;
  private readonly scale: Float64Array;
  /** 0 for a quote, +1 for an upper bound, -1 for a lower bound. */
  private readonly side: Float64Array;
  /**
   * Two columns with the range [`nearFrom`, `nearTo`) of the nodes near the strike, and one column with the option prices of these nodes,
   * `NEAR` per row.
   */
  private readonly nearFrom: Int32Array;
  private readonly nearTo: Int32Array;
  private readonly near: Float64Array;
  private readonly errors: Float64Array;
  /** For each node, four sums over all earlier nodes: the sums of `mass`, `mass * node`, `mass * z` and `mass * node * z`. */
  private readonly massBefore = new Float64Array(NODES + 1);
  private readonly meanBefore = new Float64Array(NODES + 1);
  private readonly tiltedMass = new Float64Array(NODES + 1);
  private readonly tiltedMean = new Float64Array(NODES + 1);
  /**
   * `localMass` and `basisMass` have sums of `mass * basis function`. `localMean` and `basisMean` have sums of
   * `mass * node * basis function`. The local sums (`localMass`, `localMean`) of a node include only the earlier nodes, and only the basis
   * functions that are nonzero at the node. The sums `basisMass` and `basisMean` include all nodes and every basis function.
   */
  private readonly localMass = new Float64Array((NODES + 1) * OVERLAP);
  private readonly localMean = new Float64Array((NODES + 1) * OVERLAP);
  private readonly basisMass = new Float64Array(COEFFICIENTS);
  private readonly basisMean = new Float64Array(COEFFICIENTS);
  /**
   * `change` has the derivative of a row's price with respect to each coefficient, before centering. `withPrice` has the weighted sums of
   * derivative * price over the rows, and `withTilt` has the weighted sums of derivative * tilted price. `normalEquations` explains these
   * terms.
   */
  private readonly change = new Float64Array(COEFFICIENTS);
  private readonly withPrice = new Float64Array(COEFFICIENTS);
  private readonly withTilt = new Float64Array(COEFFICIENTS);
  private readonly edges: Edge[] = [];
  private readonly firstBasis: Uint8Array;
  private readonly basis: Float64Array;

  /**
   * The spline is added to `priorLog`, the log-density at the nodes up to a constant. The penalty moves the fit towards `priorLog`. By
   * default, `priorLog` is a hyperbolic log-density.
   */
  constructor(
    quotes: QuoteBands,
    private readonly deviation: number,
    bounds?: PriceBounds,
    private readonly priorLog: Float64Array = hyperbolicLog(deviation),
  ) {
    const z = [...quotes.moneyness].map((each) => Math.log(each) / deviation);
    if (z.length > 0) this.edges = edgesAt(Math.min(...z), Math.max(...z));
    ({ firstBasis: this.firstBasis, basis: this.basis } = straightBeyond(this.edges));
    const joined = (own: Float64Array, more: Float64Array | undefined) => {
      if (more === undefined) return own;
      const both = new Float64Array(own.length + more.length);
      both.set(own);
      both.set(more, own.length);
      return both;
    };
    this.callPut = joined(quotes.callPut, bounds?.callPut);
    this.strike = joined(quotes.moneyness, bounds?.moneyness);
    this.price = joined(quotes.price, bounds?.price);
    this.scale = joined(quotes.halfWidth, bounds?.tolerance);
    this.side = joined(new Float64Array(quotes.price.length), bounds?.side);
    this.count = this.price.length;
    const roots = new Float64Array(NODES);
    for (let node = 0; node < NODES; node++) {
      roots[node] = Math.exp((deviation * NODE_Z[node]!) / 2);
      this.nodes[node] = roots[node]! * roots[node]!;
    }
    this.errors = new Float64Array(this.count);
    this.nearFrom = new Int32Array(this.count);
    this.nearTo = new Int32Array(this.count);
    this.near = new Float64Array(this.count * NEAR);
    const { near } = this;
    const prices = new PlainNearPrices(NODE_STEP * deviation);
    for (let row = 0; row < this.count; row++) {
      const strike = this.strike[row]!;
      const position = (Math.log(strike) / deviation - NODE_Z[0]!) / NODE_STEP;
      const from = Math.min(NODES, Math.max(0, Math.ceil(position - REACH)));
      const to = Math.max(from, Math.min(NODES, Math.floor(position + REACH) + 1));
      this.nearFrom[row] = from;
      this.nearTo[row] = to;
      const direction = this.callPut[row]!;
      prices.write(direction * (from - position), direction, to - from, near, row * NEAR);
      const root = Math.sqrt(strike);
      for (let node = from, at = row * NEAR; node < to; node++, at++) near[at]! *= root * roots[node]!;
    }
  }

  /**
   * Computes the masses and the errors for given coefficients. Adds a tilt (a multiple of z) to the coefficients, which makes the mean of
   * the distribution equal to the forward. Returns the cost, which is the sum of the losses and the penalty. Returns infinity if no tilt is
   * found.
   */
  evaluate(coefficients: Float64Array): number {
    const { masses, priorLog, errors, side, firstBasis, basis } = this;
    let top = Number.NEGATIVE_INFINITY;
    for (let node = 0; node < NODES; node++) {
      const first = firstBasis[node]!;
      let sum = priorLog[node]!;
      for (let i = 0; i < OVERLAP; i++) sum += basis[node * OVERLAP + i]! * coefficients[first + i]!;
      masses[node] = sum;
      if (sum > top) top = sum;
    }
    for (let node = 0; node < NODES; node++) masses[node] = Math.exp(masses[node]! - top);
    const tilt = this.tiltToForward();
    if (Number.isNaN(tilt)) return Number.POSITIVE_INFINITY;
    // A multiple of z is also a spline, so the tilt can be added to the coefficients.
    for (let i = 0; i < COEFFICIENTS; i++) coefficients[i]! += tilt * LINEAR[i]!;
    let cost = 0;
    for (let i = 0; i < COEFFICIENTS; i++) cost += coefficients[i]! * penaltyPull(coefficients, i);
    for (const edge of this.edges) cost += FLATNESS * this.flatness(edge, coefficients) ** 2;
    this.errorsOf(masses);
    for (let row = 0; row < this.count; row++) cost += lossOf(errors[row]!, side[row]!);
    return cost;
  }

  /**
   * Returns the price errors for given masses at the nodes, in half-widths for quotes and in tolerances for bounds. The next call of
   * `errorsOf` or of `evaluate` overwrites the returned column.
   */
  errorsOf(masses: Float64Array): Float64Array {
    const { nodes, massBefore, meanBefore, callPut, strike, nearFrom, nearTo, near, price, scale, errors } = this;
    for (let node = 0; node < NODES; node++) {
      massBefore[node + 1] = massBefore[node]! + masses[node]!;
      meanBefore[node + 1] = meanBefore[node]! + masses[node]! * nodes[node]!;
    }
    for (let row = 0; row < this.count; row++) {
      const from = nearFrom[row]!;
      const to = nearTo[row]!;
      let value =
        callPut[row]! > 0
          ? meanBefore[NODES]! - meanBefore[to]! - strike[row]! * (massBefore[NODES]! - massBefore[to]!)
          : strike[row]! * massBefore[from]! - meanBefore[from]!;
      for (let node = from, at = row * NEAR; node < to; node++, at++) value += masses[node]! * near[at]!;
      errors[row] = (value - price[row]!) / scale[row]!;
    }
    return errors;
  }

  /**
   * Computes the normal equations of a Newton step. The Newton step treats prices as linear functions of the coefficients. Writes the lower
   * triangle of the matrix to `normal`, row by row, and the cost's gradient times -1/2 to `gradient`. The current masses and errors must
   * result from `coefficients`.
   *
   * If a coefficient changes, the log-density changes by a multiple of the coefficient's basis function. Centering then adds a constant and
   * a multiple of z to the change, so that the total mass and the mean stay 1. The tilted price is the derivative of a price with respect
   * to the factor of z. Before centering, many derivatives are 0. A put price depends only on basis functions near or below the strike, and
   * a call price depends only on basis functions near or above the strike. The code first sums the derivatives over the rows and then
   * centers the sums, because this order is faster.
   */
  normalEquations(coefficients: Float64Array, normal: Float64Array, gradient: Float64Array): void {
    const { change, withPrice, withTilt, basisMass, basisMean, errors, side, scale, callPut, firstBasis, basis } = this;
    const n = COEFFICIENTS;
    this.sumBasis();
    const {
      masses,
      nearFrom,
      nearTo,
      near,
      strike,
      massBefore,
      meanBefore,
      tiltedMass,
      tiltedMean,
      localMass,
      localMean,
    } = this;
    const center = tiltedMass[NODES]!;
    normal.set(PENALTY);
    for (let i = 0; i < n; i++) gradient[i] = -penaltyPull(coefficients, i);
    withPrice.fill(0);
    withTilt.fill(0);
    // Sums over the rows, with weights: price^2, price * tilted price, tilted price^2, price * error, and tilted price * error.
    let [priceSquared, priceTilt, tiltSquared, priceError, tiltError] = [0, 0, 0, 0, 0];
    // The loop avoids destructuring, because the creation of an array per row would take most of the time.
    for (let row = 0; row < this.count; row++) {
      const error = errors[row]!;
      const divisor = scale[row]!;
      const weight = lossCurvature(error, side[row]!) / (divisor * divisor);
      if (weight === 0) continue;
      const pull = lossSlope(error, side[row]!) / divisor;
      const from = nearFrom[row]!;
      const to = nearTo[row]!;
      const K = strike[row]!;
      let first = 0;
      let last = n;
      let value: number;
      let tilted: number;
      // Nodes outside the range [from, to) add the intrinsic value.
      if (callPut[row]! > 0) {
        value = meanBefore[NODES]! - meanBefore[to]! - K * (massBefore[NODES]! - massBefore[to]!);
        tilted = tiltedMean[NODES]! - tiltedMean[to]! - K * (tiltedMass[NODES]! - tiltedMass[to]!);
        first = firstBasis[Math.min(from, NODES - 1)]!;
        const local = firstBasis[Math.min(to, NODES - 1)]!;
        for (let i = first; i < local; i++) change[i] = 0;
        for (let i = 0, at = to * OVERLAP, j = local; i < OVERLAP; i++, at++, j++)
          change[j] = basisMean[j]! - localMean[at]! - K * (basisMass[j]! - localMass[at]!);
        for (let i = local + OVERLAP; i < n; i++) change[i] = basisMean[i]! - K * basisMass[i]!;
      } else {
        value = K * massBefore[from]! - meanBefore[from]!;
        tilted = K * tiltedMass[from]! - tiltedMean[from]!;
        last = firstBasis[Math.max(to - 1, 0)]! + OVERLAP;
        const local = firstBasis[Math.min(from, NODES - 1)]!;
        for (let i = 0; i < local; i++) change[i] = K * basisMass[i]! - basisMean[i]!;
        for (let i = 0, at = from * OVERLAP, j = local; i < OVERLAP; i++, at++, j++)
          change[j] = K * localMass[at]! - localMean[at]!;
        for (let i = local + OVERLAP; i < last; i++) change[i] = 0;
      }
      for (let node = from, at = row * NEAR; node < to; node++, at++) {
        const part = masses[node]! * near[at]!;
        value += part;
        tilted += part * NODE_Z[node]!;
        for (let i = 0, k = node * OVERLAP, j = firstBasis[node]!; i < OVERLAP; i++, k++, j++)
          change[j]! += part * basis[k]!;
      }
      tilted -= value * center;
      priceSquared += weight * value * value;
      priceTilt += weight * value * tilted;
      tiltSquared += weight * tilted * tilted;
      priceError += pull * value;
      tiltError += pull * tilted;
      for (let i = first; i < last; i++) {
        const weighted = weight * change[i]!;
        gradient[i]! -= pull * change[i]!;
        withPrice[i]! += weighted * value;
        withTilt[i]! += weighted * tilted;
        for (let j = first, at = i * n + first; j <= i; j++, at++) normal[at]! += weighted * change[j]!;
      }
    }
    // Because the mean must stay 1, a change of a coefficient also changes the tilt.
    const covariance = tiltedMean[NODES]! - center;
    for (let i = 0; i < n; i++) {
      const mass = basisMass[i]!;
      const slope = (basisMean[i]! - mass) / covariance;
      change[i] = slope;
      gradient[i]! += priceError * mass + tiltError * slope;
      withPrice[i]! -= (priceSquared * mass + priceTilt * slope) / 2;
      withTilt[i]! -= (priceTilt * mass + tiltSquared * slope) / 2;
    }
    for (let i = 0, at = 0; i < n; i++, at = i * n) {
      for (let j = 0; j <= i; j++, at++) {
        normal[at]! -=
          withPrice[i]! * basisMass[j]! +
          basisMass[i]! * withPrice[j]! +
          withTilt[i]! * change[j]! +
          change[i]! * withTilt[j]!;
      }
    }
    for (const edge of this.edges) {
      const excess = this.flatness(edge, coefficients);
      if (excess === 0) continue;
      const slopes = Array.from(change, (tilt, i) => edge.side * ((edge.slopes[i - edge.first] ?? 0) - tilt));
      for (let i = 0, at = 0; i < n; i++, at = i * n) {
        const weighted = FLATNESS * slopes[i]!;
        gradient[i]! -= weighted * excess;
        for (let j = 0; j <= i; j++, at++) normal[at]! += weighted * slopes[j]!;
      }
    }
  }

  private flatness({ node, side, first, slopes }: Edge, coefficients: Float64Array): number {
    const [low, high] = [Math.max(0, node - 1), Math.min(NODES - 1, node + 1)];
    let slope = (this.priorLog[high]! - this.priorLog[low]!) / ((high - low) * NODE_STEP);
    for (let i = 0; i < OVERLAP; i++) slope += slopes[i]! * coefficients[first + i]!;
    return Math.max(0, side * slope + this.deviation);
  }

  /** Computes the sums of the masses times z, and of the masses times each basis function. */
  private sumBasis(): void {
    const { masses, nodes, tiltedMass, tiltedMean, localMass, localMean, basisMass, basisMean, firstBasis, basis } =
      this;
    basisMass.fill(0);
    basisMean.fill(0);
    for (let node = 0; node < NODES; node++) {
      const first = firstBasis[node]!;
      const mass = masses[node]!;
      const mean = mass * nodes[node]!;
      tiltedMass[node + 1] = tiltedMass[node]! + mass * NODE_Z[node]!;
      tiltedMean[node + 1] = tiltedMean[node]! + mean * NODE_Z[node]!;
      for (let i = 0, at = node * OVERLAP, j = first; i < OVERLAP; i++, at++, j++) {
        localMass[at] = basisMass[j]!;
        localMean[at] = basisMean[j]!;
        basisMass[j]! += mass * basis[at]!;
        basisMean[j]! += mean * basis[at]!;
      }
    }
    const first = firstBasis[NODES - 1]!;
    localMass.set(basisMass.subarray(first, first + OVERLAP), NODES * OVERLAP);
    localMean.set(basisMean.subarray(first, first + OVERLAP), NODES * OVERLAP);
  }

  /**
   * Multiplies the masses by `exp(tilt * z)`, which is an Esscher transform. The tilt makes the mean equal to the forward. Scales the sum
   * of the masses to 1. Returns the tilt, or `NaN` if no tilt is found. Newton's method finds the tilt, because the logarithm of the mean
   * rises with the tilt.
   */
  private tiltToForward(): number {
    const { masses, nodes } = this;
    let [tilt, change] = [0, 0];
    for (let iteration = 0; ; iteration++) {
      // The values of exp(change z) at successive nodes are a geometric sequence.
      let factor = Math.exp(change * NODE_Z[0]!);
      const ratio = Math.exp(change * NODE_STEP);
      let total = 0;
      let mean = 0;
      let first = 0;
      let both = 0;
      for (let node = 0; node < NODES; node++, factor *= ratio) {
        const mass = masses[node]! * factor;
        masses[node] = mass;
        total += mass;
        mean += mass * nodes[node]!;
        first += mass * NODE_Z[node]!;
        both += mass * nodes[node]! * NODE_Z[node]!;
      }
      const error = Math.log(mean / total);
      if (iteration === TILTS_MAX || !(total > 0)) return Number.NaN;
      if (Math.abs(error) < MEAN_ERROR) {
        for (let node = 0; node < NODES; node++) masses[node]! /= total;
        return tilt;
      }
      change = -error / (both / mean - first / total);
      change = Math.max(-TILT_STEP_MAX, Math.min(TILT_STEP_MAX, change));
      tilt += change;
    }
  }
}

/** Returns the log-density of a hyperbolic log-price at the nodes, up to a constant. */
function hyperbolicLog(deviation: number): Float64Array {
  return NODE_Z.map((z) => -2 * Math.sqrt(4 + z * z) - (z * deviation) / 2);
}

/** Returns half of the derivative of the penalty with respect to coefficient `i`. */
function penaltyPull(coefficients: Float64Array, i: number): number {
  let sum = 0;
  const end = Math.min(COEFFICIENTS, i + PENALTY_REACH + 1);
  for (let j = Math.max(0, i - PENALTY_REACH); j < end; j++) sum += PENALTY[i * COEFFICIENTS + j]! * coefficients[j]!;
  return sum;
}

/** Solves the damped normal equations, and writes the solution to `step`. Returns the predicted decrease of the cost. */
export function plainSolveDamped(
  normal: Float64Array,
  gradient: Float64Array,
  damping: number,
  step: Float64Array,
): number {
  const matrix = normal.slice();
  step.set(gradient);
  for (let i = 0; i < COEFFICIENTS; i++) matrix[i * (COEFFICIENTS + 1)]! *= 1 + damping;
  solveCholesky(matrix, step);
  let promised = 0;
  for (let i = 0; i < COEFFICIENTS; i++) {
    promised += step[i]! * (gradient[i]! + damping * normal[i * (COEFFICIENTS + 1)]! * step[i]!);
  }
  return promised;
}

/**
 * Solves a system of linear equations with a symmetric positive definite matrix. The argument `matrix` contains the rows one after the
 * other. The function reads only the lower triangle of the matrix. Overwrites `right` with the solution, and the lower triangle with the
 * Cholesky factor. Replaces a pivot below 1e-300 by 1e-300.
 */
function solveCholesky(matrix: Float64Array, right: Float64Array): void {
  const n = right.length;
  const column = new Float64Array(n);
  // After computing a column of the factor, the code subtracts the products of this column from all later columns. The processor can
  // compute these differences in parallel. With dot products instead, each addition would have to wait for the previous addition.
  for (let k = 0; k < n; k++) {
    const root = Math.sqrt(Math.max(matrix[k * n + k]!, 1e-300));
    matrix[k * n + k] = root;
    const solved = right[k]! / root;
    right[k] = solved;
    for (let i = k + 1, at = i * n; i < n; i++, at += n) {
      const factor = matrix[at + k]! / root;
      matrix[at + k] = factor;
      column[i] = factor;
      right[i]! -= factor * solved;
      for (let j = k + 1; j <= i; j++) matrix[at + j]! -= factor * column[j]!;
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    const solved = right[i]! / matrix[i * n + i]!;
    right[i] = solved;
    for (let k = 0; k < i; k++) right[k]! -= matrix[i * n + k]! * solved;
  }
}
