import { describe, expect, test } from 'bun:test';
import { generator } from '../../../src/bench/workloads.ts';
import { addDays, newYorkInstant, nextTradingDay } from '../../../src/market/calendar.ts';
import type { LevelRecord } from '../../../src/market/level-record.ts';
import type { Context, Operation } from '../../../src/operations/engine/operation.ts';
import { perform, restView } from '../../../src/operations/engine/perform.ts';
import { getLevelRecord, type LevelRecordAnswer } from '../../../src/operations/history/levels-held.ts';
import type { Store } from '../../../src/store/sqlite.ts';
import { chainOf, closeWith, keepLevels } from '../../store/samples.ts';
import { callRoute, refusalOf, smallMarket } from '../small-market.ts';

/** The volatility at which one daily deviation is 1 % of spot. */
const ONE_PERCENT = Math.sqrt(252) / 100;

const NOW = Date.parse('2026-11-22T12:00:00Z');
const emptyMarket = () => smallMarket({}, NOW);
const ask = (context: Context, more: Record<string, unknown> = {}, ticker = 'SPX') =>
  callRoute(getLevelRecord, { ticker, ...more }, context) as unknown as LevelRecordAnswer;

/** Stores levels of SPX with a spot of 100, walls 2 dollars away and a flip at 99, as of a time of New York. */
function keep(store: Store, date: string, time: string, changes: Partial<LevelRecord> = {}): void {
  const record = { spot: 100, callWall: 102, putWall: 98, gexFlip: 99, atmIv30d: ONE_PERCENT };
  keepLevels(store, { ...record, ...changes, asOf: newYorkInstant(date, time) });
}

function keepClose(store: Store, date: string, close: number, ticker = 'SPX'): void {
  store.saveCloses([closeWith({ ticker, date, close })]);
}

// Thursday and Friday. Monday 2026-01-19 is a holiday.
const [THURSDAY, FRIDAY, TUESDAY] = ['2026-01-15', '2026-01-16', '2026-01-20'];

