import {
  BASIS,
  COEFFICIENTS,
  FIRST_BASIS,
  LINEAR,
  NODE_STEP,
  NODE_Z,
  NODES,
  OVERLAP,
  ROUGHNESS,
} from './log-density-basis.ts';
import { kernelPrice } from './price-law.ts';

/** Out-of-the-money options of one settlement. Prices are undiscounted multiples of the forward, columns of equal length. */
export interface QuoteBands {
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  /** Strike over forward. */
  readonly moneyness: Float64Array;
  /** Middle of the band. */
  readonly price: Float64Array;
  /** Half of the distance between bid and ask. */
  readonly halfWidth: Float64Array;
}

/** Bounds of prices, from the laws of the settlements before and after. Columns of equal length. */
export interface PriceBounds {
  readonly callPut: Float64Array;
  readonly moneyness: Float64Array;
  readonly price: Float64Array;
  /** How far a price may be beyond the bound at the cost of one half-width. */
  readonly tolerance: Float64Array;
  /** +1 for an upper bound, -1 for a lower one. */
  readonly side: Float64Array;
}

/** An error of at most this share of the half-width is only noise. */
const QUIET = 0.6;
/** A larger error costs this many times as much. */
const STEEPNESS = 10;
/** Beyond this many half-widths, the quote is taken to be faulty, and the cost of the error grows only linearly. */
const CAP = 5;
/** Costs of the roughness of the log-density, and of its distance from that of a normal law, in squared half-widths. */
const SMOOTHING = 0.01;
const SHRINKAGE = 1e-3;
/** Beyond this many kernel widths from a strike, a node counts at its intrinsic value. */
const REACH = 6;
const LOCAL = 2 * REACH + 2;

/** The masses at the nodes of a log-density, and the errors of the prices that they give. */
export class SliceModel {
  readonly nodes: Float64Array;
  readonly masses = new Float64Array(NODES);
  private readonly count: number;
  /** By row: the side, the strike, the price, and what divides an error. */
  private readonly callPut: Float64Array;
  private readonly strike: Float64Array;
  private readonly price: Float64Array;
  private readonly scale: Float64Array;
  /** 0 for a quote, +1 for an upper bound, -1 for a lower one. */
  private readonly side: Float64Array;
  /** The first node near the strike, and the prices of the kernels of the nodes from it on. */
  private readonly nearFrom: Int32Array;
  private readonly near: Float64Array;
  private readonly errors: Float64Array;
  private readonly logMass = new Float64Array(NODES);
  /** Sums over the nodes before each one: of mass, of mass times node, of both times z, and of both times each basis function. */
  private readonly massBefore = new Float64Array(NODES + 1);
  private readonly meanBefore = new Float64Array(NODES + 1);
  private readonly tiltedMass = new Float64Array(NODES + 1);
  private readonly tiltedMean = new Float64Array(NODES + 1);
  private readonly basisMass = new Float64Array((NODES + 1) * COEFFICIENTS);
  private readonly basisMean = new Float64Array((NODES + 1) * COEFFICIENTS);

  /**
   * `priorLog` is the log-density over z towards which the fit is smoothed, up to a constant. By default it is that of the normal law.
   */
  constructor(
    quotes: QuoteBands,
    deviation: number,
    bounds?: PriceBounds,
    private readonly priorLog: Float64Array = normalLog(deviation),
  ) {
    const joined = (own: Float64Array, more: Float64Array | undefined) =>
      more === undefined ? own : Float64Array.from([...own, ...more]);
    this.callPut = joined(quotes.callPut, bounds?.callPut);
    this.strike = joined(quotes.moneyness, bounds?.moneyness);
    this.price = joined(quotes.price, bounds?.price);
    this.scale = joined(quotes.halfWidth, bounds?.tolerance);
    this.side = joined(new Float64Array(quotes.price.length), bounds?.side);
    this.count = this.price.length;
    this.nodes = NODE_Z.map((z) => Math.exp(deviation * z));
    this.errors = new Float64Array(this.count);
    this.nearFrom = new Int32Array(this.count);
    this.near = new Float64Array(this.count * LOCAL);
    const kernel = NODE_STEP * deviation;
    for (let row = 0; row < this.count; row++) {
      const strike = this.strike[row]!;
      const position = (Math.log(strike) / deviation - NODE_Z[0]!) / NODE_STEP;
      const from = Math.max(0, Math.ceil(position - REACH));
      this.nearFrom[row] = from;
      for (let i = 0; i < LOCAL && from + i < NODES; i++) {
        this.near[row * LOCAL + i] = kernelPrice(this.callPut[row]!, this.nodes[from + i]!, strike, kernel);
      }
    }
  }

