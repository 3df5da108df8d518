import { SliceColumn } from '../../../assembly/columns.ts';
import { recordOf } from '../../core/record-of.ts';
import { arenaColumn, arenaSpan, CHUNK_ROWS, keepArena, kernels } from '../../math/kernels.ts';
import type { Reach } from './calendar-order.ts';
import { extentOf } from './extent-of.ts';
import {
  COEFFICIENTS,
  type Edge,
  edgesAt,
  knotsWithin,
  LINEAR,
  NODE_STEP,
  NODE_Z,
  NODES,
  nodesWithin,
  OVERLAP,
  ROUGHNESS,
  straightBeyond,
} from './log-density-basis.ts';
import { DENSITY, HALF, NEAR, NearPrices, REACH } from './near-prices.ts';

/** Quotes of one settlement's out-of-the-money options, as columns of equal length. Prices are undiscounted multiples of the forward. */
export interface QuoteBands {
  /** +1 call, -1 put. */
  readonly callPut: Float64Array;
  /** Strike over forward. */
  readonly moneyness: Float64Array;
  /** Middle of the band. */
  readonly price: Float64Array;
  /** Half of the band's width. The band of a two-sided quote reaches from bid to ask. */
  readonly halfWidth: Float64Array;
}

/** Price bounds from the neighbouring settlements, as columns of equal length. Units are as in `QuoteBands`. */
export interface PriceBounds extends Omit<QuoteBands, 'halfWidth'> {
  /** The price error at a bound is divided by this tolerance. The price error of a quote is divided by its half-width instead. */
  readonly tolerance: Float64Array;
  /** +1 for an upper bound, -1 for a lower bound. */
  readonly side: Float64Array;
}

/**
 * Weights of two penalties, in squared half-widths: `SMOOTHING` for roughness, and `SHRINKAGE` for the sum of the squared coefficients within
 * `SHRINKAGE_REACH` standard deviations of the forward.
 */
const SMOOTHING = 0.01;
const SHRINKAGE = 1e-3;
const SHRINKAGE_REACH = 3;
const isShrunk = (at: number) =>
  at % (COEFFICIENTS + 1) === 0 && Math.abs(LINEAR[at / (COEFFICIENTS + 1)]!) < SHRINKAGE_REACH;
/** The matrix of the penalty's quadratic form, row by row. Elements further than `PENALTY_REACH` from the diagonal are zero. */
const PENALTY = ROUGHNESS.map((each, i) => SMOOTHING * each + (isShrunk(i) ? SHRINKAGE : 0));
const PENALTY_REACH = OVERLAP + 1;
/**
 * Weights of the squared amount by which a tail is too flat, in squared half-widths: the first one lets a fit pass through flat tails, and
 * the last one makes the amount small.
 */
const FLATNESS = [1e3, 1e5] as const;
/** A tail hardly falls if its fall is below half of the least fall. */
const FLATNESS_MAX = 0.5;
/** The search for the tilt ends if the absolute value of the logarithm of the mean is below this limit. */
const MEAN_ERROR = 1e-13;
const TILTS_MAX = 50;
/** The largest change of the tilt in one iteration. */
const TILT_STEP_MAX = 2;

/** The numbers from one vector to the next in the arena, for vectors of nodes and for vectors of coefficients. */
const NODES_APART = 224;
const COEFFICIENTS_APART = 32;
const ofNodes = (column: number, place: number) =>
  arenaColumn(column)
    .subarray(NODES_APART * place)
    .subarray(0, NODES);
const ofCoefficients = (place: number) =>
  arenaColumn(SliceColumn.coefficients)
    .subarray(COEFFICIENTS_APART * place)
    .subarray(0, COEFFICIENTS);
const BLOCK = arenaColumn(0).byteOffset;
/** The vectors that the kernels share with this file. The other vectors are intermediate values. */
const ARENA = {
  near: arenaSpan(SliceColumn.near, NEAR),
  ...{ error: arenaColumn(SliceColumn.error), basis: arenaColumn(SliceColumn.basis) },
  ...{ node: ofNodes(SliceColumn.nodes, 0), z: ofNodes(SliceColumn.nodes, 1), first: ofNodes(SliceColumn.nodes, 2) },
  ...{ prior: ofNodes(SliceColumn.nodes, 3), mass: ofNodes(SliceColumn.masses, 0) },
  ...{ coefficients: ofCoefficients(0), gradient: ofCoefficients(1), step: ofCoefficients(2), sums: ofCoefficients(8) },
  /** For each coefficient, the change of the tilt that keeps the mean, times -1. */
  tilt: ofCoefficients(5),
  penalty: arenaColumn(SliceColumn.penalty),
  normal: arenaColumn(SliceColumn.normal).subarray(0, PENALTY.length),
};
/** The inputs of `sliceNear`: the table of `NearPrices`, and the square roots of the nodes. */
const TABLE = [SliceColumn.normal, SliceColumn.factors, SliceColumn.nodes].map((column) => arenaColumn(column));
const ROW_COLUMNS = ['callPut', 'strike', 'nearFrom', 'nearTo', 'price', 'scale', 'side'] as const;
const ROWS = recordOf(ROW_COLUMNS, (name) => arenaColumn(SliceColumn[name]));