describe('a day', () => {
  test('has the levels of the last snapshot before its open, its spots, its close and its outcomes', () => {
    const { context, store } = emptyMarket();
    keep(store, THURSDAY, '15:00', { callWall: 101 });
    keep(store, THURSDAY, '16:00');
    keep(store, FRIDAY, '09:30', { spot: 101.5, callWall: 150 });
    keep(store, FRIDAY, '12:00', { spot: 102.5 });
    keep(store, FRIDAY, '14:00', { spot: 101.5 });
    // After the close.
    keep(store, FRIDAY, '16:00', { spot: 50 });
    keepClose(store, FRIDAY, 98.9);
    expect(ask(context)).toMatchObject({
      ...{ ticker: 'SPX', from: '2025-01-17', to: FRIDAY, count: 1, spots_per_day: 4, notes: [] },
      left_out: { no_volatility: 0, no_close: 0 },
      days: {
        ...{ date: [FRIDAY], at: ['2026-01-15T21:00:00.000Z'], spot: [100], deviation: [expect.closeTo(1, 12)] },
        ...{ call_wall: [102], put_wall: [98], gex_flip: [99], close: [98.9], spots: [4] },
        ...{ call_wall_held: [true], call_wall_touched: [false], call_wall_crossed: [true] },
        ...{ put_wall_held: [true], put_wall_touched: [false], put_wall_crossed: [false] },
        ...{ band_held: [true], band_touched: [false], band_crossed: [true] },
        ...{ flip_held: [false], flip_touched: [true], flip_crossed: [true] },
      },
      call_wall: {
        ...{ n: 1, too_few_days: true, verdict: 'too few days' },
        held: { count: 1, pct: null, low_pct: null, high_pct: null, control_pct: null },
        crossed: { count: 1 },
      },
      sign_convention: expect.stringContaining('calls'),
    });
  });

  test('is not counted after its levels were removed', () => {
    const { context, store } = emptyMarket();
    keep(store, THURSDAY, '16:00');
    keep(store, FRIDAY, '16:00');
    keep(store, TUESDAY, '16:00');
    for (const date of [FRIDAY, TUESDAY]) keepClose(store, date, 100);
    expect(ask(context).days.date).toEqual([FRIDAY, TUESDAY]);
    store.forgetSnapshots('SPX', newYorkInstant(THURSDAY, '16:00'));
    expect(ask(context).days.date).toEqual([TUESDAY]);
  });

  test('can have levels from before its own open', () => {
    const { context, store } = emptyMarket();
    keep(store, THURSDAY, '16:00', { callWall: 101 });
    keep(store, FRIDAY, '09:29:59', { callWall: 103 });
    keepClose(store, FRIDAY, 100);
    expect(ask(context).days).toMatchObject({ call_wall: [103], spots: [1] });
  });

  test('after a weekend and a holiday has the levels of the trading day before', () => {
    const { context, store } = emptyMarket();
    keep(store, FRIDAY, '16:00');
    keep(store, TUESDAY, '16:00', { spot: 101 });
    expect(ask(context).days).toMatchObject({ date: [TUESDAY], at: ['2026-01-16T21:00:00.000Z'], close: [101] });
  });

  test.each<[string, (store: Store) => void, number[], Partial<LevelRecordAnswer['left_out']>]>([
    ['official, not that of the last snapshot', (store) => keepClose(store, FRIDAY, 101), [101], {}],
    ['the spot of the last snapshot at the close', (store) => keep(store, FRIDAY, '16:00', { spot: 97 }), [97], {}],
    ['the spot of the last snapshot after it', (store) => keep(store, FRIDAY, '20:00', { spot: 96 }), [96], {}],
    ['unknown: a snapshot before it', (store) => keep(store, FRIDAY, '15:59:59'), [], { no_close: 1 }],
    ['unknown: no snapshot', (store) => keep(store, TUESDAY, '10:00'), [], { no_close: 2 }],
  ])('has a close that is %s', (_name, act, closes, leftOut) => {
    const { context, store } = emptyMarket();
    keep(store, THURSDAY, '16:00');
    keep(store, FRIDAY, '10:00', { spot: 90 });
    act(store);
    const { days, left_out } = ask(context, { days: 9 });
    expect(days.close).toEqual(closes);
    expect(left_out).toMatchObject({ no_close: 0, ...leftOut });
  });

  test('of 13:00 on a half day has the spot of then as its close', () => {
    const { context, store } = emptyMarket();
    keep(store, '2025-11-26', '16:00');
    keep(store, '2025-11-28', '13:00', { spot: 103 });
    expect(ask(context).days).toMatchObject({ date: ['2025-11-28'], close: [103], call_wall_held: [false] });
  });

  test('is left out without levels since the open of the trading day before, or without a volatility', () => {
    const { context, store } = emptyMarket();
    keep(store, '2026-01-13', '16:00');
    keep(store, THURSDAY, '16:00', { atmIv30d: null });
    keep(store, FRIDAY, '16:00');
    const { count, left_out, spots_per_day, notes } = ask(context, { days: 4 });
    // Tuesday has no levels before it, Wednesday has no close, Thursday has no levels of Wednesday, Friday has no volatility.
    expect([count, left_out]).toEqual([0, { no_levels: 2, no_volatility: 1, no_close: 1 }]);
    expect([spots_per_day, notes]).toEqual([null, [expect.stringContaining('No day of the period')]]);
  });

  test('without a resolved flip has no outcome of the flip', () => {
    const { context, store } = emptyMarket();
    keep(store, THURSDAY, '16:00', { flipResolved: false });
    keep(store, FRIDAY, '16:00');
    const { days, flip, band } = ask(context);
    expect([days.gex_flip, days.flip_held, flip.n, band.n]).toEqual([[null], [null], 0, 1]);
  });
});

