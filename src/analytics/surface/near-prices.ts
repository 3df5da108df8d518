import { normalCdf } from '../../math/normal.ts';

/** If a node is further from a strike than this distance, in kernel widths, the option price is the intrinsic value. */
export const REACH = 6;
/** The largest number of nodes within `REACH` of a strike. Nodes are one kernel width apart. */
export const NEAR = 2 * REACH + 1;
/** The number of table points per kernel width. Cubic interpolation between the points has an error below 2e-8 kernel widths. */
export const DENSITY = 16;
/** The number of table points on each side of distance 0. The table includes distances up to `REACH` + 1 kernel widths. */
export const HALF = DENSITY * (REACH + 1);

/**
 * A table of option prices for one node, whose price distribution is a kernel: a lognormal with the node as its mean. The standard
 * deviation of its logarithm is the kernel width, and the distance between nodes. In units of `sqrt(node * strike)`, the price of a call
 * depends only on the distance `ln(node / strike)` in kernel widths, and that of a put on its negative.
 */
export class NearPrices {
  readonly price = new Float64Array(2 * HALF + 1);
  /** Derivative of the price per table point. */
  readonly slope = new Float64Array(2 * HALF + 1);

  /** `kernel` is the kernel width: the standard deviation of each lognormal's logarithm. */
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
}
