/** A new column with the values of `column` at the given rows. */
export function rowsOfColumn(column: Float64Array, rows: Uint32Array): Float64Array {
  const picked = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) picked[at] = column[rows[at]!]!;
  return picked;
}
