import { describe, expect, test } from 'bun:test';
import { expiringGamma } from '../../src/analytics/exposure/gamma-concentration.ts';
import { fitSurface } from '../../src/analytics/surface/fit-surface.ts';
import { ClientError } from '../../src/core/errors.ts';
import { runToCompletion } from '../../src/core/steps.ts';
import { rootOf } from '../../src/market/option-symbol.ts';
import { zeroDte } from '../../src/operations/gex/level-variants.ts';
import { chainOf, preparedChain, quoted } from '../analytics/small-chains.ts';
import { smallMarket } from './small-market.ts';

const HOUR_MS = 3_600_000;

/** Hours to settlement at an instant in New York, as used for T. `settled` if the contract has settled. */
function hoursLeft(root: string, expiry: string, at: string): number | 'settled' {
  const chain = chainOf(quoted({ root, expiry, strikes: [95, 100, 105], asOf: Date.parse(at) - HOUR_MS }), {
    underlying: rootOf(root).underlying,
    asOf: Date.parse(at),
  });
  try {
    const [series] = preparedChain(chain).series;
    return Math.round(series!.tte * 365.25 * 24 * 1e6) / 1e6;
  } catch (error) {
    if (error instanceof ClientError && error.code === 'no_chain') return 'settled';
    throw error;
  }
}

const [DAY, FLOOR] = [24, 0.25];

const SETTLEMENTS: Record<
  string,
  [what: string, root: string, expiry: string, at: string, left: number | 'settled'][]
> = {
  'AM and PM roots of one third Friday': [
    ['SPX settles at the open', 'SPX', '2026-01-16', '2026-01-15T09:30-05:00', DAY],
    ['SPXW settles at the close', 'SPXW', '2026-01-16', '2026-01-15T16:00-05:00', DAY],
    ['SPX is settled at the open', 'SPX', '2026-01-16', '2026-01-16T09:30-05:00', 'settled'],
    ['SPX is live a minute before the open', 'SPX', '2026-01-16', '2026-01-16T09:29-05:00', FLOOR],
    ['SPXW is still live', 'SPXW', '2026-01-16', '2026-01-16T09:30-05:00', 6.5],
    ...['NDX', 'RUT', 'DJX', 'VIX', 'VIXW'].map(
      (root) => [`${root} in the morning`, root, '2026-01-16', '2026-01-15T09:30-05:00', DAY] as never,
    ),
    ...['NDXP', 'RUTW', 'SPY', 'AAPL'].map(
      (root) => [`${root} in the evening`, root, '2026-01-16', '2026-01-15T16:00-05:00', DAY] as never,
    ),
  ],
  'third Fridays without trading settle on the Thursday': [
    ['Good Friday 2022, AM', 'SPX', '2022-04-15', '2022-04-13T09:30-04:00', DAY],
    ['Good Friday 2022, PM', 'SPXW', '2022-04-15', '2022-04-13T16:00-04:00', DAY],
    ['settled on the Thursday', 'SPXW', '2022-04-15', '2022-04-14T16:00-04:00', 'settled'],
    ['Juneteenth observed on Friday 2027-06-18', 'SPX', '2027-06-18', '2027-06-16T09:30-04:00', DAY],
    ['the same, listed by its Thursday', 'SPX', '2027-06-17', '2027-06-16T09:30-04:00', DAY],
  ],
  'half-days end at 13:00': [
    ['after Thanksgiving', 'SPY', '2026-11-27', '2026-11-27T12:00-05:00', 1],
    ['settled at 13:00', 'SPY', '2026-11-27', '2026-11-27T13:00-05:00', 'settled'],
    ['Christmas Eve', 'SPXW', '2026-12-24', '2026-12-23T13:00-05:00', DAY],
    ['July 3', 'AAPL', '2025-07-03', '2025-07-03T09:30-04:00', 3.5],
    ['an AM root settles at the usual open', 'SPX', '2026-11-27', '2026-11-26T09:30-05:00', DAY],
  ],
  'a weekend with a clock change': [
    ['forward: an hour less', 'SPY', '2026-03-09', '2026-03-06T16:00-05:00', 3 * DAY - 1],
    ['back: an hour more', 'SPY', '2026-11-02', '2026-10-30T16:00-04:00', 3 * DAY + 1],
    ['the same instant in UTC', 'SPY', '2026-11-02', '2026-10-30T20:00Z', 3 * DAY + 1],
  ],
  'leap years': [
    ['across February 29', 'SPY', '2024-03-01', '2024-02-28T16:00-05:00', 2 * DAY],
    ['on February 29', 'SPY', '2024-02-29', '2024-02-29T15:00-05:00', 1],
    ['no February 29 in 2026', 'SPY', '2026-03-02', '2026-02-27T16:00-05:00', 3 * DAY],
    ['a year of 366 days', 'AAPL', '2025-01-17', '2024-01-17T16:00-05:00', 366 * DAY],
  ],
  'the day of expiry, before and after the close': [
    ['before the open', 'SPXW', '2026-01-05', '2026-01-05T08:00-05:00', 8],
    ['at the open', 'SPXW', '2026-01-05', '2026-01-05T09:30-05:00', 6.5],
    ['an hour before the close', 'SPXW', '2026-01-05', '2026-01-05T15:00-05:00', 1],
    ['fifteen minutes before the close', 'SPXW', '2026-01-05', '2026-01-05T15:45-05:00', FLOOR],
    ['nearer counts as fifteen minutes', 'SPXW', '2026-01-05', '2026-01-05T15:59:59-05:00', FLOOR],
    ['at the close', 'SPXW', '2026-01-05', '2026-01-05T16:00-05:00', 'settled'],
    ['after the close', 'SPXW', '2026-01-05', '2026-01-05T16:14-05:00', 'settled'],
    ['the next day', 'SPXW', '2026-01-05', '2026-01-06T09:30-05:00', 'settled'],
  ],
};

