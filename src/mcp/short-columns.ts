/** Maximum number of rows in a shortened answer. A row of the widest chains takes about 44 tokens. */
const ROWS_MAX = 450;
/** Maximum number of series and of values in a shortened matrix. A value takes about 5 tokens. */
const SERIES_MAX = 20;
const VALUES_MAX = 2_500;
/** Maximum number of days in a shortened answer. A day takes about 80 tokens. */
const DAYS_MAX = 60;

type Body = Record<string, unknown>;

/**
 * Shortens an answer in columns to the rows nearest to spot, so that it fits into a model's context. The answer states the number of
 * missing rows. REST returns the full columns.
 */
export function shortenColumns(body: Body): Body {
  const [from, to] = nearestRows((body.strike ?? body.spot) as number[], body.spot_price as number, ROWS_MAX);
  const leftOut = (body.count as number) - (to - from);
  const columns = Object.entries(body).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.slice(from, to) : value,
  ]);
  return {
    ...Object.fromEntries(columns),
    ...(leftOut > 0 && { count: to - from, rows_left_out_far_from_spot: leftOut }),
  };
}

/** Shortens a matrix to the earliest series and the strikes nearest to spot. The sums still include the omitted series and strikes. */
export function shortenMatrix(body: Body): Body {
  const [values, strike] = [body.values as unknown[][], body.strike as number[]];
  const series = Math.min(values.length, SERIES_MAX);
  const [from, to] = nearestRows(strike, body.spot_price as number, Math.floor(VALUES_MAX / series));
  const ofSeries = Object.fromEntries(
    ['root', 'expiry', 'settlement', 'by_expiry'].map((key) => [key, (body[key] as unknown[]).slice(0, series)]),
  );
  const [strikesLeftOut, seriesLeftOut] = [strike.length - (to - from), values.length - series];
  return {
    ...body,
    ...ofSeries,
    strike: strike.slice(from, to),
    values: values.slice(0, series).map((row) => row.slice(from, to)),
    by_strike: (body.by_strike as unknown[]).slice(from, to),
    ...(strikesLeftOut > 0 && { count: to - from, rows_left_out_far_from_spot: strikesLeftOut }),
    ...(seriesLeftOut > 0 && { series_count: series, later_series_left_out: seriesLeftOut }),
  };
}

/** Shortens the history of levels to the last days. The rates still include the omitted days. */
export function shortenDays(body: Body): Body {
  const leftOut = Math.max(0, (body.count as number) - DAYS_MAX);
  const days = Object.entries(body.days as Record<string, unknown[]>).map(([key, rows]) => [key, rows.slice(leftOut)]);
  return {
    ...body,
    days: Object.fromEntries(days),
    ...(leftOut > 0 && { earlier_days_left_out: leftOut }),
  };
}

/** Returns the range of the `most` values nearest to `middle`, or the range of all values. The values ascend. */
function nearestRows(ascending: readonly number[], middle: number, most: number): [from: number, to: number] {
  let [from, to] = [0, ascending.length];
  while (to - from > most) {
    if (middle - ascending[from]! > ascending[to - 1]! - middle) from++;
    else to--;
  }
  return [from, to];
}
