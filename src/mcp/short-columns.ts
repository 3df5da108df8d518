/** As many digits as tell anything. */
const DIGITS = 5;
/** Of the widest chains, some 36 tokens each. */
const ROWS_MAX = 500;

/**
 * An answer in columns, so that a model has room for it: the rows nearest spot, in few digits; how many are left out, it says. Strikes are
 * names, and keep their digits. REST has all of it.
 */
export function inShort(body: Record<string, unknown>): Record<string, unknown> {
  const short = (value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(DIGITS)) : value);
  const [from, to] = nearestRows((body.strike ?? body.spot) as number[], body.spot_price as number);
  const left = (body.count as number) - (to - from);
  const columns = Object.entries(body).map(([key, value]) => {
    if (!Array.isArray(value)) return [key, value];
    const rows = value.slice(from, to);
    return [key, key === 'strike' ? rows : rows.map(short)];
  });
  return { ...Object.fromEntries(columns), ...(left > 0 && { count: to - from, rows_left_out_far_from_spot: left }) };
}

/** A range of at most ROWS_MAX ascending values around one. */
function nearestRows(ascending: readonly number[], middle: number): [from: number, to: number] {
  let [from, to] = [0, ascending.length];
  while (to - from > ROWS_MAX) {
    if (middle - ascending[from]! > ascending[to - 1]! - middle) from++;
    else to--;
  }
  return [from, to];
}
