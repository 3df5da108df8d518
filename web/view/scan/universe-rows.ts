import { cleanText } from '../../page-format.ts';

/** A ticker of the universe grid. The grid reads the figures from the event stream when it renders, so the rows never change. */
export interface UniverseRow {
  readonly ticker: string;
  readonly theme: string;
}

/** Returns one row for each ticker, in the order of the themes. A ticker with several themes has the names of all of them. */
export function universeRows(themes: Readonly<Record<string, readonly string[]>>): UniverseRow[] {
  const byTicker = new Map<string, string[]>();
  for (const [theme, names] of Object.entries(themes)) {
    for (const name of names.map((each) => cleanText(each)).filter(Boolean))
      byTicker.set(name, [...(byTicker.get(name) ?? []), cleanText(theme).replaceAll('_', ' ')]);
  }
  return [...byTicker].map(([ticker, names]) => ({ ticker, theme: names.join(', ') }));
}

/** Returns the distance of a level from spot, in percent. Returns null if the level or spot is unknown. */
export function distanceOf(level: number | null | undefined, spot: number | null | undefined): number | null {
  return level == null || spot == null ? null : 100 * (level / spot - 1);
}
