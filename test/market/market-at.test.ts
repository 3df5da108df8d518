import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ClientError } from '../../src/core/errors.ts';
import { createMarket, type Market } from '../../src/market/market.ts';
import { STANDARD_UNIVERSE } from '../../src/market/universe.ts';
import { openStore, type Store } from '../../src/store/sqlite.ts';
import { chainOf, DAY_MS, keepLevels, MONDAY_MS, printOf, recordOf } from '../store/samples.ts';
import { errorOf } from '../support/thrown.ts';

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
  keepLevels(store, { asOf: AFTER, spot: 3, atmIv30d: 0.5 });
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
  ['the newest levels', (market) => market.newestLevels(['SPX'])[0]?.asOf, NOON, AFTER],
  [
    'the volatilities of days',
    (market) => market.volatilitiesOfDays('SPX', [DATE], Number.MAX_SAFE_INTEGER),
    [recordOf().atmIv30d],
    [0.5],
  ],
  ['the times of levels', (market) => market.levelTimes('SPX', 0, Number.MAX_SAFE_INTEGER, 'snapshot').length, 2, 3],
  ['the snapshots whose levels are due', (market) => market.levelsDue(['SPX']), 1, 2],
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

describe('the simulated market at a moment', () => {
  // Thursday and Friday with some half hours, and Friday's last minutes. The present is Friday, 14:00.
  const at = (text: string) => Date.parse(`2026-01-${text}:00-05:00`);
  const KEPT = ['08T15:30', '08T16:00', '09T09:30', '09T10:00', '09T13:30', '09T13:52', '09T13:53', '09T14:00'];
  let simulated: Store;
  let present: Market;
  beforeAll(() => {
    simulated = openStore(':memory:', Date.now);
    for (const time of KEPT) simulated.saveChain(chainOf({ asOf: at(time), underlying: 'SPY' }));
    present = createMarket(simulated, STANDARD_UNIVERSE, true, () => at('09T14:00'));
  });
  afterAll(() => simulated.close());

  test.each([
    ['at a half hour', '09T10:00:00', '09T10:00'],
    ['in the minute of a half hour', '09T10:00:59', '09T10:00'],
    ['after the close', '08T20:00:00', '08T16:00'],
    ['in the night', '09T03:00:00', '08T16:00'],
    ['before the open', '09T09:29:59', '08T16:00'],
    ['at the open', '09T09:30:00', '09T09:30'],
    ['between two of the last minutes, which are all kept', '09T13:57:30', '09T13:53'],
    ['now', '09T14:00:00', '09T14:00'],
  ])('%s is known', (_when, moment, asOf) => {
    expect(present.at(Date.parse(`2026-01-${moment}-05:00`)).chain('SPY').asOf).toBe(at(asOf));
  });

  test.each([
    ['between two half hours', '09T10:01:00', '09T10:00', '09T13:30'],
    ['before the last minutes that are all kept', '09T13:49:59', '09T13:30', '09T13:52'],
    ['between two half hours of an earlier day', '08T15:45:00', '08T15:30', '08T16:00'],
    ['before the first snapshot', '07T12:00:00', null, '08T15:30'],
  ])('%s is unknown, and the error names the neighbours', (_when, moment, before, after) => {
    const error = errorOf(ClientError, () => present.at(Date.parse(`2026-01-${moment}-05:00`)).chain('SPY'));
    const iso = (time: string | null) => time && new Date(at(time)).toISOString();
    expect([error.code, error.nearest]).toEqual(['no_chain', { before: iso(before), after: iso(after) }]);
    for (const neighbour of [before, after]) if (neighbour) expect(error.hint).toContain(iso(neighbour)!);
  });

  test('each neighbour that an error names has a chain', () => {
    for (let moment = at('08T09:30'); moment <= at('09T14:00'); moment += 7 * 60_000) {
      const market = present.at(moment);
      if (market.findChain('SPY')) continue;
      const { before, after } = errorOf(ClientError, () => market.chain('SPY')).nearest!;
      for (const each of [before, after])
        if (each) expect(present.at(Date.parse(each)).findChain('SPY')?.asOf).toBe(Date.parse(each));
    }
  });

  test('without a snapshot, and without a moment, no neighbour is named', () => {
    expect(errorOf(ClientError, () => present.at(at('09T10:00')).chain('QQQ')).nearest).toEqual({
      before: null,
      after: null,
    });
    expect(errorOf(ClientError, () => present.chain('QQQ')).nearest).toBeUndefined();
  });
});

test('of a recorded day that was thinned, the error names the snapshots before and after the moment', () => {
  const recorded = openStore(':memory:', Date.now);
  for (const hours of [0, 1, 24]) keepLevels(recorded, { asOf: NOON + hours * HOUR_MS });
  const kept = { presentMs: NOON + 3 * DAY_MS, intradayFromMs: NOON + 2 * DAY_MS };
  expect(recorded.removeOld(kept)).toEqual({ prints: 0, chains: 1, levels: 0 });
  const market = createMarket(recorded, STANDARD_UNIVERSE, false, () => NOON + 3 * DAY_MS);
  const nearest = { before: null, after: new Date(NOON + HOUR_MS).toISOString() };
  expect(errorOf(ClientError, () => market.at(NOON).chain('SPX')).nearest).toEqual(nearest);
  recorded.close();
});
