import { newYorkDay, strikeText } from '../page-format.ts';
import { linearScale } from './linear-scale.ts';
import { spacedTicks } from './price-axis.ts';
import { spacedLabels } from './spaced-labels.ts';

/** A horizontal axis: the position of a value, and labels that do not overlap. */
export interface ChartAxis {
  x(value: number): number;
  readonly labels: readonly { readonly x: number; readonly text: string }[];
}

/** Makes an axis between two positions, pixels. */
export type AxisBetween = (left: number, right: number) => ChartAxis;

/** Width of a digit of an axis label on a wide page, pixels. */
export const LABEL_DIGIT = 8;

/**
 * An axis of times to settlement, years, ascending. Distances are as the square roots of the times, so that the dailies of this week and
 * the years at the end can both be read. `texts` are the labels, one for each time.
 */
export function maturityAxis(times: readonly number[], texts: readonly string[]): AxisBetween {
  const root = (time: number) => Math.sqrt(Math.max(time, times[0] ?? 0));
  const [first, last] = [root(0), root(times.at(-1) ?? 0)];
  return (left, right) => {
    const x = (time: number) =>
      last > first ? left + ((right - left) * (root(time) - first)) / (last - first) : (left + right) / 2;
    const sizes = texts.map((text) => text.length * LABEL_DIGIT);
    // The last label would reach beyond the chart.
    const at = times.map((time, i) => Math.min(x(time), right - sizes[i]! / 2));
    return { x, labels: spacedLabels(at, sizes).map((i) => ({ x: at[i]!, text: texts[i]! })) };
  };
}

/** An axis of strikes, dollars. */
export function strikeAxis(low: number, high: number): AxisBetween {
  return (left, right) => {
    const scale = linearScale([low, high], [left, right]);
    const ticks = spacedTicks(low, high, right - left, 64);
    return { x: (value) => scale(value), labels: ticks.map((tick) => ({ x: scale(tick), text: strikeText(tick) })) };
  };
}

/** The day of an expiry, `YYYY-MM-DD`: `Fri 18 Dec`. The year is added if it is not that of `moment`. */
export function expiryDay(expiry: string, moment: string | undefined): string {
  return newYorkDay(expiry, moment !== undefined && expiry.slice(0, 4) !== moment.slice(0, 4));
}

/** The labels of expiries on an axis: `18 Dec`, and the year where it changes. */
export function expiryLabels(expiries: readonly string[], moment: string | undefined): string[] {
  return expiries.map((expiry) =>
    expiryDay(expiry, moment)
      .slice(4)
      .replace(/ \d\d(\d\d)$/, ' ’$1'),
  );
}
