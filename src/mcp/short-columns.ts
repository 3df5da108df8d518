/** Significant digits of a figure. More digits would not help a model. */
const DIGITS = 5;
/** Maximum number of rows. A row of the widest chains takes about 36 tokens. */
const ROWS_MAX = 500;

/**
 * Shortens an answer in columns so that it fits into a model's context: returns the rows nearest to spot, with few digits. The answer
 * states how many rows are left out. Strikes have all digits, because they identify contracts. REST returns the full columns.
 */
export function shortenColumns(body: Record<string, unknown>): Record<string, unknown> {
  const round = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value);
  const [from, to] = nearestRows((body.strike ?? body.spot) as number[], body.spot_price as number);
  const leftOut = (body.count as number) - (to - from);
  const columns = Object.entries(body).map(([key, value]) => {
    if (!Array.isArray(value)) return [key, value];
    const rows = value.slice(from, to);
    return [key, key === 'strike' ? rows : rows.map(round)];
  });
  return {
    ...Object.fromEntries(columns),
    ...(leftOut > 0 && { count: to - from, rows_left_out_far_from_spot: leftOut }),
  };
}

/** Returns the range of the values nearest to `middle`, at most ROWS_MAX. The values are ascending. */
function nearestRows(ascending: readonly number[], middle: number): [from: number, to: number] {
  let [from, to] = [0, ascending.length];
  while (to - from > ROWS_MAX) {
    if (middle - ascending[from]! > ascending[to - 1]! - middle) from++;
    else to--;
  }
  return [from, to];
}
