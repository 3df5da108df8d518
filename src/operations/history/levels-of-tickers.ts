import { Type } from '@sinclair/typebox';
import { downsample } from '../../analytics/downsample.ts';
import { byRange } from '../../core/steps.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { defineOperation } from '../engine/operation.ts';
import { JSON_ROWS, rowsCost, SCREENED_TICKERS } from '../engine/request-cost.ts';
import { defaulted, integerIn, objectOf } from '../engine/schemas.ts';
import { textList } from '../engine/wrapped-schemas.ts';
import { levelTimesIn, rangeInput } from './gex-history.ts';
import { horizonArgument } from './horizon.ts';
import {
  answerOfMany,
  besideColumns,
  columnsOfMany,
  newestOf,
  PAGE_OF_MANY,
  requestedNames,
} from './levels-of-many.ts';
import { tickerList } from './screen-tickers.ts';

/** Maximum number of rows of an answer. Some 100 tickers with a row per trading day of two years have so many. */
const ROWS_MAX = 50_000;

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
    yield* byRange(names.length, 1, 'Reading the moments of the levels', (from) => {
      const name = names[from]!;
      const { times } = levelTimesIn(name, range, context);
      if (times.length === 0) without.push(name);
      else ranges.push({ name, times: downsample(times, most) });
      if (times.length > most) downsampled.push(name);
    });
    const total = ranges.reduce((sum, { times }) => sum + times.length, 0);
    yield { message: 'Reading the levels', tokens: rowsCost(total, JSON_ROWS) };
    const rows: LevelRecord[] = [];
    yield* byRange(ranges.length, 1, 'Reading the levels', (from) => {
      const { name, times } = ranges[from]!;
      for (const row of context.market.levels(name, times)) rows.push(row);
    });
    yield { message: 'Collecting the columns' };
    const { found } = yield* newestOf(
      ranges.map(({ name }) => name),
      context,
    );
    return answerOfMany(rows, { newest: found, without, names, downsampled, notes, horizon }, context);
  },
});