/** A trading day as it is made up: the levels of the evening before, the spots of the day, and its close. */
interface MadeUp {
  readonly date: string;
  readonly levels: Pick<LevelRecord, 'spot' | 'callWall' | 'putWall' | 'gexFlip' | 'flipResolved'> & {
    atmIv30d: number;
  };
  readonly spots: readonly number[];
  readonly close: number;
}

/** Makes up trading days of a random walk, whose walls move away only slowly. */
function madeUp(seed: number, count: number, spotsPerDay: number): MadeUp[] {
  const random = generator(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let [price, date, callWall, putWall] = [100, '2026-01-05', 0, 0];
  return Array.from({ length: count }, () => {
    if (callWall < price || random() < 0.2) callWall = Math.ceil(price * (1 + 0.02 * random()));
    if (putWall > price || random() < 0.2) putWall = Math.floor(price * (1 - 0.02 * random()));
    const daily = 0.006 + 0.008 * random();
    const spot = price;
    const spots = Array.from({ length: spotsPerDay }, () => {
      price *= 1 + (daily / Math.sqrt(spotsPerDay + 1)) * normal();
      return price;
    });
    price *= 1 + (daily / Math.sqrt(spotsPerDay + 1)) * normal();
    date = nextTradingDay(date);
    const gexFlip = spot * (1 + 0.01 * normal());
    const atmIv30d = 1.2 * daily * Math.sqrt(252);
    const levels = { spot, callWall, putWall, gexFlip, flipResolved: random() < 0.8, atmIv30d };
    return { date, levels, spots, close: price };
  });
}

/** Stores made-up days: the levels at 16:30 of the day before, spots at 10:00, 10:05 and so on, and official closes. */
function store(days: readonly MadeUp[], into: Store, ticker: string): void {
  let before = '2026-01-05';
  for (const { date, levels, spots, close } of days) {
    keepLevels(into, { underlying: ticker, ...levels, asOf: newYorkInstant(before, '16:30') });
    for (const [i, spot] of spots.entries()) {
      // The levels of snapshots during the day must not be used.
      const wrong = { callWall: 1, putWall: 1_000, gexFlip: 1, atmIv30d: 9 };
      const asOf = newYorkInstant(date, '10:00') + i * 300_000;
      keepLevels(into, { underlying: ticker, spot, ...wrong, asOf });
    }
    keepClose(into, date, close, ticker);
    before = date;
  }
}

/** A plain reckoning in dollars from the definitions: counts and the share of the control in percent, by level and outcome. */
function reckon(days: readonly MadeUp[]): Record<string, { n: number; count: number; control: number }> {
  const deviation = ({ levels }: MadeUp) => (levels.spot * levels.atmIv30d) / Math.sqrt(252);
  /** Whether a day held, touched and crossed a level that is above or below. A level at this price on this day. */
  const happened = (day: MadeUp, levels: readonly { price: number; isAbove: boolean }[]) => {
    const seen = [...day.spots, day.close];
    const isBeyond = (price: number, level: { price: number; isAbove: boolean }) =>
      level.isAbove ? price > level.price : price < level.price;
    return {
      held: !levels.some((level) => isBeyond(day.close, level)),
      touched: levels.some(({ price }) => seen.some((each) => Math.abs(each - price) <= 0.1 * deviation(day))),
      crossed: levels.some((level) => seen.some((each) => isBeyond(each, level))),
    };
  };
  const levelsOf = (kind: string, { levels }: MadeUp) => {
    const call = { price: levels.callWall, isAbove: true };
    const put = { price: levels.putWall, isAbove: false };
    const flip = { price: levels.gexFlip, isAbove: levels.gexFlip >= levels.spot };
    return { call_wall: [call], put_wall: [put], band: [call, put], flip: levels.flipResolved ? [flip] : [] }[kind]!;
  };
  const found: Record<string, { n: number; count: number; control: number }> = {};
  for (const kind of ['call_wall', 'put_wall', 'band', 'flip']) {
    for (const outcome of ['held', 'touched', 'crossed'] as const) {
      const having = days.filter((day) => levelsOf(kind, day).length > 0);
      const shares = having.map((day) => {
        const others = days.filter((other) => other !== day);
        const hits = others.filter((other) => {
          const moved = levelsOf(kind, day).map(({ price, isAbove }) => {
            const distance = (price - day.levels.spot) / deviation(day);
            return { price: other.levels.spot + distance * deviation(other), isAbove };
          });
          return happened(other, moved)[outcome];
        });
        return hits.length / others.length;
      });
      found[`${kind} ${outcome}`] = {
        n: having.length,
        count: having.filter((day) => happened(day, levelsOf(kind, day))[outcome]).length,
        control: (100 * shares.reduce((sum, each) => sum + each, 0)) / having.length,
      };
    }
  }
  return found;
}

describe('60 made-up days', () => {
  test.each([1, 2, 3])('agree with a plain reckoning in dollars, seed %i', (seed) => {
    const days = madeUp(seed, 60, 4);
    const { context, store: into } = emptyMarket();
    into.transaction(() => store(days, into, 'SPX'));
    const answer = ask(context);
    expect([answer.count, answer.spots_per_day]).toEqual([60, 5]);
    expect(answer.days.date).toEqual(days.map(({ date }) => date));
    const expected = reckon(days);
    for (const kind of ['call_wall', 'put_wall', 'band', 'flip'] as const) {
      for (const outcome of ['held', 'touched', 'crossed'] as const) {
        const { n, count, control } = expected[`${kind} ${outcome}`]!;
        const { [outcome]: rate, n: found } = answer[kind];
        expect([kind, outcome, found, rate.count]).toEqual([kind, outcome, n, count]);
        expect(rate.pct!).toBeCloseTo((100 * count) / n, 9);
        expect(rate.control_pct!).toBeCloseTo(control, 9);
        expect(answer.days[`${kind}_${outcome}`].filter((each) => each === true)).toHaveLength(count);
        expect([rate.low_pct! < rate.pct! || count === 0, rate.high_pct! > rate.pct! || count === n]).toEqual([
          true,
          true,
        ]);
      }
      expect(answer[kind].too_few_days).toBe(false);
    }
    // The days have outcomes of both kinds, so that the comparison says something.
    expect(expected['band held']!.count).toBeWithin(1, 60);
    expect(expected['flip touched']!.count).toBeWithin(1, 60);
  });
});

test('a random-walk market shows no difference from its control in 95 of 100 cases', () => {
  const { context, store: into } = emptyMarket();
  into.transaction(() => {
    for (let seed = 1; seed <= 100; seed++) store(madeUp(seed, 60, 1), into, `W${seed}`);
  });
  const within = { call_wall: 0, put_wall: 0, band: 0, flip: 0 };
  for (let seed = 1; seed <= 100; seed++) {
    const answer = ask(context, {}, `W${seed}`);
    for (const kind of ['call_wall', 'put_wall', 'band', 'flip'] as const) {
      if (answer[kind].verdict === 'no better than distance') within[kind]++;
    }
  }
  expect(Object.entries(within).filter(([, count]) => count < 95)).toEqual([]);
});

describe('the period', () => {
  const { context, store: into } = emptyMarket();
  const days = madeUp(5, 30, 1);
  into.transaction(() => store(days, into, 'SPX'));
  const last = days.at(-1)!.date;

  test.each([1, 2, 7, 20, 3_650])('of %i days ends with the newest levels', (length) => {
    const { from, to, days: found } = ask(context, { days: length });
    expect([from, to]).toEqual([addDays(last, 1 - length), last]);
    expect(found.date).toEqual(days.map(({ date }) => date).filter((date) => date > addDays(last, -length)));
  });

  test('in a replay ends at its moment, without a day that has not closed', () => {
    const day = days[20]!.date;
    const at = (time: string) => ask(context, { at: new Date(newYorkInstant(day, time)).toISOString() });
    const [open, closed] = [at('15:59:59'), at('16:00')];
    expect([open.days.date.at(-1), open.left_out.no_close]).toEqual([days[19]!.date, 1]);
    expect([closed.days.date.at(-1), closed.left_out.no_close]).toEqual([day, 0]);
    expect(closed.count).toBe(open.count + 1);
  });

  test.each([
    [{ days: 0 }, '/days'],
    [{ days: 3_651 }, '/days'],
    [{ days: 1.5 }, '/days'],
    [{ days: '365' }, '/days'],
    [{ expiries: 'all' }, '/expiries'],
  ])('refuses %p', (more, field) => {
    expect(refusalOf(() => ask(context, more)).fields).toEqual([field]);
  });
});

describe('the work', () => {
  const days = madeUp(5, 60, 1);
  const filled = () => {
    const market = emptyMarket();
    market.store.transaction(() => store(days, market.store, 'SPX'));
    return market;
  };
  /** The rate-limit tokens that a request costs in addition to its own. */
  const tokensOf = (context: Context, args: object) => {
    const steps = perform(restView(getLevelRecord as unknown as Operation), args, context, 'invalid_parameter');
    return steps.reduce((sum, { tokens = 0 }) => sum + tokens, 0);
  };

  test.each([
    [1, 1],
    [20, 2],
    [60, 5],
    // The period reaches back before the first levels. Trading days without levels before their open cost nothing.
    [365, 6],
    [3_650, 6],
  ])('of a period of %i days costs %i tokens, once for the newest levels', (length, tokens) => {
    const { context } = filled();
    const ask = () => tokensOf(context, { ticker: 'SPX', days: length });
    expect([ask(), ask(), ask()]).toEqual([tokens, 0, 0]);
  });

  const last = days.at(-1)!.date;
  test.each<[string, (into: Store) => void]>([
    ['newer levels', (into) => keep(into, last, '10:30')],
    ['levels of an earlier moment', (into) => keep(into, days[30]!.date, '10:30', { spot: 1 })],
    ['another close', (into) => keepClose(into, days[30]!.date, 1)],
  ])('is done again after %s', (_name, act) => {
    const { context, store: into } = filled();
    const [first, again] = [ask(context), ask(context)];
    expect(again).toEqual(first);
    act(into);
    expect(ask(context).days).not.toEqual(first.days);
  });

  test('of a replay is not the work of the present', () => {
    const { context } = filled();
    const at = new Date(newYorkInstant(last, '15:59')).toISOString();
    const replayed = () => ask(context, { at }).days.date.at(-1);
    expect([ask(context).days.date.at(-1), replayed(), ask(context).days.date.at(-1)]).toEqual([
      last,
      days.at(-2)!.date,
      last,
    ]);
  });
});

describe('without levels', () => {
  test('a tracked ticker has no days and a note', () => {
    const { context } = emptyMarket();
    expect(ask(context, {}, 'spy')).toMatchObject({
      ...{ ticker: 'SPY', from: null, to: null, count: 0, spots_per_day: null },
      ...{ days: { date: [], band_held: [] }, flip: { n: 0, too_few_days: true, verdict: 'too few days' } },
      notes: [expect.stringContaining('No day of the period')],
    });
  });

  test('a ticker that is not tracked is refused', () => {
    expect(refusalOf(() => ask(emptyMarket().context, {}, 'ZZZZ')).code).toBe('unknown_ticker');
  });

  test('levels that are not computed yet are noted, and refused in a replay', () => {
    const { context, store: into } = emptyMarket();
    into.saveChain(chainOf({ simulated: false }));
    expect(ask(context).notes).toContainEqual(expect.stringContaining('levels of 1 snapshot are not computed yet'));
    expect(refusalOf(() => ask(context, { at: '2026-01-06' })).code).toBe('unavailable');
  });
});