describe.each(Object.entries(SETTLEMENTS))('%s', (_what, rows) => {
  test.each(rows)('%s: %s %s at %s', (_which, root, expiry, at, left) => {
    expect(hoursLeft(root, expiry, at)).toBe(left);
  });
});

/** On a third Friday the index's AM contracts have settled, and its PM contracts are 0DTE. */
describe('0DTE of an index on a third Friday', () => {
  const read = (at: string) => {
    const asOf = Date.parse(at);
    const rows = ['SPX', 'SPXW'].flatMap((root) =>
      quoted({
        ...{ root, expiry: '2026-01-16', strikes: [95, 100, 105], asOf: asOf - HOUR_MS, rest: { openInterest: 100 } },
      }),
    );
    const later = quoted({
      ...{ root: 'SPX', expiry: '2026-02-20', strikes: [95, 100, 105], asOf, rest: { openInterest: 100 } },
    });
    const ready = preparedChain(chainOf([...rows, ...later], { underlying: 'SPX', asOf }));
    const { left_out, used } = ready.counts;
    return {
      ready,
      used,
      settled: left_out.settled,
      zero: runToCompletion(zeroDte(ready, runToCompletion(fitSurface(ready)), 1, smallMarket().context)),
    };
  };

  test.each<[string, number, number, number | null]>([
    ['2026-01-15T16:00-05:00', 18, 0, null],
    ['2026-01-16T09:00-05:00', 18, 0, 12],
    ['2026-01-16T09:30-05:00', 12, 6, 6],
    ['2026-01-16T15:59-05:00', 12, 6, 6],
    ['2026-01-16T16:00-05:00', 6, 12, null],
    ['2026-01-17T12:00-05:00', 6, 12, null],
  ])('at %s: %p live, %p settled, 0DTE %p', (at, used, settled, zeroDteContracts) => {
    const found = read(at);
    expect([found.used, found.settled, found.zero && found.zero.open_interest! / 100]).toEqual([
      used,
      settled,
      zeroDteContracts,
    ]);
    // A live contract always has gamma, never 0.
    if (found.zero) {
      expect(found.zero.gross_gex_mil).toBeGreaterThan(0);
      expect(expiringGamma(found.ready)).toBeGreaterThan(0);
    }
  });
});
