import { byRange } from '../../core/steps.ts';
import type { NewestLevels } from '../../market/newest-levels.ts';
import { type Context, defineOperation } from '../engine/operation.ts';
import { SCREENED_TICKERS } from '../engine/request-cost.ts';
import { objectOf } from '../engine/schemas.ts';
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
import { TICKERS_PER_STEP, tickerList } from './screen-tickers.ts';

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
    const columns = emptyColumns();
    const leftOut = addRows(columns, found, horizon);
    const beside = { last: found, without, names, downsampled: [], notes, horizon, leftOut };
    return answerOfMany(columns, beside, context);
  },
});

/** Reads the newest levels of tickers. Also returns the tickers without levels. */
function* newestOf(names: readonly string[], { market }: Context) {
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
