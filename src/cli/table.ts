import { cleanLine } from '../clean-text.ts';

/** Formats rows of cells as lines. Cleans the cells. Each column is as wide as its widest cell. */
export function columns(given: readonly (readonly string[])[]): string[] {
  const rows = given.map((cells) => cells.map((cell) => cleanLine(cell)));
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]!.length))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}
