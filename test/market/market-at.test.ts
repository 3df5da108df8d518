import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createMarket, type Market } from '../../src/market/market.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { chainOf, DAY_MS, keepLevels, MONDAY_MS, printOf } from '../store/samples.ts';

/** A market at a past moment shows no data dated after that moment, and all data dated up to it. */
const HOUR_MS = 3_600_000;
const NOON = MONDAY_MS - 3 * HOUR_MS;
const AFTER = MONDAY_MS;
const DATE = '2026-01-05';

let store: Store;
let then: Market;
let now: Market;

beforeAll(() => {
  store = openStore(':memory:', Date.now);
  store.sumPrintsFrom(1);
  keepLevels(store, { asOf: NOON - DAY_MS, spot: 1 });
  keepLevels(store, { asOf: NOON, spot: 2 });
  keepLevels(store, { asOf: AFTER, spot: 3 });
  store.saveChain({ ...chainOf({ asOf: NOON - 1, simulated: false }), spot: 4 });
  store.saveChain({ ...chainOf({ asOf: AFTER + 1, simulated: false }), spot: 5 });
  const print = (id: string, at: number) => printOf(id, { at, simulated: false });
  store.savePrints([print('a', NOON - 1), print('b', NOON), print('c', NOON + 1), print('d', AFTER)]);
  const closeOfNdx = (date: string, close: number) => ({ ticker: 'NDX', date, close, volume: null, simulated: false });
  store.saveCloses([closeOfNdx('2026-01-02', 7), closeOfNdx(DATE, 8)]);
  now = createMarket(store, STANDARD_UNIVERSE, false, () => AFTER + DAY_MS);
  then = now.at(NOON);
});
afterAll(() => store.close());

const largeOf = (market: Market) =>
  [...market.largeOn(market.chain('SPX'), DATE, 1).columns].flatMap(({ at }) => [...at]);

const SEEN: [name: string, read: (market: Market) => unknown, then: unknown, now: unknown][] = [
  ['isPast', ({ isPast }) => isPast, true, false],
  ['the newest chain', (market) => market.chain('SPX').asOf, NOON, AFTER + 1],
  ['flow', (market) => market.flow(market.chain('SPX'), 30, 1).map(({ prints }) => prints), [2], [4]],
  [
    "large prints of the chain's day",
    (market) => largeOf(market).map((at) => at - NOON),
    [-1, 0],
    [-1, 0, 1, AFTER - NOON],
  ],
  ['the tape', (market) => [...market.tape(market.chain('SPX'), 30).prints].length, 2, 4],
  ['recent chains of earlier days', (market) => market.recentChainIds(market.chain('SPX'), 30).length, 2, 2],
  ['closes filled from snapshots', (market) => market.closes('SPX', DATE, 9).map(({ close }) => close), [1, 2], [1, 5]],
  [
    'closes of days that ended',
    (market) => market.officialCloses('NDX', '2026-01-02', DATE).map(({ close }) => close),
    [7],
    [7, 8],
  ],
  ['the spots of levels', (market) => market.levelSpots('SPX', 0, Number.MAX_SAFE_INTEGER).length, 2, 3],
  ['the last levels', (market) => market.lastLevelsAt('SPX', Number.MAX_SAFE_INTEGER), NOON, AFTER],
  ['the times of levels', (market) => market.levelTimes('SPX', 0, Number.MAX_SAFE_INTEGER, 'snapshot').length, 2, 3],
  ['the snapshots whose levels are due', (market) => market.levelsDue('SPX'), 1, 2],
  ['a market at a moment before it', (market) => market.at(NOON - 1).chain('SPX').spot, 4, 4],
  ['a market at a moment after it', (market) => market.at(AFTER + 2).chain('SPX').asOf, NOON, AFTER + 1],
];
test.each(SEEN)('%s', (_name, read, before, present) => {
  expect([read(then), read(now)]).toEqual([before, present]);
});

test('returns the same object for a recently requested past chain, and caches a bounded number', () => {
  const past = now.at(NOON).chain('SPX');
  expect(now.at(NOON + 5).chain('SPX')).toBe(past);
  for (let day = 1; day <= 10; day++) keepLevels(store, { asOf: NOON - (day + 1) * DAY_MS });
  for (let day = 1; day <= 10; day++) now.at(NOON - (day + 1) * DAY_MS).chain('SPX');
  expect(now.at(NOON).chain('SPX')).not.toBe(past);
});
