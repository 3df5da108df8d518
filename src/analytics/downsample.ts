/**
 * At most `points` (1 or more) of the rows, as they are: the first, the last, and between them the last of each of evenly many. Of
 * one point the last.
 */
export function downsample<Row>(rows: readonly Row[], points: number): readonly Row[] {
  const last = rows.length - 1;
  if (rows.length <= points) return rows;
  if (points === 1) return [rows[last]!];
  return Array.from({ length: points }, (_, at) => rows[Math.floor((at * last) / (points - 1))]!);
}
