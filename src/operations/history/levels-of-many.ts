import type { Horizon } from '../../analytics/exposure/horizons.ts';
import { byRange } from '../../core/steps.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { PAGE_MAX } from '../engine/pages.ts';
import { SCREENED_TICKERS } from '../engine/request-cost.ts';
import { count, objectOf } from '../engine/schemas.ts';
import { textColumn, textList } from '../engine/wrapped-schemas.ts';
import { columnsOfLevels, dueNotes, levelColumns, pastNotes } from './gex-history.ts';
import { horizonArgument, recordsAt } from './horizon.ts';
import { namesOf, provenanceOfOldest, TICKERS_PER_STEP, tickerList } from './screen-tickers.ts';

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

export const getNewestLevels = defineOperation({
  name: 'get_newest_levels',
  ofMarket: true,
  title: 'Newest levels of many tickers',
  page: PAGE_OF_MANY,
  description:
    'The newest stored levels of several tickers, a row each, with the columns of the history of GEX levels. Dealers are assumed long calls ' +
    'and short puts. Dollars.',
  example: { tickers: ['SPY', 'QQQ'] },
  input: objectOf({ tickers: tickerList, horizon: horizonArgument }),
  full: objectOf({ ...columnsOfMany, ...besideColumns }),
  rest: { method: 'GET', path: '/api/v1/levels' },
  *run({ tickers, horizon }, context) {
    const { names, notes } = requestedNames(tickers, context);
    yield { message: 'Reading the levels', tokens: Math.ceil(names.length / SCREENED_TICKERS) };
    const { found, without } = yield* newestOf(names, context);
    return answerOfMany(found, { newest: found, without, names, downsampled: [], notes, horizon }, context);
  },
});

/** Returns the tickers of a request, by default the first PAGE_MAX. Throws `ClientError` if one of the tickers is not tracked. */
export function requestedNames(tickers: readonly string[] | undefined, context: Context) {
  if (tickers) return { names: [...new Set(tickers.map((each) => context.market.tracked(each)))], notes: [] };
  const all = namesOf(undefined, context);
  const more = all.length - PAGE_MAX;
  return { names: all.slice(0, PAGE_MAX), notes: more > 0 ? [`Further tickers: ${more}. Name them in tickers.`] : [] };
}

/** Reads the newest levels of tickers. Also returns the tickers without levels. */
export function* newestOf(names: readonly string[], { market }: Context) {
  const [found, without]: [NewestLevels[], string[]] = [[], []];
  yield* byRange(names.length, TICKERS_PER_STEP, 'Reading the newest levels', (from, to) => {
    const part = names.slice(from, to);
    for (const [i, levels] of market.newestLevels(part).entries()) {
      if (levels) found.push(levels);
      else without.push(part[i]!);
    }
  });
  return { found, without };
}

interface Found {
  /** The newest levels of the tickers that have rows, for the provenance. */
  readonly newest: readonly NewestLevels[];
  readonly names: readonly string[];
  readonly without: readonly string[];
  readonly downsampled: readonly string[];
  readonly notes: readonly string[];
  readonly horizon: Horizon;
}

/** Returns the answer of an operation over the levels of many tickers. */
export function answerOfMany(records: readonly LevelRecord[], found: Found, context: Context) {
  const { newest, without, names, downsampled, horizon } = found;
  const { found: rows, notes: leftOut } = recordsAt(records, horizon);
  const notes = [
    ...found.notes,
    ...leftOut,
    ...(without.length > 0 ? [`Tickers without levels, which have no rows: ${without.join(', ')}.`] : []),
    ...(downsampled.length > 0 ? [`Evenly spaced rows were selected for: ${downsampled.join(', ')}.`] : []),
    ...dueNotes(names, context, horizon),
    ...pastNotes(newest[0]?.simulated ?? false, context),
  ];
  const result = {
    count: rows.length,
    ticker: rows.map(({ underlying }) => underlying),
    ...columnsOfLevels(rows),
    ...(downsampled.length > 0 && { downsampled: [...downsampled] }),
    without_data: [...without],
    notes,
  };
  const provenance = provenanceOfOldest(newest, notes, context);
  return { result, ...(provenance && { provenance }) };
}
