import { DENSITY, HALF, NearPrices } from '../../../src/analytics/surface/near-prices.ts';

/** The interpolation of `sliceNear` in TypeScript. */
export class PlainNearPrices extends NearPrices {
  /** Writes `count` prices to `into`, starting at index `from`. The first distance is `distance`. The step is `direction` (+1 or -1). */
  write(distance: number, direction: number, count: number, into: Float64Array, from: number): void {
    const { price, slope } = this;
    const position = HALF + DENSITY * distance;
    const cell = Math.floor(position);
    // Cubic Hermite interpolation, with the same weights for all prices, because all are at the same place between two points.
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
