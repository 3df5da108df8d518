import { describe, expect, test } from 'bun:test';
import type { LevelRecord } from '../../../src/market/level-record.ts';
import type { Provenance } from '../../../src/operations/engine/operation.ts';
import { type GexHistory, getGexHistory } from '../../../src/operations/history/gex-history.ts';
import { chainOf, DAY_MS, keepLevels, MONDAY_MS, recordOf } from '../../store/samples.ts';
import { callExtended, callRoute, refusalOf, smallMarket } from '../small-market.ts';

const HOUR_MS = 3_600_000;

/** A market with these levels of SPX. The first is of Monday. */
function marketOf(levels: readonly Partial<LevelRecord>[]) {
  const { context, store } = smallMarket({}, MONDAY_MS + 10 * DAY_MS);
  for (const each of levels) keepLevels(store, each);
  return { context, store };
}
type History = GexHistory & { readonly provenance?: Provenance };
const asked = (context: ReturnType<typeof marketOf>['context'], query: Record<string, unknown> = {}) =>
  callExtended(getGexHistory, { ticker: 'SPX', ...query }, context) as unknown as History;

const daysOf = (count: number) => Array.from({ length: count }, (_, day) => ({ asOf: MONDAY_MS + day * DAY_MS }));

test('every column comes from the record of its moment', () => {
  const second = { asOf: MONDAY_MS + DAY_MS, spot: 6001, flipResolved: false, atmIv30d: null, expiry: '2026-02-20' };
  const { context } = marketOf([{}, second]);
  const first = recordOf();
  const margin = (100 * Math.abs(first.netGex)) / first.grossGex / 2;
  expect(asked(context)).toEqual({
    ...{ ticker: 'SPX', per: 'day', count: 2 },
    as_of: ['2026-01-05T20:00:00.000Z', '2026-01-06T20:00:00.000Z'],
    ...{ day: ['2026-01-05', '2026-01-06'], spot: [first.spot, 6001], net_gex: [first.netGex, first.netGex] },
    ...{ gross_gex: [first.grossGex, first.grossGex], sign_margin_pct: [margin, margin] },
    ...{ gex_flip: [first.gexFlip, first.gexFlip], flip_resolved: [true, false] },
    ...{ call_wall: [first.callWall, first.callWall], put_wall: [first.putWall, first.putWall] },
    ...{ max_pain: [first.maxPain, first.maxPain], expiry: [first.expiry, '2026-02-20'] },
    ...{ net_dex: [first.dex, first.dex], net_vex: [first.vex, first.vex], net_cex: [first.cex, first.cex] },
    atm_iv_30d: [first.atmIv30d, null],
    ...{ iv_rank: null, iv_percentile: null, iv_days: 1, iv_low: 0.1625, iv_high: 0.1625 },
    sign_convention: expect.stringContaining('Dealers are long calls'),
    notes: [],
    provenance: expect.objectContaining({ source: 'simulated', simulated: false, as_of: '2026-01-06T20:00:00.000Z' }),
  });
});

test('says so while the past of the simulated market is being filled', () => {
  const { context, store } = smallMarket({ simulated: true }, MONDAY_MS + DAY_MS);
  keepLevels(store, { simulated: true, atmIv30d: null });
  store.openFeeds([{ name: 'simulated', simulated: true, tickers: ['SPX'] }]);
  const notes = () => asked(context).notes;
  expect(notes()).toEqual([]);
  store.pastFilled('simulated', { done: 3, total: 7 });
  expect(notes()).toEqual([expect.stringContaining('3 of 7 snapshots of all tickers are complete')]);
  store.pastFilled('simulated', { done: 7, total: 7 });
  expect(notes()).toEqual([]);
});

