/** A new column with the values of `column` at the given rows. */
export function rowsOfColumn(column: Float64Array, rows: Uint32Array): Float64Array {
  const picked = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) picked[i] = column[rows[i]!]!;
  return picked;
}