/** Rows of a model as columns: quotes (`side` 0), or upper (+1) and lower (-1) bounds from the neighbouring settlements. */
interface Rows extends Readonly<Record<(typeof ROW_COLUMNS)[number], Float64Array>> {
  readonly count: number;
  /** The option prices of the nodes near the strike, which are the range [`nearFrom`, `nearTo`), `NEAR` per row. */
  readonly near: Float64Array;
}

/** Computes the probability masses of a log-density at the nodes, and the resulting price errors. The kernels do the arithmetic. */
export class SliceModel {
  readonly nodes: Float64Array;
  readonly masses = new Float64Array(NODES);
  /** The number of rows. The rows are the quotes, followed by the bounds. */
  readonly count: number;
  /** The square roots of the nodes. */
  private readonly roots: Float64Array;
  private readonly prices: NearPrices;
  private readonly quoteRows: Rows;
  private readonly groups: readonly Rows[];
  private readonly errors: Float64Array;
  private readonly priorLog: Float64Array;
  private weight: number = FLATNESS[0];
  /** The nodes of the outermost quotes: from there on outwards, the density rests on extrapolation. All nodes without quotes. */
  readonly reach: Reach;
  /** The nodes from which on the spline is a straight line. None without quotes. */
  readonly edges: readonly Edge[];
  /** The places where the log-density must fall outwards: the edges, and knots nearer the forward. */
  private readonly falls: readonly Edge[];
  private readonly lines: ReturnType<typeof straightBeyond>;

  /**
   * The spline is added to `priorLog`, the log-density at the nodes up to a constant (by default hyperbolic), towards which the penalty moves
   * the fit. If `known` is a model of the same quotes, the new model shares its rows.
   */
  constructor(
    private readonly quotes: QuoteBands,
    private readonly deviation: number,
    bounds?: PriceBounds,
    priorLog?: Float64Array,
    known?: SliceModel,
  ) {
    const isKnown = known?.quotes === quotes && known.deviation === deviation;
    this.roots = isKnown ? known.roots : NODE_Z.map((z) => Math.exp((deviation * z) / 2));
    this.prices = isKnown ? known.prices : new NearPrices(NODE_STEP * deviation);
    this.nodes = isKnown ? known.nodes : this.roots.map((root) => root * root);
    this.priorLog = priorLog ?? hyperbolicLog(deviation);
    const side = new Float64Array(quotes.price.length);
    const [low, high] = extentOf(quotes.moneyness).map((each) => Math.log(each) / deviation) as [number, number];
    const isEmpty = quotes.price.length === 0;
    this.reach = isEmpty ? [0, NODES - 1] : nodesWithin(low, high);
    this.edges = isKnown ? known.edges : isEmpty ? [] : edgesAt(low, high);
    this.falls = isKnown ? known.falls : [...this.edges, ...knotsWithin(this.edges)];
    this.lines = isKnown ? known.lines : straightBeyond(this.edges);
    this.quoteRows = isKnown ? known.quoteRows : this.rowsOf(quotes, quotes.halfWidth, side);
    this.groups = bounds ? [this.quoteRows, this.rowsOf(bounds, bounds.tolerance, bounds.side)] : [this.quoteRows];
    this.count = this.groups.reduce((sum, { count }) => sum + count, 0);
    this.errors = new Float64Array(this.count);
  }

  /** Finds the nodes near each strike, and computes their option prices. `scale` is the divisor of the price errors. */
  private rowsOf(
    { callPut, moneyness: strike, price }: Omit<QuoteBands, 'halfWidth'>,
    scale: Float64Array,
    side: Float64Array,
  ): Rows {
    const { deviation, roots, prices } = this;
    const count = price.length;
    const nearFrom = new Float64Array(count);
    const nearTo = new Float64Array(count);
    const near = new Float64Array(count * NEAR);
    for (let row = 0; row < count; row++) nearFrom[row] = (Math.log(strike[row]!) / deviation - NODE_Z[0]!) / NODE_STEP;
    // The next model to use the arena must fill it anew.
    keepArena(prices);
    for (const [i, column] of [prices.price, prices.slope, roots].entries()) TABLE[i]!.set(column);
    for (let from = 0; from < count; from += CHUNK_ROWS) {
      const to = Math.min(count, from + CHUNK_ROWS);
      ROWS.callPut.set(callPut.subarray(from, to));
      ROWS.strike.set(strike.subarray(from, to));
      ROWS.nearFrom.set(nearFrom.subarray(from, to));
      kernels.sliceNear(to - from, NODES, REACH, DENSITY, HALF, BLOCK);
      nearFrom.set(ROWS.nearFrom.subarray(0, to - from), from);
      nearTo.set(ROWS.nearTo.subarray(0, to - from), from);
      near.set(ARENA.near.subarray(0, (to - from) * NEAR), from * NEAR);
    }
    return { count, callPut, strike, nearFrom, nearTo, price, scale, side, near };
  }

