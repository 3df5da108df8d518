import { isWithin, type PriceAxis } from './price-axis.ts';
import type { Stroke, Tone } from './strokes.ts';

/** The values of the ladder's bars, with one row per strike in ascending order. */
export interface LadderRows {
  readonly strike: readonly number[];
  /** Exposures of calls and of puts. If the measure is not split into calls and puts, `calls` is the net exposure and `puts` is null. */
  readonly calls: readonly number[];
  readonly puts: readonly number[] | null;
}

export interface LadderLayout {
  readonly axis: PriceAxis;
  /** The left and right edge of the area of the bars, in pixels. */
  readonly left: number;
  readonly right: number;
  /** The exposure at the left and right end of the horizontal axis. */
  readonly extent: number;
}

/** A level that the ladder draws as a horizontal line. */
export interface LadderRule {
  readonly price: number;
  readonly tone: Tone;
  readonly dash: 'solid' | 'dashed' | 'dotted';
  readonly width: number;
}

/** `share` is the thickness of a bar as a share of the distance between strikes. `least` and `most` limit the thickness, in pixels. */
const BAR = { least: 1, most: 14, share: 0.72 } as const;

/** Returns the exposure of the longest visible bar, or 1 if all exposures are 0. Bars of the same sign at one strike are added up. */
export function ladderExtent(rows: readonly LadderRows[], axis: PriceAxis): number {
  let extent = 0;
  for (const { strike, calls, puts } of rows) {
    for (let i = 0; i < strike.length; i++) {
      if (!isWithin(axis, strike[i]!)) continue;
      const [call, put] = [calls[i]!, puts?.[i] ?? 0];
      const isSameSide = call >= 0 === put >= 0;
      extent = Math.max(extent, isSameSide ? Math.abs(call + put) : Math.max(Math.abs(call), Math.abs(put)));
    }
  }
  return extent || 1;
}

/**
 * Returns the bars of a ladder as strokes. The side and the colour of a bar show the sign of its value. Calls are solid and puts are
 * hatched, and a vertical tick marks the net exposure. Two bars with the same sign at one strike are drawn end to end. If several strikes
 * share a row of pixels, only the largest bar of each sign is drawn. If `asOutline` is true, as for the earlier moment of a comparison,
 * only the outlines of the bars are drawn.
 */
export function ladderBars(rows: LadderRows, layout: LadderLayout, asOutline = false): Stroke[] {
  const { axis, left, right, extent } = layout;
  const middle = (left + right) / 2;
  const x = (value: number) => middle + ((right - left) / 2) * (value / extent);
  const visible = visibleRows(rows, axis);
  const thickness = barThickness(rows.strike, visible, axis);
  const strokes: Stroke[] = [];
  for (const { index, sign } of visible) {
    const y = axis.y(rows.strike[index]!);
    const [call, put] = [rows.calls[index]!, rows.puts?.[index] ?? 0];
    const top = y - thickness / 2;
    const bar = (from: number, to: number, fill: 'solid' | 'hatched') => {
      if (from === to || (sign !== undefined && to - from > 0 !== sign > 0)) return;
      strokes.push({
        kind: 'bar',
        x: Math.min(x(from), x(to)),
        y: top,
        width: Math.abs(x(to) - x(from)),
        height: thickness,
        // An outline has a colour of its own, because it is drawn over solid bars that have the colour of the sign.
        tone: asOutline ? 'text' : to > from ? 'positive' : 'negative',
        fill: asOutline ? 'outline' : fill,
      });
    };
    bar(0, call, 'solid');
    const start = call >= 0 === put >= 0 ? call : 0;
    bar(start, start + put, 'hatched');
    if (!asOutline && rows.puts && sign === undefined) {
      const half = Math.max(thickness / 2, 1.5);
      strokes.push({
        kind: 'line',
        x1: x(call + put),
        x2: x(call + put),
        y1: y - half,
        y2: y + half,
        tone: 'text',
        width: 2,
        dash: 'solid',
      });
    }
  }
  return strokes;
}

/** Returns a horizontal line, as a stroke, for each level within the axis. */
export function ladderRules(rules: readonly LadderRule[], axis: PriceAxis, left: number, right: number): Stroke[] {
  return rules
    .filter(({ price }) => isWithin(axis, price))
    .map(({ price, tone, dash, width: thickness }) => {
      const y = Math.round(axis.y(price)) + 0.5;
      return { kind: 'line', x1: left, x2: right, y1: y, y2: y, tone, dash, width: thickness };
    });
}

/**
 * Returns labels for the visible strikes that exist at only one of two moments, highest strike first. If a strike is less than `apart`
 * pixels below a label of the same kind (new or gone), the strike is counted in this label. A label of new strikes may be next to a label
 * of gone strikes.
 */
export function presenceLabels(
  rows: readonly { readonly strike: number; readonly presence: 'new' | 'gone' | undefined }[],
  axis: PriceAxis,
  apart: number,
): { presence: 'new' | 'gone'; count: number; y: number }[] {
  const labels: { presence: 'new' | 'gone'; count: number; y: number }[] = [];
  for (const { strike, presence } of rows.toReversed()) {
    if (!presence || !isWithin(axis, strike)) continue;
    const y = axis.y(strike);
    const above = labels.findLast((label) => label.presence === presence);
    if (above && y - above.y < apart) above.count++;
    else labels.push({ presence, count: 1, y });
  }
  return labels;
}

/** Returns the number of strikes that share a row of pixels, at least 1. */
export function strikesPerRow({ strike }: LadderRows, axis: PriceAxis): number {
  const within = strike.filter((each) => isWithin(axis, each)).length;
  return Math.max(1, within / Math.max(1, axis.height));
}

/** Returns the strikes to draw. If strikes share a row of pixels, `sign` is the sign of the largest bar in the row. */
function visibleRows({ strike, calls, puts }: LadderRows, axis: PriceAxis): { index: number; sign?: 1 | -1 }[] {
  const within: number[] = [];
  for (let i = 0; i < strike.length; i++) if (isWithin(axis, strike[i]!)) within.push(i);
  if (within.length <= axis.height) return within.map((index) => ({ index }));
  const largest = new Map<number, { index: number; size: number }>();
  for (const index of within) {
    const row = Math.round(axis.y(strike[index]!));
    const [call, put] = [calls[index]!, puts?.[index] ?? 0];
    for (const sign of [1, -1] as const) {
      const size = Math.max(0, sign * call) + Math.max(0, sign * put);
      const key = 2 * row + (sign > 0 ? 1 : 0);
      if (size > (largest.get(key)?.size ?? 0)) largest.set(key, { index, size });
    }
  }
  return [...largest].map(([key, { index }]) => ({ index, sign: Math.abs(key % 2) === 1 ? 1 : -1 }));
}

function barThickness(strike: readonly number[], visible: readonly { index: number }[], axis: PriceAxis): number {
  if (visible.length > axis.height / 2) return BAR.least;
  const gaps: number[] = [];
  for (let k = 1; k < visible.length; k++) {
    gaps.push(Math.abs(axis.y(strike[visible[k]!.index]!) - axis.y(strike[visible[k - 1]!.index]!)));
  }
  // The thickness is computed from the median distance between strikes. Bars near spot may touch, because strikes near spot are closest.
  const gap = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? BAR.most;
  return Math.max(BAR.least, Math.min(BAR.most, gap * BAR.share));
}
