import { Type } from '@sinclair/typebox';
import { downsample } from '../../analytics/downsample.ts';
import { byRange } from '../../core/steps.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';
import { defineOperation } from '../engine/operation.ts';
import { JSON_ROWS, MOMENTS_FOUND, rowsCost, SCREENED_TICKERS } from '../engine/request-cost.ts';
import { defaulted, integerIn, objectOf } from '../engine/schemas.ts';
import { textList } from '../engine/wrapped-schemas.ts';
import { levelTimesIn, rangeInput, withSource } from './gex-history.ts';
import { horizonArgument } from './horizon.ts';
import {
  addRows,
  answerOfMany,
  besideColumns,
  columnsOfMany,
  emptyColumns,
  PAGE_OF_MANY,
  requestedNames,
} from './many-levels.ts';
import { tickerList } from './screen-tickers.ts';

/** Maximum number of rows of an answer. Some 100 tickers with a row per trading day of two years have so many. */
const ROWS_MAX = 50_000;
/** Number of rows that one step reads, in some 5 ms. */
const ROWS_PER_STEP = 1_000;

export const getLevelsOfTickers = defineOperation({
  name: 'get_levels_of_tickers',
  ofMarket: true,
  title: 'History of the levels of many tickers',
  page: PAGE_OF_MANY,
  description:
    'Stored levels of several tickers over time as columns, ticker by ticker: the rows of the history of GEX levels of each ticker. Dealers ' +
    'are assumed long calls and short puts. Dollars.',
  example: { tickers: ['SPY', 'QQQ'], per: 'day' },
  input: objectOf({
    tickers: tickerList,
    ...rangeInput,
    horizon: horizonArgument,
    points: defaulted(
      integerIn(
        `Maximum rows of a ticker, and of all tickers together ${ROWS_MAX}. If a ticker has more rows, evenly spaced rows are selected.`,
        ...([1, 5_000] as const),
      ),
      500,
    ),
  }),
  full: objectOf({
    ...columnsOfMany,
    downsampled: Type.Optional(textList('Tickers with more rows in the range than in the answer.')),
    ...besideColumns,
  }),
  rest: { method: 'GET', path: '/api/v1/levels/history' },
  *run({ tickers, points, horizon, ...range }, context) {
    const { names, notes } = requestedNames(tickers, context);
    yield { message: 'Reading the levels', tokens: Math.ceil(names.length / SCREENED_TICKERS) };
    const most = Math.min(points, Math.floor(ROWS_MAX / Math.max(1, names.length)));
    const ranges: { readonly name: string; readonly times: readonly number[] }[] = [];
    const [without, downsampled]: [string[], string[]] = [[], []];
    const paid = { moments: MOMENTS_FOUND[range.per] };
    for (const name of names) {
      const { times } = yield* levelTimesIn(name, range, context, paid);
      if (times.length === 0) without.push(name);
      else ranges.push({ name, times: downsample(times, most) });
      if (times.length > most) downsampled.push(name);
      yield { message: 'Finding the moments of the levels' };
    }
    const total = ranges.reduce((sum, { times }) => sum + times.length, 0);
    yield { message: 'Reading the levels', tokens: rowsCost(total, JSON_ROWS) };
    const [columns, last]: [ReturnType<typeof emptyColumns>, NewestLevels[]] = [emptyColumns(), []];
    let leftOut = 0;
    for (const { name, times } of ranges) {
      let newest: NewestLevels | undefined;
      yield* byRange(times.length, ROWS_PER_STEP, 'Reading the levels', (from, to) => {
        const rows = context.market.levels(name, times.slice(from, to));
        leftOut += addRows(columns, rows, horizon);
        // Between two steps, the service may have removed levels.
        newest = withSource(rows.at(-1), context) ?? newest;
      });
      if (newest) last.push(newest);
      yield { message: 'Reading the levels' };
    }
    return answerOfMany(columns, { last, without, names, downsampled, notes, horizon, leftOut }, context);
  },
});
