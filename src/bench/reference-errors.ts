/** A table of reference values with inputs, outputs and conditions. src/bench/reference/README.md describes the columns. */
export type Reference = ReturnType<typeof parseReference>;

const EPSILON = 2.22e-16;
/** Minimum reference value. Rows with a smaller value are skipped, because the digits of such a small output do not matter. */
const NEGLIGIBLE = 1e-290;

/** If one rounding of each input changes a volatility by more than this fraction, no method can determine the volatility. */
const BLURRED = 0.01;

/** Parses a table of reference values from CSV with a header. */
export function parseReference(csv: string) {
  const [header, ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  const outputs = new Set(header!.filter((name) => header!.includes(`condition_${name}`)));
  return {
    count: rows.length,
    inputs: header!.filter((name) => !outputs.has(name) && !name.startsWith('condition_')),
    /** Returns a column as numbers. In the column of sides, C becomes 1 and P becomes -1. */
    column: (name: string): Float64Array => {
      const column = header!.indexOf(name);
      return Float64Array.from(rows, (row) =>
        row[column] === 'C' ? 1 : row[column] === 'P' ? -1 : Number(row[column]),
      );
    },
  };
}

/**
 * Finds the largest scaled error of computed values. The scaled error is `|x - X| / (2.22e-16 (|X| + condition))` for the value `x` and the
 * exact value `X`. A scaled error of 1 is the error that one rounding of each input can cause. Rows whose condition is NaN are skipped.
 */
export function worstError(
  values: Float64Array,
  exact: Float64Array,
  condition: Float64Array,
): { worstScaledError: number; row: number } {
  let worst = { worstScaledError: 0, row: 0 };
  exact.forEach((X, row) => {
    if (Math.abs(X) < NEGLIGIBLE || Number.isNaN(condition[row]!)) return;
    const error = Math.abs(values[row]! - X) / (EPSILON * (Math.abs(X) + condition[row]!));
    // An error of NaN counts as infinite.
    if (!(error <= worst.worstScaledError)) worst = { worstScaledError: error || Number.POSITIVE_INFINITY, row };
  });
  return worst;
}

/** Returns by how much a relative error of the inputs grows in the volatility of each row, or NaN if a row does not determine it. */
export function volatilityCondition(bsm: Reference): Float64Array {
  const [price, condition, vega, iv] = ['price', 'condition_price', 'vega', 'iv'].map(bsm.column);
  return price!.map((each, row) => {
    const moved = (each + condition![row]!) / vega![row]!;
    return each >= NEGLIGIBLE && EPSILON * moved < BLURRED * iv![row]! ? moved : Number.NaN;
  });
}
