import { cleanLine } from '../core/clean-text.ts';

/** Formats a count with commas as thousands separators. */
export function formatCount(value: number): string {
  return value.toLocaleString('en-US');
}

/** Cleans rows of cells and formats them as lines. The width of a column is the width of its widest cell. */
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

/** Formats rows of cells as CSV. */
export function csvText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, ...rows].map((cells) => `${cells.join(',')}\n`).join('');
}
