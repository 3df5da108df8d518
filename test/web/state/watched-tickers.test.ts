import { expect, test } from 'bun:test';
import { getDayChanges } from '../../../src/operations/history/day-changes.ts';
import type { LiveLevels } from '../../../web/data/live-levels.ts';
import type { DayChanges } from '../../../web/data/page-answers.ts';
import { figuresByTicker, flipAway, withLive } from '../../../web/state/watched-tickers.ts';
import { callRoute, smallMarket } from '../../operations/small-market.ts';
import { DAY_MS, keepLevels, MONDAY_MS } from '../../store/samples.ts';

const { context, store } = smallMarket({}, MONDAY_MS);
const SPOTS = [
  ['SPY', 1, 96],
  ['SPY', 0, 102],
  ['QQQ', 0, 50],
  // A Wednesday is no close before a Monday.
  ['IWM', 5, 20],
  ['IWM', 0, 22],
] as const;
for (const [underlying, daysAgo, spot] of SPOTS)
  keepLevels(store, { underlying, asOf: MONDAY_MS - daysAgo * DAY_MS, spot, gexFlip: 90, flipResolved: true });
const rows = figuresByTicker(callRoute(getDayChanges, {}, context) as unknown as DayChanges);

const live = (asOf: number, changes: Partial<LiveLevels> = {}): LiveLevels => ({
  ...{ id: 'a', ticker: 'SPY', spot_price: 108, call_wall: 120, put_wall: 80, gex_flip: 99, flip_resolved: true },
  ...{ net_gex_mil: -2, regime: 'negative_gamma' },
  provenance: { as_of: new Date(asOf).toISOString(), simulated: false, source: 'test' },
  ...changes,
});

test('the change on the day is unknown without quotes of the trading day before', () => {
  expect([...rows].map(([ticker, { change_pct, previous_spot }]) => [ticker, change_pct, previous_spot])).toEqual([
    ['SPY', expect.closeTo(6.25, 9), 96],
    ['QQQ', null, null],
    ['IWM', null, 20],
  ]);
});

test('a newer event of the same day changes what it has, and keeps the previous close', () => {
  expect(withLive(rows.get('SPY'), live(MONDAY_MS + 60_000))).toMatchObject({
    ...{ spot: 108, previous_spot: 96, change_pct: 12.5, gex_flip: 99, call_wall: 120, net_gex: -2e6 },
    ...{ regime: 'negative_gamma', iv_rank: rows.get('SPY')!.iv_rank },
  });
  expect(flipAway(withLive(rows.get('SPY'), live(MONDAY_MS)))).toBeCloseTo(-100 / 12, 9);
});

test.each([
  ['an event of the next day has no change until the next answer', live(MONDAY_MS + DAY_MS), 108, null],
  ['an event that is older than the answer is ignored', live(MONDAY_MS - 60_000), 102, 6.25],
  ['a flip that is not resolved is none', live(MONDAY_MS, { flip_resolved: false }), 108, 12.5],
])('%s', (_, event, spot, change) => {
  const figures = withLive(rows.get('SPY'), event)!;
  expect([figures.spot, figures.change_pct]).toEqual([
    spot,
    change === null ? null : expect.closeTo(change, 9),
  ] as never);
  if (event.flip_resolved === false) expect([figures.gex_flip, flipAway(figures)]).toEqual([null, null]);
});

test('a ticker with an event alone has figures, and one with neither has none', () => {
  expect(withLive(undefined, live(MONDAY_MS))).toMatchObject({ spot: 108, change_pct: null, iv_rank: null });
  expect(withLive(undefined, undefined)).toBeUndefined();
});
