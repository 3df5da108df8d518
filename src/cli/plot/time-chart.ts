import { type Ink, line, type Span, type Style } from './line.ts';
import { endsOf } from './profile-chart.ts';
import { Dots, rowsBetween, trace } from './trace.ts';

export interface TimeLine {
  readonly name: string;
  /** One value per point in time. `NaN` means a missing value. The points are evenly spaced on the chart, even across long gaps in time. */
  readonly values: Float64Array;
  readonly ink?: Ink;
}

export interface TimeLines {
  /** Where lines cross, the line that comes first in this list is drawn on top. */
  readonly lines: readonly TimeLine[];
  /** Labels under the first and the last point in time. */
  readonly ends: readonly [string, string];
  /** True if the chart includes zero. Its values then have the ink `positive` or `negative`. */
  readonly zero: boolean;
  readonly figure: (value: number) => string;
}

/** Minimum width of the chart, in columns. The names beside the lines are left out if they would make the chart narrower. */
const COLUMNS_MIN = 24;

/** Draws lines over time, with the name and the last value of each line at its right end. */
export function timeChart(data: TimeLines, width: number, height: number, style: Style): string[] {
  const known = data.lines.flatMap(({ values }) => [...values].filter((each) => !Number.isNaN(each)));
  if (data.zero) known.push(0);
  if (known.length === 0) return [];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const rows = Math.max(2, height - 1);
  const rowOf = rowsBetween(low, high);
  const rowOfCells = (value: number) => rowOf(value, rows);
  const zero = data.zero ? rowOfCells(0) : undefined;
  const labels = new Map([
    [rowOfCells(low), data.figure(low)],
    [rowOfCells(high), data.figure(high)],
    ...(zero === undefined ? [] : [[zero, '0'] as const]),
  ]);
  const margin = Math.max(...[...labels.values()].map((each) => each.length)) + 1;

  const ends = endLabels(data, rows, rowOfCells);
  const labelWidth = Math.max(0, ...[...ends.values()].map(({ text }) => text.length)) + 1;
  const hasNames = width - margin - labelWidth >= COLUMNS_MIN;
  const columns = Math.max(1, width - margin - (hasNames ? labelWidth : 0));
  const drawn = data.lines.map(({ values, ink }) => ({
    ink,
    dots: trace(values, new Dots(columns, rows, style.unicode), rowOf),
  }));
  const inkOf = (row: number, ink: Ink | undefined): Ink | undefined =>
    zero === undefined || row === zero ? ink : row < zero ? 'positive' : 'negative';

  const lines = Array.from({ length: rows }, (_, row) => {
    const spans: Span[] = [{ text: `${(labels.get(row) ?? '').padStart(margin - 1)} `, ink: 'faint' }];
    for (let column = 0; column < columns; column++) {
      const seen = drawn.find(({ dots }) => dots.cell(column, row) !== undefined);
      if (seen) spans.push({ text: seen.dots.cell(column, row)!, ink: inkOf(row, seen.ink) });
      else spans.push({ text: row === zero ? (style.unicode ? '┄' : '-') : ' ', ink: 'faint' });
    }
    const end = hasNames ? ends.get(row) : undefined;
    return line(end ? [...spans, { text: ` ${end.text}`, ink: end.ink }] : spans, width, style);
  });
  return [
    ...lines,
    line([{ text: ' '.repeat(margin) }, { text: endsOf(...data.ends, columns), ink: 'faint' }], width, style),
  ];
}

/** Returns the labels by row: the name and the last value of each line. A label is in the free row nearest to the end of its line. */
function endLabels({ lines, figure }: TimeLines, rows: number, rowOf: (value: number) => number) {
  const labels = new Map<number, { readonly text: string; readonly ink: Ink | undefined }>();
  for (const { name, values, ink } of lines) {
    const last = values.at(-1) ?? Number.NaN;
    if (Number.isNaN(last)) continue;
    const free = Array.from({ length: rows }, (_, row) => row)
      .filter((row) => !labels.has(row))
      .toSorted((a, b) => Math.abs(a - rowOf(last)) - Math.abs(b - rowOf(last)))[0];
    if (free !== undefined) labels.set(free, { text: `${name} ${figure(last)}`, ink });
  }
  return labels;
}
