import type { Matrix } from '../data/page-answers.ts';

/**
 * The values of the matrix of strikes and expiries. The outer list has one inner list per expiry, and each inner list has one value per
 * strike. A value is null if the series has no contract with this strike.
 */
export type MatrixValues = readonly (readonly (number | null)[])[];

/** The colour ramp has the steps 0 to 8: Step 0 is the most negative, step 8 is the most positive, and step 4 is for values around 0. */
export const NEUTRAL_STEP = 4;

/**
 * Returns the lower bounds of the four colour steps of a sign, as absolute values in ascending order. Each lower bound is 1, 2 or 5 times a
 * power of ten, and four or five times the previous lower bound. The last bound is not greater than the largest absolute value. Returns an
 * empty list if all values are 0 or unknown.
 */
export function rampBounds(values: MatrixValues): number[] {
  let most = 0;
  for (const column of values) {
    for (let i = 0; i < column.length; i++) most = Math.max(most, Math.abs(column[i] ?? 0));
  }
  if (most === 0) return [];
  let top = 3 * Math.floor(Math.log10(most)) + 3;
  while (roundSize(top) > most) top--;
  return [top - 6, top - 4, top - 2, top].map(roundSize);
}

/** Returns the number at an index of the sequence 1, 2, 5, 10, 20 and so on. Index 0 returns 1. */
function roundSize(index: number): number {
  const power = Math.floor(index / 3);
  return Number(`${[1, 2, 5][index - 3 * power]}e${power}`);
}

/** Returns the colour step of a value, 0 to 8. The step never decreases as the value increases, and opposite values have opposite steps. */
export function rampStep(value: number, bounds: readonly number[]): number {
  const size = Math.abs(value);
  let steps = 0;
  while (steps < bounds.length && bounds[steps]! <= size) steps++;
  return NEUTRAL_STEP + Math.sign(value) * steps;
}

/** The fields of a matrix that are needed to compare two moments. */
type ComparableMatrix = Pick<
  Matrix,
  'strike' | 'root' | 'expiry' | 'settlement' | 'values' | 'by_strike' | 'by_expiry' | 'within_band' | 'left_out'
>;

/**
 * Returns the matrix of the changes since an earlier moment. The change of a cell is null if only one of the two moments has the cell.
 * `by_strike` and `within_band` contain only cells that exist at both moments. `by_expiry` has the change over all strikes of each series,
 * and 0 for a series that only one of the two moments has.
 */
export function matrixChange<M extends ComparableMatrix>(now: M, before: ComparableMatrix): M {
  const nameOf = ({ root, expiry, settlement }: ComparableMatrix, i: number) =>
    `${root[i]} ${expiry[i]} ${settlement[i]}`;
  const columns = new Map(before.values.map((values, i) => [nameOf(before, i), { values, sum: before.by_expiry[i]! }]));
  const rows = new Map(before.strike.map((strike, i) => [strike, i]));
  const values = now.values.map((column, i) => {
    const earlier = columns.get(nameOf(now, i))?.values;
    return column.map((value, row) => {
      const then = earlier?.[rows.get(now.strike[row]!) ?? -1] ?? null;
      return value === null || then === null ? null : value - then;
    });
  });
  const sum = (cells: readonly (number | null)[]) => cells.reduce<number>((total, each) => total + (each ?? 0), 0);
  return {
    ...now,
    values,
    by_strike: now.strike.map((_, row) => sum(values.map((column) => column[row] ?? null))),
    by_expiry: now.by_expiry.map((total, i) => total - (columns.get(nameOf(now, i))?.sum ?? total)),
    within_band: sum(values.flat()),
    left_out: now.left_out - before.left_out,
  };
}

/** Minimum and maximum height of a cell, in pixels. The minimum keeps cells visible, so the matrix may become taller than `target`. */
const CELL_HEIGHT = { least: 2, most: 24 } as const;

export interface MatrixLayout {
  /** The position of the left edge, and the size of a cell, in pixels. */
  readonly left: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  readonly columns: number;
  readonly rows: number;
}

/** Returns the layout of the cells between `left` and `right`, with a height of about `target` pixels. */
export function matrixLayout(columns: number, rows: number, left: number, right: number, target: number): MatrixLayout {
  const cellHeight = target / Math.max(1, rows);
  return {
    left,
    cellWidth: Math.max(0, right - left) / Math.max(1, columns),
    cellHeight: Math.max(CELL_HEIGHT.least, Math.min(CELL_HEIGHT.most, cellHeight)),
    columns,
    rows,
  };
}

/** Yields each cell that has a contract: its value, and its left upper corner in pixels. The highest strike is at the top. */
export function* matrixCells(values: MatrixValues, { left, cellWidth, cellHeight, rows }: MatrixLayout) {
  for (const [column, cells] of values.entries()) {
    for (const [row, value] of cells.entries())
      if (value !== null) yield { value, x: left + column * cellWidth, y: (rows - 1 - row) * cellHeight };
  }
}

/** A cell, as the index of its column and the index of its strike. */
export interface MatrixPlace {
  readonly column: number;
  readonly row: number;
}

/** Returns the cell at a point. If the point is outside the matrix, returns the nearest cell. */
export function cellAt(
  { left, cellWidth, cellHeight, columns, rows }: MatrixLayout,
  x: number,
  y: number,
): MatrixPlace {
  return placeWithin(
    { column: Math.floor((x - left) / (cellWidth || 1)), row: rows - 1 - Math.floor(y / cellHeight) },
    columns,
    rows,
  );
}

export function placeWithin({ column, row }: MatrixPlace, columns: number, rows: number): MatrixPlace {
  return { column: Math.max(0, Math.min(columns - 1, column)), row: Math.max(0, Math.min(rows - 1, row)) };
}

/**
 * Returns the vertical position of a price, in pixels from the top. A strike is in the middle of its row. The function interpolates
 * linearly between two strikes. All rows have the same height, even if the distances between strikes differ.
 */
export function yOfPrice(strikes: readonly number[], { cellHeight, rows }: MatrixLayout, price: number): number {
  let i = 1;
  while (i < rows - 1 && strikes[i]! < price) i++;
  const [from, to] = [strikes[i - 1]!, strikes[i] ?? strikes[i - 1]!];
  const index = i - 1 + (to > from ? (price - from) / (to - from) : 0);
  return (rows - 1 - index + 0.5) * cellHeight;
}
