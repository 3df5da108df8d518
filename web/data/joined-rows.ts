/** A row of two moments: its index at each of them. Undefined: that moment has no such row. */
export interface JoinedRow {
  readonly now: number | undefined;
  readonly before: number | undefined;
}

/**
 * Joins the rows of two moments by their keys. The rows of `now` come first, in their order, then those that are gone. Without an earlier
 * moment every row is of now only.
 */
export function joinRows(
  now: readonly (string | number)[],
  before: readonly (string | number)[] | undefined,
): JoinedRow[] {
  const earlier = new Map(before?.map((key, i) => [key, i]));
  const rows: JoinedRow[] = now.map((key, i) => ({ now: i, before: earlier.get(key) }));
  const present = new Set(now);
  for (const [key, i] of earlier) if (!present.has(key)) rows.push({ now: undefined, before: i });
  return rows;
}

/** The change of a value of a row. Null: the row is of one moment only, or a value is unknown. */
export function changeOf(
  row: JoinedRow,
  now: readonly (number | null)[],
  before: readonly (number | null)[],
): number | null {
  const [to, from] = [now[row.now ?? -1] ?? null, before[row.before ?? -1] ?? null];
  return to === null || from === null ? null : to - from;
}

/** `new` or `gone` for a row of one moment only, otherwise undefined. */
export function presenceOf({ now, before }: JoinedRow): 'new' | 'gone' | undefined {
  return before === undefined ? 'new' : now === undefined ? 'gone' : undefined;
}
