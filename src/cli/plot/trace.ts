/** Bits of the eight dots in a braille cell, by row and column. */
const BRAILLE = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];
const BRAILLE_BASE = 0x2800;

/** A grid of cells for drawing lines dot by dot. A cell is a braille character with eight dots, or an ASCII character with one dot. */
export class Dots {
  readonly columns: number;
  readonly rows: number;
  readonly #cells: Uint8Array;
  readonly #width: number;
  readonly #unicode: boolean;
  readonly #perColumn: number;
  readonly #perRow: number;

  constructor(columns: number, rows: number, unicode: boolean) {
    this.#perColumn = unicode ? 2 : 1;
    this.#perRow = unicode ? 4 : 1;
    this.columns = columns * this.#perColumn;
    this.rows = rows * this.#perRow;
    this.#cells = new Uint8Array(columns * rows);
    this.#width = columns;
    this.#unicode = unicode;
  }

  set(column: number, row: number): void {
    const cell = Math.floor(row / this.#perRow) * this.#width + Math.floor(column / this.#perColumn);
    this.#cells[cell]! |= BRAILLE[row % this.#perRow]![column % this.#perColumn]!;
  }

  /** Returns the character of a cell, or `undefined` if the cell has no dot. */
  cell(column: number, row: number): string | undefined {
    const dots = this.#cells[row * this.#width + column]!;
    if (dots === 0) return undefined;
    return this.#unicode ? String.fromCharCode(BRAILLE_BASE + dots) : '*';
  }
}

/** Returns the row of a value, out of `count` rows. The highest value is on top. Returns the middle row if all values are equal. */
export type RowOf = (value: number, count: number) => number;

export function rowsBetween(low: number, high: number): RowOf {
  const largest = Math.max(Math.abs(high), Math.abs(low));
  // The code divides values by the largest value, because a difference of very large values would overflow.
  const share = (value: number) => (largest > 0 ? value / largest : 0);
  const [top, range] = [share(high), share(high) - share(low)];
  return (value, count) => Math.round(range > 0 ? ((top - share(value)) / range) * (count - 1) : (count - 1) / 2);
}

/** Draws evenly spaced values over the whole width. Connects neighbouring values vertically. `NaN` leaves a gap. */
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
    for (let dotRow = Math.min(from, row); dotRow <= Math.max(from, row); dotRow++) dots.set(column, dotRow);
    before = row;
  }
  return dots;
}

/** Interpolates the values linearly. `fraction` is the position: 0 is the first value, and 1 is the last value. */
function valueAt(values: Float64Array, fraction: number): number {
  const position = fraction * (values.length - 1);
  const below = Math.floor(position);
  const rest = position - below;
  return rest === 0 ? values[below]! : values[below]! * (1 - rest) + values[below + 1]! * rest;
}
