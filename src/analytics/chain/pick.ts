/** A column's values at some rows, as a column of their own. */
export function pick(column: Float64Array, rows: Uint32Array): Float64Array {
  const picked = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) picked[at] = column[rows[at]!]!;
  return picked;
}
