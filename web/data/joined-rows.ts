import type { Expiries } from './page-answers.ts';

/** Returns the keys by which the series of two moments are joined. */
export function seriesKeys({ root, expiry, settlement }: Expiries): string[] {
  return root.map((each, i) => `${each} ${expiry[i]} ${settlement[i]}`);
}

/** The indices of one row at two moments. The index for a moment is undefined if the row does not exist at that moment. */
export interface JoinedRow {
  readonly now: number | undefined;
  readonly before: number | undefined;
}

/**
 * Joins the rows of two moments by their keys. The rows of `now` come first, in unchanged order, followed by the rows that exist only in
 * `before`. If `before` is undefined, every row counts as a new row.
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

/** Returns the change of a row's value. Returns null if the row exists at only one moment, or if a value is unknown. */
export function changeOf(
  row: JoinedRow,
  now: readonly (number | null)[],
  before: readonly (number | null)[],
): number | null {
  const [to, from] = [now[row.now ?? -1] ?? null, before[row.before ?? -1] ?? null];
  return to === null || from === null ? null : to - from;
}

/** Returns `new` or `gone` if a row exists at only one moment, otherwise `undefined`. */
export function presenceOf({ now, before }: JoinedRow): 'new' | 'gone' | undefined {
  return before === undefined ? 'new' : now === undefined ? 'gone' : undefined;
}
