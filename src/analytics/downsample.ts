/**
 * Returns at most `points` rows: the first row, the last row, and evenly spaced rows between the first and the last row. `points` must be
 * at least 1. If `points` is 1, returns only the last row.
 */
export function downsample<Row>(rows: readonly Row[], points: number): readonly Row[] {
  const last = rows.length - 1;
  if (rows.length <= points) return rows;
  if (points === 1) return [rows[last]!];
  return Array.from({ length: points }, (_, i) => rows[Math.floor((i * last) / (points - 1))]!);
}
