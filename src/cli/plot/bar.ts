/** Characters for a cell that is partly filled from the left, in eighths. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Draws a bar of `length` cells that grows to the right within `cells` cells. A length above zero is always visible. */
export function rightBar(length: number, cells: number, unicode: boolean): string {
  const steps = stepsOf(length, cells, unicode ? 8 : 1);
  if (steps === 0 && length > 0) return (unicode ? '▏' : '.').slice(0, cells).padEnd(cells);
  if (!unicode) return '#'.repeat(steps).padEnd(cells);
  return ('█'.repeat(steps >> 3) + EIGHTHS[steps & 7]!).padEnd(cells);
}

/** Draws a bar that grows to the left. In this direction, the only partly filled cell that Unicode has is the half-filled cell. */
export function leftBar(length: number, cells: number, unicode: boolean): string {
  const steps = stepsOf(length, cells, unicode ? 2 : 1);
  if (steps === 0 && length > 0) return (unicode ? '▕' : '.').slice(0, cells).padStart(cells);
  if (!unicode) return '#'.repeat(steps).padStart(cells);
  return ((steps & 1 ? '▐' : '') + '█'.repeat(steps >> 1)).padStart(cells);
}

function stepsOf(length: number, cells: number, perCell: number): number {
  return Math.min(cells * perCell, Math.round(length * perCell));
}
