import { formatDollars, formatPrice } from './figures.ts';
import { type Level, line, type Span, type Style } from './line.ts';

export interface StrikeGex {
  readonly spot: number;
  readonly strike: Float64Array;
  /** Net GEX at each strike, dollars per 1 % move. */
  readonly net: Float64Array;
  /** Levels to annotate, highest priority first. Each level gets a row. The last levels are left out if they do not fit. */
  readonly levels: readonly Level[];
}

/** The maximum distance of a shown strike from spot, as a fraction of spot. Strikes with a level are always shown. */
const WINDOW = 0.2;
/** Widths of the bars, cells. Below `BARS_FULL`, levels have initials, and below `BARS_MIN`, figures and then initials are left out. */
const BARS_FULL = 20;
const BARS_MIN = 8;

interface Row {
  readonly price: number;
  /** Net GEX of the row's strike, dollars per 1 % move. Undefined if the row is a level between two strikes. */
  readonly net: number | undefined;
  readonly names: readonly string[];
}

/** Draws bars of net GEX for the strikes with the largest absolute net GEX, the highest strike on top, negative values left of the axis. */
export function strikeBars(data: StrikeGex, width: number, height: number, style: Style): string[] {
  const rows = rowsOf(data, height);
  const { labels, values, annotations, cells } = columnsOf(rows, width);
  const axis = axisOf(rows, cells);
  const [bar, rule] = style.unicode ? ['│', '┄'] : ['|', '-'];
  return rows.map(({ net, names }, i) => {
    const label: Span = { text: `${labels[i]} `, ink: names.length > 0 ? 'level' : undefined };
    const after: Span[] = [{ text: values[i]! }, { text: annotations[i]!, ink: 'level' }];
    if (net === undefined) return line([label, { text: rule.repeat(cells), ink: 'level' }, ...after], width, style);
    const length = axis.length(net);
    return line(
      [
        label,
        { text: leftBar(net < 0 ? length : 0, axis.left, style.unicode), ink: 'negative' },
        { text: bar.slice(0, cells), ink: 'faint' },
        { text: rightBar(net > 0 ? length : 0, axis.right, style.unicode), ink: 'positive' },
        ...after,
      ],
      width,
      style,
    );
  });
}

/** Returns the rows that fit: all levels, and strikes around spot with the largest absolute net GEX. Prices descend. */
function rowsOf({ spot, strike, net, levels }: StrikeGex, height: number): Row[] {
  const shown = new Set(levels.map((level) => level.price).slice(0, height));
  const strongest = Array.from(strike.keys())
    .filter((i) => net[i] !== 0 && Math.abs(strike[i]! / spot - 1) <= WINDOW)
    .sort((a, b) => Math.abs(net[b]!) - Math.abs(net[a]!));
  for (const i of strongest) {
    if (shown.size >= height) break;
    shown.add(strike[i]!);
  }
  const netAt = new Map(Array.from(strike, (each, i) => [each, net[i]!]));
  return [...shown]
    .sort((a, b) => b - a)
    .map((each) => ({
      price: each,
      net: netAt.get(each),
      names: levels.filter((level) => level.price === each).map(({ name }) => name),
    }));
}

/** Returns the layout of the columns beside the bars, and the number of cells for the bars. */
function columnsOf(rows: readonly Row[], width: number) {
  const labels = aligned(rows.map((row) => formatPrice(row.price)));
  const values = aligned(rows.map(({ net }) => (net === undefined ? '' : formatDollars(net)))).map(
    (text) => ` ${text}`,
  );
  const none = rows.map(() => '');
  const annotationsBy = (write: (names: readonly string[]) => string) =>
    rows.map(({ names }) => (names.length > 0 ? `  ${write(names)}` : ''));
  const full = annotationsBy((names) => names.join(', '));
  const initials = annotationsBy((names) => names.map((name) => name[0]!.toUpperCase()).join(''));
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const layout = (figures: readonly string[], annotations: readonly string[]) => ({
    labels,
    values: figures,
    annotations,
    cells: Math.max(0, width - widest(labels) - 1 - widest(figures) - widest(annotations)),
  });
  const spacious = layout(values, full);
  if (spacious.cells >= BARS_FULL) return spacious;
  const brief = layout(values, initials);
  if (brief.cells >= BARS_MIN) return brief;
  const annotated = layout(none, initials);
  return annotated.cells >= BARS_MIN ? annotated : layout(none, none);
}

/** Computes the position of the axis. Both sides of the axis have the same scale. */
function axisOf(rows: readonly Row[], cells: number) {
  const nets = rows.map(({ net }) => net ?? 0);
  // The code divides values by the largest value, because a sum of very large values would overflow.
  const largest = Math.max(...nets.map(Math.abs));
  const share = (value: number) => (largest > 0 ? Math.abs(value) / largest : 0);
  const low = share(Math.min(0, ...nets));
  const high = share(Math.max(0, ...nets));
  const room = Math.max(0, cells - 1);
  let left = Math.round(largest > 0 ? (room * low) / (low + high) : room / 2);
  // A side with a nonzero value has at least one cell.
  if (low > 0) left = Math.max(left, Math.min(1, room));
  if (high > 0) left = Math.min(left, Math.max(0, room - 1));
  const right = room - left;
  const scale = Math.min(low > 0 ? left / low : room, high > 0 ? right / high : room);
  return { left, right, length: (net: number) => share(net) * scale };
}

function aligned(texts: readonly string[]): string[] {
  const width = Math.max(0, ...texts.map((text) => text.length));
  return texts.map((text) => text.padStart(width));
}

/** Characters for a partly filled cell: from 0 to 7 eighths, filled from the left. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a bar of `length` cells from left to right, in a space of `cells` cells. A positive length is always visible. */
export function rightBar(length: number, cells: number, unicode: boolean): string {
  const steps = stepsOf(length, cells, unicode ? 8 : 1);
  if (steps === 0 && length > 0) return (unicode ? '▏' : '.').slice(0, cells).padEnd(cells);
  if (!unicode) return '#'.repeat(steps).padEnd(cells);
  return ('█'.repeat(steps >> 3) + EIGHTHS[steps & 7]!).padEnd(cells);
}

/** Draws a bar from right to left. The bar grows in steps of half a cell, because Unicode has fewer characters for this direction. */
export function leftBar(length: number, cells: number, unicode: boolean): string {
  const steps = stepsOf(length, cells, unicode ? 2 : 1);
  if (steps === 0 && length > 0) return (unicode ? '▕' : '.').slice(0, cells).padStart(cells);
  if (!unicode) return '#'.repeat(steps).padStart(cells);
  return ((steps & 1 ? '▐' : '') + '█'.repeat(steps >> 1)).padStart(cells);
}

function stepsOf(length: number, cells: number, perCell: number): number {
  return Math.min(cells * perCell, Math.round(length * perCell));
}
