import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { presenceLabels } from '../../../web/chart/ladder-strokes.ts';
import { priceAxis } from '../../../web/chart/price-axis.ts';
import type { Expiries, GexView, Strikes } from '../../../web/data/page-answers.ts';
import type { Call } from '../../../web/operations.ts';
import {
  curvePairs,
  gexCurve,
  isComparable,
  momentDifference,
  strikeDifferences,
  valueAt,
} from '../../../web/state/moment-diff.ts';
import { differenceTexts, netBridge } from '../../../web/view/ticker/diff-summary.tsx';
import { loadCalendar } from '../time/server-calendar.ts';

loadCalendar();

/** Net gamma by strike. */
const strikesOf = (rows: Readonly<Record<number, number>>) =>
  ({
    ticker: 'SPX',
    strike: Object.keys(rows).map(Number),
    net_gex: Object.values(rows),
    net_dex: Object.values(rows).map((net) => 2 * net),
  }) as unknown as Strikes;

const expiriesOf = (...series: readonly string[]) =>
  ({
    ticker: 'SPX',
    expiry: series.map((each) => each.split(' ')[0]!),
    settlement: series.map((each) => each.split(' ')[1]!),
    root: series.map((each) => each.split(' ')[2] ?? 'SPX'),
  }) as unknown as Expiries;

const viewOf = (strikes: Strikes, expiries = expiriesOf()) => ({ strikes, expiries }) as unknown as GexView;

const anyStrikes = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: -9, max: 9 })), {
    selector: ([strike]) => strike,
    maxLength: 20,
  })
  .map((rows) => strikesOf(Object.fromEntries(rows)));
const anySeries = fc
  .subarray(['2026-11-19 PM', '2026-11-20 AM', '2026-11-20 PM SPXW', '2026-11-23 PM', '2026-12-18 AM'])
  .map((series) => expiriesOf(...series));
const anyMoment = fc.integer({ min: Date.parse('2026-11-18T15:00Z'), max: Date.parse('2026-11-24T15:00Z') });

describe('the difference of two moments', () => {
  test('is the opposite of the difference in the other direction', () => {
    fc.assert(
      fc.property(
        fc.tuple(anyStrikes, anySeries, anyMoment),
        fc.tuple(anyStrikes, anySeries, anyMoment),
        ([a, seriesA, atA], [b, seriesB, atB]) => {
          const opposite = { new: 'gone', gone: 'new' } as const;
          expect(strikeDifferences(b, a)).toEqual(
            strikeDifferences(a, b).map(({ strike, now, before, change, presence }) => ({
              strike,
              now: before,
              before: now,
              change: change === null ? null : 0 - change,
              presence: presence && opposite[presence],
            })),
          );
          const [there, back] = [
            momentDifference(viewOf(b, seriesB), viewOf(a, seriesA), atB, atA),
            momentDifference(viewOf(a, seriesA), viewOf(b, seriesB), atA, atB),
          ];
          expect(back.expired.toSorted()).toEqual(there.expired.toSorted());
          expect([back.newSeries, back.goneSeries]).toEqual([there.goneSeries, there.newSeries]);
          expect([back.newStrikes, back.goneStrikes]).toEqual([there.goneStrikes, there.newStrikes]);
          expect(back.largest).toEqual(there.largest.map(({ strike, change }) => ({ strike, change: -change })));
        },
      ),
    );
  });

  test('from a moment to itself is none anywhere', () => {
    fc.assert(
      fc.property(anyStrikes, anySeries, anyMoment, (strikes, series, at) => {
        for (const row of strikeDifferences(strikes, strikes, 'net_dex')) {
          expect([row.change, row.presence]).toEqual([0, undefined]);
        }
        const difference = momentDifference(viewOf(strikes, series), viewOf(strikes, series), at, at);
        expect(Object.values(difference).flat()).toEqual([]);
        expect(differenceTexts(difference)).toEqual([]);
      }),
    );
  });

  test('has every strike once, and tells new and gone from a change of 0', () => {
    const rows = strikeDifferences(strikesOf({ 600: 5, 610: -1, 630: 2 }), strikesOf({ 600: 5, 620: 4, 630: 7 }));
    expect(rows.map(({ strike, change, presence }) => [strike, change, presence])).toEqual([
      [600, 0, undefined],
      [610, null, 'new'],
      [620, null, 'gone'],
      [630, -5, undefined],
    ]);
  });

  test.each([
    ['over a close', '2026-11-20T20:59Z', '2026-11-20T21:00Z', '2026-11-20 PM', ['2026-11-20 PM']],
    ['over an open', '2026-11-20T14:29Z', '2026-11-20T14:30Z', '2026-11-20 AM', ['2026-11-20 AM']],
    ['over an early close', '2026-11-27T17:59Z', '2026-11-27T18:00Z', '2026-11-27 PM', ['2026-11-27 PM']],
    ['over a Saturday expiry', '2026-11-20T20:00Z', '2026-11-21T00:00Z', '2026-11-21 PM', ['2026-11-21 PM']],
    ['before its close, it is only gone', '2026-11-20T20:00Z', '2026-11-20T20:30Z', '2026-11-20 PM', []],
  ])('names expired series: %s', (_, before, now, name, expired) => {
    const [then, here] = [[name, '2027-01-15 AM'], ['2027-01-15 AM']].map((series) =>
      viewOf(strikesOf({}), expiriesOf(...series)),
    ) as [GexView, GexView];
    const difference = momentDifference(here, then, Date.parse(now), Date.parse(before));
    expect(difference.expired).toEqual(expired);
    expect(difference.goneSeries).toEqual(expired.length > 0 ? [] : [name]);
  });

  test('is told with expired series first, and long lists are counted', () => {
    const strikes = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [600 + i, i]));
    const now = viewOf(strikesOf({ ...strikes, 650: 4 }), expiriesOf('2026-11-23 PM SPXW'));
    const before = viewOf(strikesOf({ 650: -6e6, 700: 1 }), expiriesOf('2026-11-20 PM SPXW'));
    expect(
      differenceTexts(momentDifference(now, before, Date.parse('2026-11-23T15:00Z'), Date.parse('2026-11-20T15:00Z'))),
    ).toEqual([
      'expired in between: SPXW Fri 20 Nov, PM-settled',
      'new series: SPXW Mon 23 Nov, PM-settled',
      'new strikes: 600, 601, 602, 603 and 5 more',
      'gone strikes: 700',
      'largest changes of net gamma: 650 +6.00M',
    ]);
  });
});