describe('range', () => {
  // Two records a day from Monday 2026-01-05 to Wednesday, at 15:00 and 16:00 in New York.
  const { context } = marketOf(
    [0, 1, 2].flatMap((day) => [0, 1].map((hour) => ({ asOf: MONDAY_MS + day * DAY_MS + hour * HOUR_MS }))),
  );
  const rows = (query: Record<string, unknown>) =>
    asked(context, query).as_of.map((each) => each.slice(8, 13).replace('T', ' '));
  const ALL = ['05 20', '05 21', '06 20', '06 21', '07 20', '07 21'];

  test.each([
    [{}, ['05 21', '06 21', '07 21']],
    [{ per: 'snapshot' }, ALL],
    [{ per: 'snapshot', from: '2026-01-06' }, ALL.slice(2)],
    [{ per: 'snapshot', to: '2026-01-06' }, ALL.slice(0, 4)],
    [{ per: 'snapshot', from: '2026-01-06', to: '2026-01-06' }, ['06 20', '06 21']],
    [{ per: 'snapshot', from: '2026-01-05T21:00:00Z', to: '2026-01-06T15:00:00-05:00' }, ['05 21', '06 20']],
    [{ per: 'snapshot', from: '2026-01-05T21:00:00.001Z', to: '2026-01-06T19:59:59.999Z' }, []],
    [{ to: '2026-01-06T20:30:00Z' }, ['05 21', '06 20']],
    [{ per: 'snapshot', points: 1 }, ['07 21']],
    [{ per: 'snapshot', points: 2 }, ['05 20', '07 21']],
    [{ per: 'snapshot', points: 3 }, ['05 20', '06 20', '07 21']],
    [{ points: 2 }, ['05 21', '07 21']],
    [{ from: '0001-01-01', to: '9999-12-31' }, ['05 21', '06 21', '07 21']],
  ])('%p returns %p', (query, expected) => {
    expect(rows(query)).toEqual(expected);
  });

  test('reports the number of rows before downsampling', () => {
    const { count, downsampled_from } = asked(context, { per: 'snapshot', points: 4 });
    expect([count, downsampled_from]).toEqual([4, 6]);
    expect(asked(context, { per: 'snapshot', points: 6 })).not.toHaveProperty('downsampled_from');
  });

  test.each([
    [{ from: 'yesterday' }, '/from'],
    [{ from: '2026-02-30' }, '/from'],
    [{ to: '2026-02-30T10:00:00Z' }, '/to'],
    [{ to: '2026-01-06T10:00:00' }, '/to'],
    [{ from: '2026-01-07', to: '2026-01-06' }, '/from'],
    [{ from: '2026-01-06T00:00:00-05:00', to: '2026-01-05' }, '/from'],
    [{ per: 'week' }, '/per'],
    [{ points: 0 }, '/points'],
    [{ points: 5001 }, '/points'],
    [{ points: 2.5 }, '/points'],
    [{ expiries: 'all' }, '/expiries'],
  ])('rejects %p', (query, field) => {
    expect(refusalOf(() => asked(context, query)).fields).toEqual([field]);
  });

  test.each([
    // Daylight saving time begins on 2026-03-08 and ends on 2026-11-01.
    ['2026-03-08', '2026-03-08T05:00:00Z', '2026-03-09T03:59:59.999Z'],
    ['2026-11-01', '2026-11-01T04:00:00Z', '2026-11-02T04:59:59.999Z'],
    ['2025-11-28', '2025-11-28T05:00:00Z', '2025-11-29T04:59:59.999Z'],
  ])('the day %s uses its own UTC offset', (day, first, last) => {
    const moments = [Date.parse(first) - 1, Date.parse(first), Date.parse(last), Date.parse(last) + 1];
    const market = marketOf(moments.map((asOf) => ({ asOf })));
    const found = asked(market.context, { from: day, to: day, per: 'snapshot' });
    expect(found.as_of.map((each) => Date.parse(each))).toEqual(moments.slice(1, 3));
    expect(found.day).toEqual([day, day]);
  });
});

test('without `from`, returns the 365 days that end with the newest record up to `to`', () => {
  const { context } = marketOf([...daysOf(400), { asOf: MONDAY_MS + 420 * DAY_MS }]);
  const ends = (query: Record<string, unknown> = {}) => {
    const { day } = asked(context, query);
    return { first: day.at(0), last: day.at(-1), days: day.length };
  };
  // The newest day is 2027-03-01. 364 days before it is 2026-03-02.
  expect(ends()).toEqual({ first: '2026-03-02', last: '2027-03-01', days: 400 - 56 + 1 });
  expect(ends({ to: '2027-02-08' })).toEqual({ first: '2026-02-09', last: '2027-02-08', days: 365 });
  expect(ends({ from: '2026-01-01' })).toEqual({ first: '2026-01-05', last: '2027-03-01', days: 401 });
});

