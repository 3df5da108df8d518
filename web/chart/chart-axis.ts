import { newYorkDay, strikeText } from '../page-format.ts';
import { linearScale } from './linear-scale.ts';
import { spacedTicks } from './price-axis.ts';

/** A horizontal chart axis: a function that maps values to pixels, and labels that do not overlap. */
export interface ChartAxis {
  x(value: number): number;
  readonly labels: readonly { readonly x: number; readonly text: string }[];
}

/** Returns a horizontal axis between two positions, in pixels. */
export type AxisBetween = (left: number, right: number) => ChartAxis;

/** Estimated width of one character of an axis label, in pixels, on a wide page. */
export const LABEL_DIGIT = 8;

/**
 * Returns an axis of times to settlement, with one label of `texts` per time. Positions are proportional to the square root of the time, so
 * that this week's daily expiries are readable next to expiries in some years.
 */
export function maturityAxis(times: readonly number[], texts: readonly string[]): AxisBetween {
  const root = (time: number) => Math.sqrt(Math.max(time, times[0] ?? 0));
  const [first, last] = [root(0), root(times.at(-1) ?? 0)];
  return (left, right) => {
    const x = (time: number) =>
      last > first ? left + ((right - left) * (root(time) - first)) / (last - first) : (left + right) / 2;
    const sizes = texts.map((text) => text.length * LABEL_DIGIT);
    // The last label is moved left if it would extend beyond the right edge of the chart.
    const at = times.map((time, i) => Math.min(x(time), right - sizes[i]! / 2));
    return { x, labels: spacedLabels(at, sizes).map((i) => ({ x: at[i]!, text: texts[i]! })) };
  };
}

/** Returns an axis of strikes, in dollars. */
export function strikeAxis(low: number, high: number): AxisBetween {
  return (left, right) => {
    const scale = linearScale([low, high], [left, right]);
    const ticks = spacedTicks(low, high, right - left, 64);
    return { x: (value) => scale(value), labels: ticks.map((tick) => ({ x: scale(tick), text: strikeText(tick) })) };
  };
}

/** Returns the text of an expiry date `YYYY-MM-DD`: `Fri 18 Dec`. The text includes the year if `moment` is in another year. */
export function expiryDay(expiry: string, moment: string | undefined): string {
  return newYorkDay(expiry, moment !== undefined && expiry.slice(0, 4) !== moment.slice(0, 4));
}

/** Returns the axis labels of expiries: `18 Dec`. A label includes the year if `moment` is in another year. */
export function expiryLabels(expiries: readonly string[], moment: string | undefined): string[] {
  return expiries.map((expiry) =>
    expiryDay(expiry, moment)
      .slice(4)
      .replace(/ \d\d(\d\d)$/, ' ’$1'),
  );
}

/**
 * Returns the indices of the axis labels that fit without overlap, in ascending order. The array `at` has the centers of the labels in
 * ascending order, and the array `sizes` has the lengths of the labels, in pixels. The result always contains the last label. The function
 * adds the other labels in ascending order, and leaves out each label that does not have enough space.
 */
export function spacedLabels(at: readonly number[], sizes: readonly number[], gap = 8): number[] {
  const last = at.length - 1;
  if (last < 0) return [];
  const shown: number[] = [];
  let free = Number.NEGATIVE_INFINITY;
  const limit = at[last]! - sizes[last]! / 2 - gap;
  for (let i = 0; i < last; i++) {
    const half = sizes[i]! / 2;
    if (at[i]! - half < free || at[i]! + half > limit) continue;
    shown.push(i);
    free = at[i]! + half + gap;
  }
  return [...shown, last];
}
