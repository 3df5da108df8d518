import { formatDollars, formatPrice } from './figures.ts';
import { type Ink, type Level, line, type Span, type Style } from './line.ts';
import { Dots, rowsBetween, trace } from './trace.ts';

export interface Profile {
  /** Spots, ascending. */
  readonly level: Float64Array;
  /** Net GEX at each spot, dollars per 1 % move. */
  readonly gex: Float64Array;
  /** Levels to annotate. Each level gets a line under the chart. Levels outside the range of the profile are left out. */
  readonly annotations: readonly Level[];
}

/** Draws net GEX as a function of spot. The curve is drawn over the zero line and over the vertical lines of the annotations. */
export function profileChart(data: Profile, width: number, height: number, style: Style): string[] {
  const { level, gex } = data;
  const [first, last] = [level[0]!, level.at(-1)!];
  const annotations = data.annotations.filter((annotation) => annotation.price >= first && annotation.price <= last);
  const rows = Math.max(2, height - annotations.length - 1);
  const low = Math.min(0, ...gex);
  const high = Math.max(0, ...gex);
  const margin = Math.max(...[high, low].map((end) => formatDollars(end).length)) + 1;
  const columns = Math.max(1, width - margin);

  const rowOf = rowsBetween(low, high);
  const columnOf = (spot: number) => (last > first ? Math.round(((spot - first) / (last - first)) * (columns - 1)) : 0);

  const dots = trace(gex, new Dots(columns, rows, style.unicode), rowOf);
  const zero = Math.floor((rowOf(0, dots.rows) * rows) / dots.rows);
  // If zero is in the same row as the highest or the lowest value, this row has the label 0.
  const labels = new Map([
    ...(high > 0 ? [[0, formatDollars(high)] as const] : []),
    ...(low < 0 ? [[rows - 1, formatDollars(low)] as const] : []),
    [zero, '0'] as const,
  ]);
  const [across, down] = style.unicode ? ['┄', '┊'] : ['-', ':'];
  const annotationColumns = new Set(annotations.map((annotation) => columnOf(annotation.price)));

  const lines = Array.from({ length: rows }, (_, row) => {
    const label = labels.get(row) ?? '';
    const spans: Span[] = [{ text: `${label.padStart(margin - 1)} `, ink: 'faint' }];
    const ink: Ink | undefined = row < zero ? 'positive' : row > zero ? 'negative' : undefined;
    for (let column = 0; column < columns; column++) {
      const dot = dots.cell(column, row);
      if (dot !== undefined) spans.push({ text: dot, ink });
      else if (annotationColumns.has(column)) spans.push({ text: down, ink: 'level' });
      else spans.push({ text: row === zero ? across : ' ', ink: 'faint' });
    }
    return line(spans, width, style);
  });
  const indent: Span = { text: ' '.repeat(margin) };
  return [
    ...lines,
    ...annotations.map((annotation) =>
      line(
        [indent, { text: annotationText(columnOf(annotation.price), columns, annotation, down), ink: 'level' }],
        width,
        style,
      ),
    ),
    line([indent, { text: endsOf(formatPrice(first), formatPrice(last), columns), ink: 'faint' }], width, style),
  ];
}

/** Draws the name and the price of an annotation right of its vertical line, or left of it if the right side is too narrow. */
function annotationText(column: number, columns: number, { name, price }: Level, line: string): string {
  const text = `${name} ${formatPrice(price)}`;
  if (column + 2 + text.length <= columns) return `${' '.repeat(column)}${line} ${text}`;
  return column > text.length ? `${`${text} `.padStart(column)}${line}` : text;
}

/** Draws the labels of both ends of an axis. Draws only the first label if the two labels would overlap. */
export function endsOf(first: string, last: string, columns: number): string {
  return first.length + last.length < columns ? first + last.padStart(columns - first.length) : first;
}