  /** Computes masses and errors. Returns the cost. Tilts the coefficients so that the mean is the forward. */
  evaluate(coefficients: Float64Array): number {
    const { masses, nodes, logMass, massBefore, meanBefore } = this;
    for (let node = 0; node < NODES; node++) {
      const first = FIRST_BASIS[node]!;
      let sum = this.priorLog[node]!;
      for (let i = 0; i < OVERLAP; i++) sum += BASIS[node * OVERLAP + i]! * coefficients[first + i]!;
      logMass[node] = sum;
    }
    const tilt = this.tiltToForward();
    // The tilt is a spline too. From here on it belongs to the coefficients.
    for (let i = 0; i < COEFFICIENTS; i++) coefficients[i]! += tilt * LINEAR[i]!;
    for (let node = 0; node < NODES; node++) {
      massBefore[node + 1] = massBefore[node]! + masses[node]!;
      meanBefore[node + 1] = meanBefore[node]! + masses[node]! * nodes[node]!;
    }
    let cost = 0;
    for (let row = 0; row < this.count; row++) {
      const from = this.nearFrom[row]!;
      const to = Math.min(from + LOCAL, NODES);
      const strike = this.strike[row]!;
      let price =
        this.callPut[row]! > 0
          ? meanBefore[NODES]! - meanBefore[to]! - strike * (massBefore[NODES]! - massBefore[to]!)
          : strike * massBefore[from]! - meanBefore[from]!;
      for (let node = from; node < to; node++) price += masses[node]! * this.near[row * LOCAL + node - from]!;
      const error = (price - this.price[row]!) / this.scale[row]!;
      this.errors[row] = error;
      cost += this.side[row] === 0 ? loss(error) : STEEPNESS * Math.max(0, this.side[row]! * error) ** 2;
    }
    return cost + penalty(coefficients);
  }

  /** Normal equations of a Gauss-Newton step, lower triangle by rows, and minus half of the gradient. */
  normalEquations(coefficients: Float64Array, normal: Float64Array, gradient: Float64Array): void {
    const { masses, nodes, basisMass, basisMean } = this;
    const n = COEFFICIENTS;
    for (let i = 0; i < n; i++) {
      let pull = 0;
      for (let j = 0; j < n; j++) {
        const value = SMOOTHING * ROUGHNESS[i * n + j]! + (i === j ? SHRINKAGE : 0);
        normal[i * n + j] = value;
        pull += value * coefficients[j]!;
      }
      gradient[i] = -pull;
    }
    const meanOf = new Float64Array(n);
    const slopeOf = new Float64Array(n);
    let [center, covariance] = [0, 0];
    for (let node = 0; node < NODES; node++) {
      const [before, after] = [node * n, (node + 1) * n];
      for (let i = 0; i < n; i++) {
        basisMass[after + i] = basisMass[before + i]!;
        basisMean[after + i] = basisMean[before + i]!;
      }
      const first = FIRST_BASIS[node]!;
      const mass = masses[node]!;
      center += mass * NODE_Z[node]!;
      covariance += mass * nodes[node]! * NODE_Z[node]!;
      this.tiltedMass[node + 1] = center;
      this.tiltedMean[node + 1] = covariance;
      for (let i = 0; i < OVERLAP; i++) {
        const value = mass * BASIS[node * OVERLAP + i]!;
        basisMass[after + first + i]! += value;
        basisMean[after + first + i]! += value * nodes[node]!;
        meanOf[first + i]! += value;
        slopeOf[first + i]! += value * nodes[node]!;
      }
    }
    // The mean is 1, and stays so: a change of a coefficient tilts the density.
    covariance -= center;
    for (let i = 0; i < n; i++) slopeOf[i] = (slopeOf[i]! - meanOf[i]!) / covariance;
    const row = new Float64Array(n);
    const end = NODES * n;
    for (let quote = 0; quote < this.count; quote++) {
      const error = this.errors[quote]!;
      const side = this.side[quote]!;
      const weight = side === 0 ? lossWeight(error) : side * error > 0 ? STEEPNESS : 0;
      if (weight === 0) continue;
      const from = this.nearFrom[quote]!;
      const to = Math.min(from + LOCAL, NODES);
      const strike = this.strike[quote]!;
      const isCall = this.callPut[quote]! > 0;
      const [a, b] = isCall ? [to * n, end] : [from * n, 0];
      // The payoff beyond the near nodes, times each basis function.
      for (let i = 0; i < n; i++) {
        row[i] = basisMean[b + i]! - basisMean[a + i]! - strike * (basisMass[b + i]! - basisMass[a + i]!);
      }
      let expected = isCall
        ? this.meanBefore[NODES]! - this.meanBefore[to]! - strike * (this.massBefore[NODES]! - this.massBefore[to]!)
        : strike * this.massBefore[from]! - this.meanBefore[from]!;
      let slope = isCall
        ? this.tiltedMean[NODES]! - this.tiltedMean[to]! - strike * (this.tiltedMass[NODES]! - this.tiltedMass[to]!)
        : strike * this.tiltedMass[from]! - this.tiltedMean[from]!;
      for (let node = from; node < to; node++) {
        const value = masses[node]! * this.near[quote * LOCAL + node - from]!;
        expected += value;
        slope += value * NODE_Z[node]!;
        const first = FIRST_BASIS[node]!;
        for (let i = 0; i < OVERLAP; i++) row[first + i]! += value * BASIS[node * OVERLAP + i]!;
      }
      slope -= expected * center;
      const scale = 1 / this.scale[quote]!;
      for (let i = 0; i < n; i++) row[i] = (row[i]! - expected * meanOf[i]! - slope * slopeOf[i]!) * scale;
      for (let i = 0; i < n; i++) {
        const weighted = weight * row[i]!;
        gradient[i]! -= weighted * error;
        for (let j = 0; j <= i; j++) normal[i * n + j]! += weighted * row[j]!;
      }
    }
  }