  /**
   * Computes the masses and the errors. Adds a tilt (a multiple of z) to the coefficients, which makes the mean the forward. Returns the
   * cost, the losses and the penalty, or infinity if there is no tilt.
   */
  evaluate(coefficients: Float64Array): number {
    const { masses } = this;
    const { mass } = ARENA;
    this.fillArena();
    ARENA.coefficients.set(coefficients);
    const top = kernels.sliceLogs(NODES, BLOCK);
    for (let node = 0; node < NODES; node++) mass[node] = Math.exp(mass[node]! - top);
    const tilt = tiltToForward();
    if (Number.isNaN(tilt)) return Number.POSITIVE_INFINITY;
    // A multiple of z is also a spline, so the tilt can be added to the coefficients.
    for (let i = 0; i < COEFFICIENTS; i++) coefficients[i]! += tilt * LINEAR[i]!;
    ARENA.coefficients.set(coefficients);
    let penalty = kernels.slicePenalty(COEFFICIENTS, PENALTY_REACH, BLOCK);
    for (const edge of this.falls) penalty += this.weight * this.flatness(edge, coefficients) ** 2;
    const cost = this.findErrors(ARENA.sums[0]!, penalty);
    masses.set(mass);
    return cost;
  }

  /** Returns by how much the log-density falls too slowly at an edge, per standard deviation, or 0. */
  private flatness({ node, side, fall, first, slopes }: Edge, coefficients: Float64Array): number {
    const [low, high] = [Math.max(0, node - 1), Math.min(NODES - 1, node + 1)];
    let slope = (this.priorLog[high]! - this.priorLog[low]!) / ((high - low) * NODE_STEP);
    for (let i = 0; i < OVERLAP; i++) slope += slopes[i]! * coefficients[first + i]!;
    return Math.max(0, side * slope + fall * this.deviation);
  }

  /** Raises the weight of the penalty of flat tails if one hardly falls. Returns whether it has changed. */
  steepen(coefficients: Float64Array): boolean {
    const most = FLATNESS_MAX * this.deviation;
    if (this.weight === FLATNESS[1] || this.edges.every((edge) => this.flatness(edge, coefficients) <= most))
      return false;
    this.weight = FLATNESS[1];
    return true;
  }

  /** Adds the penalties of tails that are too flat to the normal equations in the arena. */
  private addFlatness(coefficients: Float64Array): void {
    for (const edge of this.falls) {
      const { side, first, slopes } = edge;
      const excess = this.flatness(edge, coefficients);
      if (excess === 0) continue;
      const change = ARENA.tilt.map((tilt, i) => side * ((slopes[i - first] ?? 0) - tilt));
      for (let i = 0; i < COEFFICIENTS; i++) {
        const weighted = this.weight * change[i]!;
        ARENA.gradient[i]! -= weighted * excess;
        for (let j = 0; j <= i; j++) ARENA.normal[i * COEFFICIENTS + j]! += weighted * change[j]!;
      }
    }
  }

  /** Returns the price errors for given masses, in half-widths for quotes and in tolerances for bounds, until the next evaluation. */
  errorsOf(masses: Float64Array): Float64Array {
    this.fillArena();
    ARENA.mass.set(masses);
    this.findErrors(1, 0);
    return this.errors;
  }

  /** Divides the masses in the arena by their total, computes the errors, and returns the sum of `cost` and the losses. */
  private findErrors(total: number, cost: number): number {
    kernels.sliceSums(NODES, total, BLOCK);
    let sum = cost;
    this.forEachChunk((count, from) => {
      sum = kernels.sliceErrors(count, NODES, sum, BLOCK);
      this.errors.set(ARENA.error.subarray(0, count), from);
    });
    return sum;
  }

