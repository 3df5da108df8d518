import type { Horizon } from '../../analytics/exposure/horizons.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';
import type { Context } from '../engine/operation.ts';
import { PAGE_MAX } from '../engine/pages.ts';
import { count } from '../engine/schemas.ts';
import { textColumn, textList } from '../engine/wrapped-schemas.ts';
import { columnsOfLevels, dueNotes, levelColumns, pastNotes } from './gex-history.ts';
import { recordsAt, withoutHorizonNotes } from './horizon.ts';
import { namesOf, provenanceOfOldest } from './screen-tickers.ts';

/** The columns of the levels of many tickers. */
export const columnsOfMany = {
  count: count('Rows of each column.'),
  ticker: textColumn(
    'Underlying symbols, in the order of the request. By default those of the universe first, then the others by name.',
  ),
  ...levelColumns,
};
/** The fields beside these columns. */
export const besideColumns = {
  without_data: textList('Tickers without levels, which have no rows.'),
  notes: textList('Caveats on the figures.'),
};
export const PAGE_OF_MANY = {
  absent: 'The view Compare has the newest levels of all tickers, and the view History those of one ticker.',
};

/** Returns the tickers of a request, by default the first PAGE_MAX. Throws `ClientError` if one of the tickers is not tracked. */
export function requestedNames(tickers: readonly string[] | undefined, context: Context) {
  if (tickers) return { names: [...new Set(tickers.map((each) => context.market.tracked(each)))], notes: [] };
  const all = namesOf(undefined, context);
  const more = all.length - PAGE_MAX;
  return { names: all.slice(0, PAGE_MAX), notes: more > 0 ? [`Further tickers: ${more}. Name them in tickers.`] : [] };
}

/** Returns the columns of the levels of many tickers without rows. */
export const emptyColumns = () => columnsOf([]);

function columnsOf(rows: readonly LevelRecord[]) {
  return { ticker: rows.map(({ underlying }) => underlying), ...columnsOfLevels(rows) };
}

/** Appends the levels of a horizon to columns. Returns the number of records that do not have them. */
export function addRows(
  columns: ReturnType<typeof emptyColumns>,
  records: readonly LevelRecord[],
  horizon: Horizon,
): number {
  const { found } = recordsAt(records, horizon);
  const added: Readonly<Record<string, readonly unknown[]>> = columnsOf(found);
  for (const [name, cells] of Object.entries<unknown[]>(columns)) for (const cell of added[name]!) cells.push(cell);
  return records.length - found.length;
}

interface Found {
  /** The last levels of each ticker that has rows, for the provenance. */
  readonly last: readonly NewestLevels[];
  readonly names: readonly string[];
  readonly without: readonly string[];
  readonly downsampled: readonly string[];
  readonly notes: readonly string[];
  readonly horizon: Horizon;
  /** Records without levels of the horizon. */
  readonly leftOut: number;
}

/** Returns the answer of an operation over the levels of many tickers. */
export function answerOfMany(columns: ReturnType<typeof emptyColumns>, found: Found, context: Context) {
  const { last, without, names, downsampled, horizon } = found;
  const notes = [
    ...found.notes,
    ...withoutHorizonNotes(found.leftOut, 'rows', horizon),
    ...(without.length > 0 ? [`Tickers without levels, which have no rows: ${without.join(', ')}.`] : []),
    ...(downsampled.length > 0 ? [`Evenly spaced rows were selected for: ${downsampled.join(', ')}.`] : []),
    ...dueNotes(names, context, horizon),
    ...pastNotes(last[0]?.simulated ?? false, context),
  ];
  const result = {
    count: columns.ticker.length,
    ...columns,
    ...(downsampled.length > 0 && { downsampled: [...downsampled] }),
    without_data: [...without],
    notes,
  };
  const provenance = provenanceOfOldest(last, notes, context);
  return { result, ...(provenance && { provenance }) };
}
