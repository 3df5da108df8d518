import { Dots } from './dots.ts';
import { type Ink, line, type Span, type Style } from './line.ts';
import { endsOf } from './profile-chart.ts';
import { rowsBetween, trace } from './trace.ts';

export interface TimeLine {
  readonly name: string;
  /** One a moment, evenly spaced whatever lies between them; `NaN` where there is none. */
  readonly values: Float64Array;
  readonly ink?: Ink;
}

export interface TimeLines {
  /** Where they cross, the first one is seen. */
  readonly lines: readonly TimeLine[];
  /** What stands under the first and the last moment. */
  readonly ends: readonly [string, string];
  /** Whether zero belongs to the picture: what is above it is painted positive, what is below negative. */
  readonly zero: boolean;
  readonly figure: (value: number) => string;
}

/** Below this many columns the chart keeps them for itself. */
const COLUMNS_MIN = 24;

/** Lines over time, each with its name and last value at the right end of it. */
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
  const beside = Math.max(0, ...[...ends.values()].map(({ text }) => text.length)) + 1;
  const named = width - margin - beside >= COLUMNS_MIN;
  const columns = Math.max(1, width - margin - (named ? beside : 0));
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
    const end = named ? ends.get(row) : undefined;
    return line(end ? [...spans, { text: ` ${end.text}`, ink: end.ink }] : spans, width, style);
  });
  return [
    ...lines,
    line([{ text: ' '.repeat(margin) }, { text: endsOf(...data.ends, columns), ink: 'faint' }], width, style),
  ];
}

/** By row, each line's name and last value: where it ends, or in the nearest row that is free. */
function endLabels({ lines, figure }: TimeLines, rows: number, rowOf: (value: number) => number) {
  const taken = new Map<number, { readonly text: string; readonly ink: Ink | undefined }>();
  for (const { name, values, ink } of lines) {
    const last = values.at(-1) ?? Number.NaN;
    if (Number.isNaN(last)) continue;
    const free = Array.from({ length: rows }, (_, row) => row)
      .filter((row) => !taken.has(row))
      .toSorted((a, b) => Math.abs(a - rowOf(last)) - Math.abs(b - rowOf(last)))[0];
    if (free !== undefined) taken.set(free, { text: `${name} ${figure(last)}`, ink });
  }
  return taken;
}
