import type { Driver } from '../data/figure-texts.ts';
import type { Expiries, Strikes } from '../data/page-answers.ts';

/** The values of a row in two snapshots. Null if a snapshot does not contain the row. */
interface RowChange {
  readonly name: string;
  readonly was: number | null;
  readonly now: number | null;
  readonly change: number;
}

/** Values by row name. */
export type NamedValues = ReadonlyMap<string, number>;

/**
 * Returns the rows with the largest changes between two snapshots, largest first. If only one of the snapshots contains a row, the value of the
 * row counts as its change. `sharePct` is the sum of the absolute changes of `rows`, as a percentage of the same sum over all rows, and `total`
 * is the sum of the changes of all rows.
 */
export function largestChanges(before: NamedValues, now: NamedValues, most: number) {
  const changes = [...new Set([...now.keys(), ...before.keys()])].flatMap((name): RowChange[] => {
    const row = { name, was: before.get(name) ?? null, now: now.get(name) ?? null };
    const change = (row.now ?? 0) - (row.was ?? 0);
    return change === 0 && row.was !== null && row.now !== null ? [] : [{ ...row, change }];
  });
  const size = (rows: readonly RowChange[]) => rows.reduce((sum, { change }) => sum + Math.abs(change), 0);
  const rows = changes.toSorted((a, b) => Math.abs(b.change) - Math.abs(a.change)).slice(0, most);
  const all = size(changes);
  return {
    rows,
    sharePct: all > 0 ? (100 * size(rows)) / all : 0,
    total: changes.reduce((sum, { change }) => sum + change, 0),
  };
}

/** Returns the values of a strike column, by strike. */
export function valuesByStrike(strikes: Strikes, driver: Driver): NamedValues {
  const value = (i: number) =>
    driver === 'open_interest' ? strikes.call_open_interest[i]! + strikes.put_open_interest[i]! : strikes[driver][i]!;
  return new Map(strikes.strike.map((strike, i) => [String(strike), value(i)]));
}

/** Returns net GEX or open interest by series. In the answer, the calls and the puts of a series are added up. */
export function valuesBySeries(expiries: Expiries, driver: Driver): NamedValues {
  const column = driver === 'open_interest' ? expiries.open_interest : expiries.net_gex;
  return new Map(expiries.expiry.map((expiry, i) => [`${expiry} ${expiries.root[i]}`, column[i]!]));
}
