/** Returns at most `points` rows (at least 1): the last row, the first one, and evenly spaced rows between them. */
export function downsample<Row>(rows: readonly Row[], points: number): readonly Row[] {
  const last = rows.length - 1;
  if (rows.length <= points) return rows;
  if (points === 1) return [rows[last]!];
  return Array.from({ length: points }, (_, i) => rows[Math.floor((i * last) / (points - 1))]!);
}
