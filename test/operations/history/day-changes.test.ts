import { describe, expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import { dailyMove } from '../../../src/analytics/exposure/whipsaw.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { iso } from '../../../src/market/calendar.ts';
import type { Context, Provenance } from '../../../src/operations/engine/operation.ts';
import { getDayChanges } from '../../../src/operations/history/day-changes.ts';
import { type GexHistory, getGexHistory } from '../../../src/operations/history/gex-history.ts';
import { levelRecordOf } from '../../../src/operations/history/level-recorder.ts';
import type { Store } from '../../../src/store/sqlite.ts';
import { simulated } from '../../analytics/simulated.ts';
import { DAY_MS, keepLevels, MONDAY_MS } from '../../store/samples.ts';
import { callRoute, refusalOf, smallMarket } from '../small-market.ts';

type Answer = Static<typeof getDayChanges.full>;

const ask = (args: object, context: Context) => callRoute(getDayChanges, args, context) as unknown as Answer;

const HOUR_MS = DAY_MS / 24;

/** The fields of one ticker, by name. */
function rowOf(answer: Answer, ticker: string): Record<string, unknown> {
  const i = answer.ticker.indexOf(ticker);
  const columns = Object.entries(answer).filter(([name, values]) => Array.isArray(values) && !/data|notes/.test(name));
  return Object.fromEntries(columns.map(([name, values]) => [name, (values as unknown[])[i]]));
}

describe('the row of a ticker', () => {
  const keep = (store: Store, changes: object) => keepLevels(store, { underlying: 'SPY', ...changes });

  test('compares the newest snapshot with the last one of an earlier New York day', () => {
    const { context, store } = smallMarket({}, MONDAY_MS);
    keep(store, { asOf: MONDAY_MS - 3 * DAY_MS - HOUR_MS, spot: 90 });
    // 23:30 on Sunday in New York is Monday in UTC.
    const sunday = Date.UTC(2026, 0, 5, 4, 30);
    keep(store, { asOf: sunday, spot: 96, gexFlip: 95, flipResolved: true });
    keep(store, { asOf: MONDAY_MS - HOUR_MS, spot: 97 });
    keep(store, { asOf: MONDAY_MS, spot: 102, gexFlip: 99, flipResolved: false, atmIv30d: 0.2 });
    expect(rowOf(ask({}, context), 'SPY')).toMatchObject({
      as_of: iso(MONDAY_MS),
      spot: 102,
      previous_as_of: iso(sunday),
      previous_spot: 96,
      change_pct: expect.closeTo(6.25, 9),
      gex_flip: null,
      previous_gex_flip: 95,
      daily_move: dailyMove(102, 0.2),
    });
  });

  test('without an earlier day, what depends on it is null', () => {
    const { context, store } = smallMarket({}, MONDAY_MS);
    keep(store, { asOf: MONDAY_MS - HOUR_MS });
    keep(store, { asOf: MONDAY_MS, atmIv30d: null });
    const unknown = { previous_as_of: null, previous_spot: null, change_pct: null, previous_gex_flip: null };
    expect(rowOf(ask({}, context), 'SPY')).toMatchObject({ ...unknown, atm_iv_30d: null, daily_move: null });
  });

  test('a change over several trading days is no change on the day', () => {
    const { context, store } = smallMarket({}, MONDAY_MS);
    // A Thursday, and the Monday after it.
    keep(store, { asOf: MONDAY_MS - 4 * DAY_MS, spot: 90 });
    keep(store, { asOf: MONDAY_MS, spot: 100 });
    expect(rowOf(ask({}, context), 'SPY')).toMatchObject({ previous_spot: 90, change_pct: null });
  });

  test('a new day, a later snapshot of the day before and a past moment change it', () => {
    const { context, store } = smallMarket({}, MONDAY_MS + DAY_MS);
    const previous = (at: Context = context) => rowOf(ask({}, at), 'SPY').previous_spot;
    keep(store, { asOf: MONDAY_MS - DAY_MS, spot: 90 });
    keep(store, { asOf: MONDAY_MS, spot: 100 });
    expect(previous()).toBe(90);
    keep(store, { asOf: MONDAY_MS + DAY_MS, spot: 110 });
    expect(previous()).toBe(100);
    keep(store, { asOf: MONDAY_MS + HOUR_MS, spot: 101 });
    expect(previous()).toBe(101);
    expect(previous({ ...context, market: context.market.at(MONDAY_MS) })).toBe(90);
  });
});

test('figures equal those of the history of each ticker', () => {
  const chains = ['SPY', 'QQQ', 'TSLA'].map((ticker) => simulated(ticker));
  const { context, store } = smallMarket({ simulated: true }, chains[0]!.asOf);
  for (const chain of chains) {
    const { underlying } = chain;
    for (let day = 1; day <= 30; day++)
      keepLevels(store, { underlying, simulated: true, asOf: chain.asOf - day * DAY_MS, atmIv30d: 0.1 + day / 100 });
    store.saveLevels(store.saveChain(chain), runToCompletion(levelRecordOf(chain, store, context.largePrintMinUsd)));
  }
  const answer = ask({}, context);
  expect(answer.ticker.toSorted()).toEqual(['QQQ', 'SPY', 'TSLA']);
  for (const ticker of answer.ticker) {
    const history = callRoute(getGexHistory, { ticker }, context) as unknown as GexHistory;
    const [before, last] = [history.count - 2, history.count - 1];
    const flip = (i: number) => (history.flip_resolved[i] ? history.gex_flip[i]! : null);
    const fields = ['as_of', 'spot', 'net_gex', 'sign_margin_pct', 'call_wall', 'put_wall', 'atm_iv_30d'] as const;
    expect(rowOf(answer, ticker)).toMatchObject({
      ...Object.fromEntries(fields.map((name) => [name, history[name][last]])),
      iv_rank: history.iv_rank,
      gex_flip: flip(last),
      previous_as_of: history.as_of[before],
      previous_spot: history.spot[before],
      previous_gex_flip: flip(before),
    });
  }
});

describe('the tickers of an answer', () => {
  test('named ones only, in any spelling, with those that have no data', () => {
    const { context, store } = smallMarket({}, MONDAY_MS);
    for (const underlying of ['SPY', 'QQQ']) keepLevels(store, { underlying, asOf: MONDAY_MS });
    const answer = ask({ tickers: ['spy', 'ZZZZ', 'say: hello'] }, context);
    expect([answer.ticker, answer.without_data, answer.left_out]).toEqual([['SPY'], ['ZZZZ', '(not a ticker)'], 0]);
  });

  test('an empty market has no rows and no provenance', () => {
    const answer = ask({}, smallMarket().context) as Answer & { provenance?: Provenance };
    expect([answer.ticker, answer.without_data, answer.provenance]).toEqual([[], [], undefined]);
  });

  test('no more than 1,000 rows: the others are counted', () => {
    const { context, store } = smallMarket({}, MONDAY_MS);
    const names = Array.from({ length: 1_010 }, (_, i) => `T${1_000 + i}`);
    for (const underlying of names) keepLevels(store, { underlying, asOf: MONDAY_MS });
    const answer = ask({}, context);
    // The universe comes first, also without data.
    expect(answer.ticker.length + context.universe.tickers.size).toBe(1_000);
    expect(answer.left_out).toBe(10 + context.universe.tickers.size);
  });

  test('an empty list is refused', () => {
    expect(refusalOf(() => ask({ tickers: [] }, smallMarket().context)).fields).toEqual(['/tickers']);
  });
});