test('the change of net gamma is split into that of the spot and the rest', () => {
  const view = (spot: number, net: number, net_gex: number[]) =>
    ({
      levels: { spot_price: spot, net_gex_mil: net },
      profile: { spot: [600, 620, 640], net_gex },
    }) as unknown as GexView;
  const before = view(640, 50, [-30e6, 10e6, 50e6]);
  expect(netBridge(view(610, -15, [-20e6, 0, 40e6]), before)).toEqual([
    'net GEX +50.0M → −15.0M: −60.0M as spot moved, −5.00M by time, volatility and positions',
  ]);
  expect(netBridge(view(500, -15, [-20e6, 0, 40e6]), before)).toEqual([]);
});

test.each<[string, Call['args'], boolean]>([
  ['another moment', { ticker: 'SPY', at: '2026-11-20T20:00:00Z' }, true],
  ['no moment', { ticker: 'SPY' }, true],
  ['another ticker', { ticker: 'QQQ' }, false],
  ['another option', { ticker: 'SPY', weight: 'volume' }, false],
])('a view is compared with one of %s: %p', (_, args, expected) => {
  const now: Call = { operation: 'get_gex_view', args: { ticker: 'SPY', at: '2026-11-20T21:00:00Z' } };
  expect(isComparable(now, { ...now, args })).toBe(expected);
  expect(isComparable({ ...now, args }, now)).toBe(expected);
  expect(isComparable(now, { ...now, operation: 'get_gex_history' })).toBe(false);
});

test('profiles are compared at the spots of both, where both are known', () => {
  const a = gexCurve({ spot: [90, 100, 110], net_gex: [-10, 0, 10] });
  const b = gexCurve({ spot: [95, 105, 120], net_gex: [0, 10, 40] });
  expect(curvePairs(a, b)).toEqual([
    { spot: 95, now: -5, before: 0 },
    { spot: 100, now: 0, before: 5 },
    { spot: 105, now: 5, before: 10 },
    { spot: 110, now: 10, before: 20 },
  ]);
  expect(curvePairs(b, a)).toEqual(
    curvePairs(a, b).map(({ spot, now, before }) => ({ spot, now: before, before: now })),
  );
  for (const { now, before } of curvePairs(a, a)) expect(now).toBe(before);
  expect(valueAt(a, 97.5)).toBe(-2.5);
});

test('labels of new and gone strikes do not cover each other, and count every strike in view once', () => {
  const axis = priceAxis(600, 10, 0, 500);
  const rows = Array.from({ length: 200 }, (_, i) => ({
    strike: 500 + i,
    presence: i % 3 === 0 ? ('new' as const) : i % 7 === 0 ? ('gone' as const) : undefined,
  }));
  const labels = presenceLabels(rows, axis, 13);
  for (const presence of ['new', 'gone'] as const) {
    const own = labels.filter((label) => label.presence === presence);
    expect(own.reduce((sum, { count }) => sum + count, 0)).toBe(
      rows.filter((row) => row.presence === presence && row.strike >= axis.low && row.strike <= axis.high).length,
    );
    expect(own.every(({ y }, i) => i === 0 || y - own[i - 1]!.y >= 13)).toBe(true);
  }
  expect(presenceLabels(rows.slice(0, 10), axis, 13)).toEqual([]);
});
