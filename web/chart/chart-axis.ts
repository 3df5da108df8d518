import { newYorkDay, strikeText } from '../page-format.ts';
import { linearScale } from './linear-scale.ts';
import { spacedTicks } from './price-axis.ts';

/** A horizontal chart axis: a function that maps values to pixels, and labels that do not overlap. */
export interface ChartAxis {
  x(value: number): number;
  readonly labels: readonly { readonly x: number; readonly text: string }[];
  /** The title of the axis. Undefined for an axis of times, whose labels need none. */
  readonly title?: string;
}

/** Returns a horizontal axis between two positions, in pixels. */
export type AxisBetween = (left: number, right: number) => ChartAxis;

/** Estimated width of one character of an axis label, in pixels, on a wide page. */
export const LABEL_DIGIT = 8;

/** The least distance between two maturities, as a share of their mean distance: a dozen of daily expiries must not become one line. */
const LEAST_SHARE = 0.4;

/**
 * Returns an axis of times to settlement, with one label of `texts` per time. Distances are proportional to the difference of the square roots
 * of the times, so that this week's daily expiries are readable next to expiries in some years. A smaller distance is extended to a least one.
 */
export function maturityAxis(times: readonly number[], texts: readonly string[]): AxisBetween {
  const root = (time: number) => Math.sqrt(Math.max(time, times[0] ?? 0));
  const roots = times.map(root);
  const least = (LEAST_SHARE * ((roots.at(-1) ?? 0) - (roots[0] ?? 0))) / Math.max(1, times.length - 1);
  const places = [0];
  for (let i = 1; i < roots.length; i++) {
    const step = roots[i]! - roots[i - 1]!;
    places.push(places[i - 1]! + (step > 0 ? Math.max(step, least) : 0));
  }
  const length = places.at(-1)!;
  return (left, right) => {
    const scale = scaleThrough(roots, places);
    const x = (time: number) =>
      length > 0 ? left + ((right - left) * scale(root(time))) / length : (left + right) / 2;
    return { x, labels: labelsAt(times.map(x), texts, right), title: 'expiry' };
  };
}

/** Returns a function that interpolates linearly between points. The values of `from` are in ascending order. */
function scaleThrough(from: readonly number[], to: readonly number[]): (value: number) => number {
  return (value) => {
    const reached = from.findIndex((each) => each >= value);
    // A value beyond the last point is drawn at the last point.
    const after = Math.max(1, reached < 0 ? from.length - 1 : reached);
    const [low, high] = [from[after - 1]!, from[after]!];
    const share = high > low ? Math.min(1, (value - low) / (high - low)) : 1;
    return to[after - 1]! + share * (to[after]! - to[after - 1]!);
  };
}

/** Room of a label to the right of a horizontal axis, in pixels. */
const EDGE = 8;

/** Returns an axis of strikes, in dollars. */
export function strikeAxis(low: number, high: number): AxisBetween {
  return (left, right) => {
    const scale = linearScale([low, high], [left, right]);
    const ticks = spacedTicks(low, high, right - left, 64);
    const labels = labelsAt(ticks.map(scale), ticks.map(strikeText), right + EDGE);
    return { x: (value) => scale(value), labels, title: 'strike, $' };
  };
}

/** Returns the labels that fit at ascending positions. A label at the end is moved left if it would extend beyond the position `right`. */
export function labelsAt(
  places: readonly number[],
  texts: readonly string[],
  right: number,
  gap?: number,
): ChartAxis['labels'] {
  const sizes = texts.map((text) => text.length * LABEL_DIGIT);
  const at = places.map((place, i) => Math.min(place, right - sizes[i]! / 2));
  return spacedLabels(at, sizes, gap).map((i) => ({ x: at[i]!, text: texts[i]! }));
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