  /**
   * Sets the masses to exp(log mass + tilt z), with the tilt that makes the mean the forward (an Esscher transform). Returns the tilt. Newton's
   * method on the logarithm of the mean, which rises with the tilt.
   */
  private tiltToForward(): number {
    const { masses, logMass, nodes } = this;
    let tilt = 0;
    for (let iteration = 0; ; iteration++) {
      let top = Number.NEGATIVE_INFINITY;
      for (let node = 0; node < NODES; node++) top = Math.max(top, logMass[node]! + tilt * NODE_Z[node]!);
      let [total, mean, first, both] = [0, 0, 0, 0];
      for (let node = 0; node < NODES; node++) {
        const mass = Math.exp(logMass[node]! + tilt * NODE_Z[node]! - top);
        masses[node] = mass;
        total += mass;
        mean += mass * nodes[node]!;
        first += mass * NODE_Z[node]!;
        both += mass * nodes[node]! * NODE_Z[node]!;
      }
      for (let node = 0; node < NODES; node++) masses[node]! /= total;
      const error = Math.log(mean / total);
      if (Math.abs(error) < MEAN_ERROR || iteration === TILTS_MAX) return tilt;
      const change = error / (both / mean - first / total);
      tilt -= Math.max(-TILT_STEP_MAX, Math.min(TILT_STEP_MAX, change));
    }
  }
}

/** The log-density of the normal law of a deviation, at the nodes. */
function normalLog(deviation: number): Float64Array {
  return NODE_Z.map((z) => -(z * z) / 2 - (deviation * z) / 2);
}

const MEAN_ERROR = 1e-13;
const TILTS_MAX = 50;
const TILT_STEP_MAX = 2;
function penalty(coefficients: Float64Array): number {
  const n = COEFFICIENTS;
  let sum = 0;
  for (let i = 0; i < n; i++) {
    let pull = SHRINKAGE * coefficients[i]!;
    for (let j = Math.max(0, i - 3); j < Math.min(n, i + 4); j++)
      pull += SMOOTHING * ROUGHNESS[i * n + j]! * coefficients[j]!;
    sum += pull * coefficients[i]!;
  }
  return sum;
}

/** Squared to `QUIET`, steeper to `CAP`, then straight. Smooth in its first derivative, and convex. */
function loss(error: number): number {
  const size = Math.abs(error);
  if (size <= QUIET) return size * size;
  const capped = Math.min(size, CAP) - QUIET;
  const value = QUIET * QUIET + 2 * QUIET * capped + STEEPNESS * capped * capped;
  return size <= CAP ? value : value + 2 * (QUIET + STEEPNESS * (CAP - QUIET)) * (size - CAP);
}

/** Half of the derivative of `loss`, over the error. */
function lossWeight(error: number): number {
  const size = Math.abs(error);
  if (size <= QUIET) return 1;
  return (QUIET + STEEPNESS * (Math.min(size, CAP) - QUIET)) / size;
}