  /**
   * Computes the normal equations of a Newton step, which treats prices as linear in the coefficients: the lower triangle to `normal`, row
   * by row, and the cost's gradient times -1/2 to `gradient`. The current masses and errors must result from `coefficients`. A coefficient
   * changes the log-density by its basis function, and centering by a constant and a multiple of z, so that mass and mean stay 1. Before
   * centering, many derivatives are 0: a put price depends only on functions near or below its strike, a call price on those near or above.
   * So the kernels first sum the derivatives over the rows, and then center the sums.
   */
  normalEquations(coefficients: Float64Array, normal: Float64Array, gradient: Float64Array): void {
    this.fillArena();
    ARENA.mass.set(this.masses);
    ARENA.coefficients.set(coefficients);
    ARENA.normal.set(PENALTY);
    kernels.slicePenalty(COEFFICIENTS, PENALTY_REACH, BLOCK);
    kernels.sliceSums(NODES, 1, BLOCK);
    kernels.sliceBasis(NODES, COEFFICIENTS, BLOCK);
    this.forEachChunk((count, from) => {
      ARENA.error.set(this.errors.subarray(from, from + count));
      kernels.sliceRows(count, NODES, COEFFICIENTS, BLOCK);
    });
    kernels.sliceCenter(NODES, COEFFICIENTS, BLOCK);
    this.addFlatness(coefficients);
    normal.set(ARENA.normal);
    gradient.set(ARENA.gradient);
  }

  /** Fills the arena with the columns of this model, unless the arena still has these columns. */
  private fillArena(): void {
    if (keepArena(this)) return;
    ARENA.node.set(this.nodes);
    ARENA.z.set(NODE_Z);
    ARENA.first.set(this.lines.firstBasis);
    ARENA.prior.set(this.priorLog);
    ARENA.basis.set(this.lines.basis);
    ARENA.penalty.set(PENALTY);
    if (this.count <= CHUNK_ROWS) this.fillRows(0, this.count);
  }

  /** Copies the rows [first, end) of all groups into the arena. */
  private fillRows(first: number, end: number): void {
    let before = 0;
    for (const rows of this.groups) {
      const [from, to] = [Math.max(first - before, 0), Math.min(end - before, rows.count)];
      if (from < to) {
        const place = before + from - first;
        for (const name of ROW_COLUMNS) ROWS[name].set(rows[name].subarray(from, to), place);
        ARENA.near.set(rows.near.subarray(from * NEAR, to * NEAR), place * NEAR);
      }
      before += rows.count;
    }
  }

  private forEachChunk(work: (count: number, from: number) => void): void {
    for (let from = 0; from < this.count; from += CHUNK_ROWS) {
      const to = Math.min(this.count, from + CHUNK_ROWS);
      if (this.count > CHUNK_ROWS) this.fillRows(from, to);
      work(to - from, from);
    }
  }
}

/**
 * Multiplies the masses in the arena by `exp(tilt * z)`, an Esscher transform that makes the mean the forward, and leaves their total in
 * the first of the sums. Newton's method finds the tilt, because the logarithm of the mean rises with it. Returns the tilt, or `NaN` if
 * there is none.
 */
function tiltToForward(): number {
  let [tilt, change] = [0, 0];
  for (let iteration = 0; ; iteration++) {
    // The values of exp(change z) at successive nodes are a geometric sequence.
    kernels.sliceTilt(NODES, Math.exp(change * NODE_Z[0]!), Math.exp(change * NODE_STEP), BLOCK);
    const { 0: total = 0, 1: mean = 0, 2: first = 0, 3: both = 0 } = ARENA.sums;
    const error = Math.log(mean / total);
    if (iteration === TILTS_MAX || !(total > 0)) return Number.NaN;
    if (Math.abs(error) < MEAN_ERROR) return tilt;
    change = -error / (both / mean - first / total);
    change = Math.max(-TILT_STEP_MAX, Math.min(TILT_STEP_MAX, change));
    tilt += change;
  }
}

/** Solves the normal equations with a damped diagonal into `step`. Returns the decrease of the cost that they predict. */
export function solveDamped(normal: Float64Array, gradient: Float64Array, damping: number, step: Float64Array): number {
  ARENA.normal.set(normal);
  ARENA.gradient.set(gradient);
  const promised = kernels.sliceStep(COEFFICIENTS, damping, BLOCK);
  step.set(ARENA.step);
  return promised;
}

/**
 * Returns the log-density of a hyperbolic log-price at the nodes, up to a constant (Barndorff-Nielsen 1977): near the forward it is that of a
 * normal one with the given standard deviation, and far away it falls by 2 per standard deviation.
 */
function hyperbolicLog(deviation: number): Float64Array {
  return HYPERBOLIC.map((log, i) => log - (NODE_Z[i]! * deviation) / 2);
}

const HYPERBOLIC = NODE_Z.map((z) => -2 * Math.sqrt(4 + z * z));
