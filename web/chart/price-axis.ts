import { signal } from '@preact/signals';
import { linearScale } from './linear-scale.ts';

/** The price at the cursor, in dollars. All charts with the price axis mark the cursor's price. Null if there is no cursor. */
export const cursorPrice = signal<number | null>(null);

/** The lowest and the highest strike that the member has selected in the ladder. Null if no strike is selected. */
export const selection = signal<readonly [from: number, to: number] | null>(null);

/** The vertical price axis that all charts of a ticker share. Higher prices are further up. */
export interface PriceAxis {
  readonly low: number;
  readonly high: number;
  /** Height of the charts, in pixels. */
  readonly height: number;
  /** Returns the vertical position of a price, in pixels from the top. */
  y(price: number): number;
  /** Returns the price at a vertical position in pixels. */
  priceAt(y: number): number;
  /** The ticks of the axis are round prices in ascending order, at least TICK_GAP pixels apart. */
  readonly ticks: readonly number[];
}

export function isWithin({ low, high }: Pick<PriceAxis, 'low' | 'high'>, price: number): boolean {
  return price >= low && price <= high;
}

const TICK_GAP = 40;

/**
 * Returns the price axis. `zoom` and `shift` are in percent of spot: `zoom` is half the length of the axis, and `shift` is the distance
 * from spot to the middle of the axis.
 */
export function priceAxis(spot: number, zoom: number, shift: number, height: number): PriceAxis {
  const low = Math.max(0, spot * (1 + (shift - zoom) / 100));
  const high = Math.max(spot * (1 + (shift + zoom) / 100), low + spot * 1e-6);
  const scale = linearScale([low, high], [height, 0]);
  return {
    low,
    high,
    height,
    y: (price) => scale(price),
    priceAt: (y) => scale.invert(y),
    ticks: spacedTicks(low, high, height),
  };
}

/** Returns ascending round values within [low, high]. On an axis of `length` pixels, the values are at least `gap` pixels apart. */
export function spacedTicks(low: number, high: number, length: number, gap = TICK_GAP): number[] {
  if (!(length > 0) || !(high > low)) return [];
  const scale = linearScale([low, high], [0, length]);
  for (let most = Math.floor(length / gap); most >= 1; most--) {
    const ticks = scale.ticks(most);
    if (ticks.length < 2 || scale(ticks[1]!) - scale(ticks[0]!) >= gap) return ticks;
  }
  return [];
}
