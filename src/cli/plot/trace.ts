import type { Dots } from './dots.ts';

/** The row of so many at which a value stands, the highest on top; in the middle where all are alike. */
export type RowOf = (value: number, count: number) => number;

export function rowsBetween(low: number, high: number): RowOf {
  const largest = Math.max(Math.abs(high), Math.abs(low));
  // Of the largest: differences of very large figures overflow.
  const share = (value: number) => (largest > 0 ? value / largest : 0);
  const [top, range] = [share(high), share(high) - share(low)];
  return (value, count) => Math.round(range > 0 ? ((top - share(value)) / range) * (count - 1) : (count - 1) / 2);
}

/** Draws evenly spaced values from edge to edge, steep stretches filled up; a gap where there is none (`NaN`). */
export function trace(values: Float64Array, dots: Dots, rowOf: RowOf): Dots {
  let before: number | undefined;
  for (let column = 0; column < dots.columns; column++) {
    const value = valueAt(values, dots.columns > 1 ? column / (dots.columns - 1) : 0.5);
    if (Number.isNaN(value)) {
      before = undefined;
      continue;
    }
    const row = rowOf(value, dots.rows);
    const from = before === undefined ? row : before + Math.sign(row - before);
    for (let at = Math.min(from, row); at <= Math.max(from, row); at++) dots.set(column, at);
    before = row;
  }
  return dots;
}

/** At a fraction of the way along. */
function valueAt(values: Float64Array, fraction: number): number {
  const at = fraction * (values.length - 1);
  const below = Math.floor(at);
  const rest = at - below;
  return rest === 0 ? values[below]! : values[below]! * (1 - rest) + values[below + 1]! * rest;
}
