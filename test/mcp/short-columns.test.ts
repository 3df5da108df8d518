import { expect, test } from 'bun:test';
import { indexChain } from '../../bench/index-chain.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { newYorkInstant, nextTradingDay } from '../../src/market/calendar.ts';
import { RESOURCES } from '../../src/mcp/resources.ts';
import { sixDigits } from '../../src/mcp/six-digits.ts';
import type { Context, Operation } from '../../src/operations/engine/operation.ts';
import { perform, restView } from '../../src/operations/engine/perform.ts';
import { REGISTRY } from '../../src/operations/registry.ts';
import { smallMarket } from '../operations/small-market.ts';
import { keepLevels } from '../store/samples.ts';
import { ANSWER_TOKENS_MAX, tokensOf } from '../support/tokens.ts';

/** The matrix and the record of levels as resources: parts of the answers of REST, with fewer digits. */
const read = (uri: string, context: Context) =>
  JSON.parse((runToCompletion(RESOURCES.read(uri, context)).contents[0] as { text: string }).text);
const full = (name: 'get_gex_matrix' | 'get_level_record', ticker: string, context: Context) =>
  runToCompletion(perform(restView(REGISTRY[name] as unknown as Operation), { ticker }, context, 'invalid_parameter'))
    .body as never;
const digits = (value: number | null) => sixDigits(value);

interface Matrix {
  readonly strike: number[];
  readonly by_strike: number[];
  readonly by_expiry: number[];
  readonly expiry: string[];
  readonly values: (number | null)[][];
  readonly left_out: number;
}

test('a matrix has the series that settle first at the strikes nearest to spot, and all sums', () => {
  const { context } = smallMarket({ chains: [indexChain(30, 300)], simulated: true });
  const matrix = read('zomma://gex/SPX/matrix', context);
  const whole: Matrix = full('get_gex_matrix', 'SPX', context);
  const strikes = 2_500 / 20;
  const from = whole.strike.indexOf(matrix.strike[0]);
  const near = <Value>(column: readonly Value[]) => column.slice(from, from + strikes);
  expect(matrix).toMatchObject({
    ...{ count: strikes, series_count: 20, later_series_left_out: 10, measure: 'gamma' },
    rows_left_out_far_from_spot: whole.strike.length - strikes,
    expiry: whole.expiry.slice(0, 20),
    by_expiry: whole.by_expiry.slice(0, 20).map(digits),
    strike: near(whole.strike),
    by_strike: near(whole.by_strike).map(digits),
    values: whole.values.slice(0, 20).map((row) => near(row).map(digits)),
    left_out: digits(whole.left_out),
  });
  expect(Math.abs(matrix.spot_price - (matrix.strike[0] + matrix.strike.at(-1)) / 2)).toBeLessThan(25);
  expect(tokensOf(matrix)).toBeLessThan(ANSWER_TOKENS_MAX);
});

test('a matrix of few series and strikes is whole', () => {
  const { context } = smallMarket({ chains: [indexChain(20, 20)], simulated: true });
  const matrix = read('zomma://gex/SPX/matrix', context);
  const whole: Matrix = full('get_gex_matrix', 'SPX', context);
  expect([matrix.strike, matrix.expiry]).toEqual([whole.strike, whole.expiry]);
  expect(Object.keys(matrix).filter((key) => key.includes('left_out_') || key.startsWith('later'))).toEqual([]);
});

test('a record of levels has the last days, and the rates of all days', () => {
  const { context, store } = smallMarket({}, Date.parse('2026-11-20T12:00:00Z'));
  for (let day = '2026-01-05', spot = 640; day < '2026-06-01'; day = nextTradingDay(day), spot *= 1.001) {
    const levels = { callWall: 12_345.67, gexFlip: spot / 1.01 };
    keepLevels(store, { asOf: newYorkInstant(day, '16:00'), spot, ...levels });
  }
  const record = read('zomma://gex/SPX/record', context);
  const { days, count, ...whole } = full('get_level_record', 'SPX', context) as {
    days: Record<string, number[]>;
    count: number;
    call_wall: { held: { low_pct: number } };
  };
  expect(record).toMatchObject({ count, earlier_days_left_out: count - 60, call_wall: { n: count } });
  const columns = Object.entries(days).map(([key, column]) => {
    const last = column.slice(-60);
    return [key, last.map(digits)];
  });
  expect(record.days).toEqual(Object.fromEntries(columns));
  expect(record.days.call_wall[0]).toBe(12_345.7);
  expect(record.call_wall.held.low_pct).toBe(digits(whole.call_wall.held.low_pct));
  expect(tokensOf(record)).toBeLessThan(ANSWER_TOKENS_MAX);
});
