import { normalCdf } from '../../math/normal.ts';

/** Beyond this many kernel widths from a strike, a node counts at its intrinsic value. */
export const REACH = 6;
/** Nodes are one kernel width apart, so this many of them are near a strike. */
export const NEAR = 2 * REACH + 1;
/** Points of the table per kernel width. Between them, a cubic polynomial is off by less than 2e-8 kernel widths. */
const DENSITY = 16;
/** The distances of the table are from -(REACH + 1) to REACH + 1. */
const HALF = DENSITY * (REACH + 1);

/**
 * Prices of options on lognormals whose standard deviation is the distance of the nodes, as multiples of the square root of node times
 * strike. They depend only on the distance ln(node / strike), in kernel widths, times +1 for calls and -1 for puts.
 */
export class NearPrices {
  private readonly price = new Float64Array(2 * HALF + 1);
  /** Change per point. */
  private readonly slope = new Float64Array(2 * HALF + 1);

  /** `kernel` is the standard deviation of each lognormal. */
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

  /** Writes the prices at `count` distances, each `direction` (+1 or -1) from the one before. The first is `distance`. */
  write(distance: number, direction: number, count: number, into: Float64Array, from: number): void {
    const { price, slope } = this;
    const position = HALF + DENSITY * distance;
    const cell = Math.floor(position);
    // Cubic Hermite interpolation. All distances have the same place in their cells.
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
