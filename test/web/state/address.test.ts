import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  formatAddress,
  MEASURES,
  OPTION_VALUES,
  type PageState,
  parseAddress,
  START,
  VIEWS,
  ZOOM,
} from '../../../web/state/address.ts';

describe('the address of a state', () => {
  test.each([
    ['', START],
    ['#', START],
    ['#/', START],
    ['#/QQQ', { ...START, ticker: 'QQQ' }],
    ['#/brk.b/strikes', { ...START, ticker: 'BRK.B', view: 'strikes' }],
    ['#/%5ESPX/flow', { ...START, ticker: '^SPX', view: 'flow' }],
    ['#/SPY/ticker?at=2026-11-20T20:30:00Z', { ...START, at: '2026-11-20T20:30:00Z' }],
    ['#/SPY/ticker?weight=volume&sign=flow', { ...START, options: { weight: 'volume', sign: 'flow' } }],
    ['#/SPY/ticker?expiries=0dte&zoom=20', { ...START, options: { expiries: '0dte' }, zoom: 20 }],
    ['#/SPY/ticker?expiries=all', { ...START, options: { expiries: 'all' } }],
    [
      '#/SPY/ticker?sign=short_both&smile_dynamics=ssr=1.5',
      { ...START, options: { sign: 'short_both', smile_dynamics: 'ssr=1.5' } },
    ],
    ['#/SPY/ticker?pin=2026-11-20T20:30:00Z&diff=1', { ...START, pinned: '2026-11-20T20:30:00Z', isDiff: true }],
    ['#/SPY/scan?_dte=7', { ...START, view: 'odds', own: { dte: '7' } }],
    ['#/SPY/compare?_with=SPY,QQQ', { ...START, view: 'compare', own: { with: 'SPY,QQQ' } }],
    ['#/SPY/flow?_days=5', { ...START, view: 'flow', own: { days: '5' } }],
  ] as const)('%p is parsed', (address, state) => {
    expect(parseAddress(address)).toEqual(state as PageState);
  });

  test.each([
    ['a view', '#/SPY/nothing', ['view=nothing']],
    ['a view of an earlier version', '#/SPY/bench', ['view=bench']],
    ['a view with the name of a field', '#/SPY/constructor', ['view=constructor']],
    ['a ticker with markup', '#/%3Cimg%20src=x%3E/ticker', ['ticker=<img src=x>']],
    ['more of a path', '#/SPY/ticker/more', ['path=more']],
    ['a broken escape', '#/%E0%A4%A/ticker', []],
    ['a moment that is none', '#/SPY/ticker?at=yesterday', ['at=yesterday']],
    ['a day that does not exist', '#/SPY@2026-02-30', ['at=2026-02-30']],
    ['a script as a moment', '#/SPY/ticker?at=javascript:alert(1)', ['at=javascript:alert(1)']],
    ['an unknown option', '#/SPY/ticker?weight=gold&colour=red', ['weight=gold', 'colour=red']],
    ['a zoom that is no number', '#/SPY/ticker?zoom=wide&shift=', ['zoom=wide', 'shift=']],
    ['a figure with markup', '#/SPY/ticker?explain=%3Cb%3E', ['explain=<b>']],
  ])('%s that is not understood falls back to the default, and is listed', (_, address, misread) => {
    expect(parseAddress(address)).toEqual({ ...START, misread });
  });

  test.each([
    ['a default as an option', '#/SPY/ticker?weight=open_interest&expiries=next:35'],
    ['a difference without A', '#/SPY/ticker?diff=1'],
    ['a live moment', '#/SPY@live'],
  ])('%s is the default', (_, address) => {
    expect(parseAddress(address)).toEqual(START);
  });

  test.each([
    ['#/SPY@2026-11-19%2015:00', '2026-11-19T20:00:00.000Z'],
    ['#/SPY/ticker@2026-11-19_9:45', '2026-11-19T14:45:00.000Z'],
    ['#/SPY/ticker@2026-07-01T15:00', '2026-07-01T19:00:00.000Z'],
    ['#/SPY/ticker?at=2026-11-19', '2026-11-20T04:59:00.000Z'],
    ['#/SPY/ticker?at=2026-11-19T18:00', '2026-11-19T23:00:00.000Z'],
    ['#/SPY/ticker?at=2026-11-19T15:00-05:00', '2026-11-19T20:00:00.000Z'],
    ['#/SPY/ticker?at=2026-11-19T21:00:30+01:00', '2026-11-19T20:00:30.000Z'],
    ['#/SPY/ticker?at=2026-11-19T21:00:30%2B0100', '2026-11-19T20:00:30.000Z'],
    ['#/SPY/ticker?at=2026-11-19T20:30:00Z', '2026-11-19T20:30:00Z'],
  ])('%s is the moment %s', (address, at) => {
    expect(parseAddress(address)).toEqual({ ...START, at });
  });

  test('a zoom beyond the bounds is the nearest bound', () => {
    expect(parseAddress('#/SPY/ticker?zoom=1e9').zoom).toBe(ZOOM.most);
    expect(parseAddress('#/SPY/ticker?zoom=-3').zoom).toBe(ZOOM.least);
  });

  const instant = fc
    .integer({ min: 0, max: 4e9 })
    .map((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`);
  const options = fc.record(
    Object.fromEntries([
      ...Object.entries(OPTION_VALUES).map(([name, values]) => [name, fc.constantFrom(...values.slice(1))]),
      ['expiries', fc.constantFrom('0dte', 'next:30', '2026-12-18')],
    ]),
    { requiredKeys: [] },
  );
  const state = fc
    .record({
      ticker: fc.constantFrom('SPY', 'BRK.B', '^SPX', 'QQQ'),
      view: fc.constantFrom(...VIEWS),
      at: fc.option(instant),
      pinned: fc.option(instant),
      wantsDiff: fc.boolean(),
      options,
      measure: fc.constantFrom(...MEASURES),
      zoom: fc.option(fc.integer({ min: 50, max: 6000 }).map((n) => n / 100)),
      shift: fc.integer({ min: -6000, max: 60_000 }).map((n) => n / 100),
      explain: fc.option(fc.constantFrom('gex_flip', 'strike.637_5')),
      own: fc.dictionary(fc.stringMatching(/^[a-z][a-z_]{0,9}$/), fc.string({ maxLength: 40 })),
    })
    .map(
      ({ wantsDiff, own, ...rest }): PageState => ({
        ...rest,
        options: rest.options as PageState['options'],
        // A dictionary of the generator has no prototype, but a parsed one does.
        own: { ...own },
        misread: [],
        isDiff: wantsDiff && rest.pinned !== null,
      }),
    );

  test('every state has an address that is parsed to the same state', () => {
    fc.assert(
      fc.property(state, (each) => {
        expect(parseAddress(formatAddress(each))).toEqual(each);
      }),
      { numRuns: 500 },
    );
  });
});