describe('rank', () => {
  const iv = (day: number, atmIv30d: number | null, hour = 0) => ({
    asOf: MONDAY_MS + day * DAY_MS + hour * HOUR_MS,
    atmIv30d,
  });
  const ranked = (levels: readonly Partial<LevelRecord>[], query = {}) => {
    const found = asked(marketOf(levels).context, query);
    return [found.iv_rank, found.iv_percentile, found.iv_days, found.iv_low, found.iv_high];
  };
  const rising = Array.from({ length: 20 }, (_, day) => iv(day, (10 + day) / 100));

  test('uses the last record of each day, regardless of the requested rows', () => {
    const noon = rising.map((_, day) => iv(day, 0.9, -1));
    expect(noon[0]!.asOf).toBeLessThan(rising[0]!.asOf);
    const expected = [100, 100, 20, 0.1, 0.29];
    expect(ranked([...noon, ...rising])).toEqual(expected);
    expect(ranked([...noon, ...rising], { per: 'snapshot', points: 2, from: '2026-01-20' })).toEqual(expected);
  });

  test('is computed as of the end of the range', () => {
    expect(ranked([...rising, iv(20, 0.1)], { to: '2026-01-24' })).toEqual([100, 100, 20, 0.1, 0.29]);
    expect(ranked([...rising, iv(20, 0.1)])).toEqual([0, 0, 21, 0.1, 0.29]);
  });

  test('covers the 365 days that end with the newest record', () => {
    const later = rising.map((_, i) => iv(365 + i, (30 - i) / 100));
    // Of the first twenty days, only the twentieth and later ones are in the range.
    expect(ranked([...rising, ...later]).slice(2)).toEqual([20, 0.11, 0.3]);
    expect(ranked([...rising, ...later.slice(0, 19)]).slice(2)).toEqual([20, 0.12, 0.3]);
  });
});

describe('without history', () => {
  test('a tracked ticker has no rows and a note', () => {
    const { context, store } = smallMarket();
    const none = asked(context, { ticker: 'spy' });
    expect(none).toMatchObject({ ticker: 'SPY', count: 0, spot: [], as_of: [], iv_rank: null });
    expect(none.notes).toEqual([expect.stringContaining('No levels of this ticker are stored')]);
    expect(none.provenance).toBeUndefined();
    store.saveChain(chainOf({ simulated: false }));
    const { count, notes, provenance } = asked(context);
    const message = [
      expect.stringContaining('No levels'),
      expect.stringContaining('levels of 1 snapshot are not computed yet'),
    ];
    expect([count, notes, provenance?.notes]).toEqual([0, message, message]);
  });

  test('with `at`, fails while levels up to that moment are due', () => {
    const { context, store } = smallMarket();
    store.saveChain(chainOf({ simulated: false }));
    const asked = (at: string) => callRoute(getGexHistory, { ticker: 'SPX', at }, context);
    expect(() => asked('2026-01-05T15:30:00-05:00')).toThrow(/are not computed yet/);
    expect(asked('2026-01-04')).toMatchObject({ count: 0 });
  });

  test('the note names the newest record before the end of the range', () => {
    const found = asked(marketOf(daysOf(1)).context, { from: '2026-01-06', to: '2026-01-07' });
    expect([found.count, found.notes]).toEqual([0, [expect.stringContaining('2026-01-05T20:00:00.000Z')]]);
  });

  test('rejects a ticker that is not tracked', () => {
    expect(refusalOf(() => asked(smallMarket().context, { ticker: 'ZZZZ' })).code).toBe('unknown_ticker');
  });

  test('simulated levels do not count as recorded ones', () => {
    const { context, store } = marketOf(daysOf(1));
    keepLevels(store, { underlying: 'SPY', simulated: true });
    expect(asked(context, { ticker: 'SPY' }).count).toBe(0);
  });
});
