/** Bits of the eight dots of a braille cell, by row and column. */
const BRAILLE = [
  [0x01, 0x08],
  [0x02, 0x10],
  [0x04, 0x20],
  [0x40, 0x80],
];
const BRAILLE_BASE = 0x2800;

/** A grid of cells in which lines are drawn dot by dot. A cell has eight dots as a braille character, and one dot in ASCII. */
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
