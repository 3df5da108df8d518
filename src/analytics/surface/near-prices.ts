import { normalCdf } from '../../math/normal.ts';

/** If a node is further than this many kernel widths from a strike, the price of an option on the node is taken as its intrinsic value. */
export const REACH = 6;
/** The largest number of nodes that are near a strike. Nodes are one kernel width apart. */
export const NEAR = 2 * REACH + 1;
/** Points of the table per kernel width. Between them, a cubic polynomial is off by less than 2e-8 kernel widths. */
const DENSITY = 16;
/** The number of points of the table on each side of distance 0. The table covers distances up to `REACH` + 1 kernel widths. */
const HALF = DENSITY * (REACH + 1);

/**
 * A table of the prices of options on a node, which is a lognormal with the node as its mean. The standard deviation of the lognormal is
 * the kernel width, which is also the distance between two nodes. Prices are multiples of the square root of node * strike. In this unit,
 * they depend only on the distance: ln(node / strike) in kernel widths, times +1 for a call or -1 for a put.
 */
export class NearPrices {
  private readonly price = new Float64Array(2 * HALF + 1);
  /** Derivative of the price, per point of the table. */
  private readonly slope = new Float64Array(2 * HALF + 1);

  /** `kernel` is the kernel width, the standard deviation of the logarithm of each lognormal. */
  constructor(kernel: number) {
    const half = kernel / 2;
    for (let i = 0; i <= HALF; i++) {
      const distance = -i / DENSITY;
      const growth = Math.exp(half * distance);
      const above = growth * normalCdf(distance + half);
      const below = normalCdf(distance - half) / growth;
      this.price[HALF - i] = above - below;
      this.slope[HALF - i] = (half * (above + below)) / DENSITY;
      // Put-call parity.
      this.price[HALF + i] = above - below + 1 / growth - growth;
      this.slope[HALF + i] = (half * (1 / growth + growth - above - below)) / DENSITY;
    }
  }

  /**
   * Writes the prices at `count` distances to `into`, from position `from` on. The first distance is `distance`. Each further distance is
   * the one before plus `direction` (+1 or -1).
   */
  write(distance: number, direction: number, count: number, into: Float64Array, from: number): void {
    const { price, slope } = this;
    const position = HALF + DENSITY * distance;
    const cell = Math.floor(position);
    // Cubic Hermite interpolation. All distances have the same position between two points of the table, so they share the weights.
    const x = position - cell;
    const y = 1 - x;
    const a = y * y * (1 + 2 * x);
    const b = x * y * y;
    const c = x * x * (1 + 2 * y);
    const d = -x * x * y;
    for (let i = 0, at = cell; i < count; i++, at += direction * DENSITY) {
      into[from + i] = a * price[at]! + b * slope[at]! + c * price[at + 1]! + d * slope[at + 1]!;
    }
  }
}
