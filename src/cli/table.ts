import { cleanLine } from '../clean-text.ts';

/** Formats rows of cells as lines. Cleans the cells. Each column is as wide as its widest cell. */
export function columns(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((cells) => cells.map((cell) => cleanLine(cell)));
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]!.length))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
}
