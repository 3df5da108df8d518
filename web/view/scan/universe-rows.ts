import { cleanText } from '../../page-format.ts';

/** A ticker of the universe. Its figures come from the stream when the grid draws them, so that the rows themselves never change. */
export interface UniverseRow {
  readonly ticker: string;
  readonly theme: string;
}

/** Returns one row for each ticker, in the order of the themes. A ticker of several themes has all their names. */
export function universeRows(themes: Readonly<Record<string, readonly string[]>>): UniverseRow[] {
  const byTicker = new Map<string, string[]>();
  for (const [theme, names] of Object.entries(themes)) {
    for (const name of names.map((each) => cleanText(each)).filter(Boolean))
      byTicker.set(name, [...(byTicker.get(name) ?? []), cleanText(theme).replaceAll('_', ' ')]);
  }
  return [...byTicker].map(([ticker, names]) => ({ ticker, theme: names.join(', ') }));
}

/** The distance of a level from spot, percent. Null if the level is unknown. */
export function distanceOf(level: number | null | undefined, spot: number | null | undefined): number | null {
  return level == null || spot == null ? null : 100 * (level / spot - 1);
}
