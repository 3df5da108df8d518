import { describe, expect, test } from 'bun:test';
import type { Static } from '@sinclair/typebox';
import type { Chain } from '../../../src/market/chain.ts';
import { getGexByExpiry } from '../../../src/operations/gex/gex-expiries.ts';
import { getGexMatrix } from '../../../src/operations/gex/gex-matrix.ts';
import { getGexByStrike } from '../../../src/operations/gex/gex-strikes.ts';
import { recordedChain, recordedNames } from '../../analytics/recorded.ts';
import { simulated } from '../../analytics/simulated.ts';
import { chainOf, contract, EXPIRY, FEED_GAMMA, LATER, print, quoted, range } from '../../analytics/small-chains.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { callExtended, contextOf, refusalOf, smallMarket } from '../small-market.ts';

type Matrix = Static<typeof getGexMatrix.full>;
type Strikes = Static<typeof getGexByStrike.full>;
type Expiries = Static<typeof getGexByExpiry.full>;

const sum = (values: readonly (number | null)[]) => values.reduce<number>((total, each) => total + (each ?? 0), 0);
const gross = (values: readonly (number | null)[]) => sum(values.map((each) => Math.abs(each ?? 0)));
const most = (values: readonly (number | null)[]) => Math.max(gross(values), 1e-300);

/** For each measure, the same quantity by strike in the answer of `get_gex_by_strike`. */
const BY_STRIKE: Record<string, (strikes: Strikes) => number[]> = {
  gamma: ({ net_gex }) => net_gex,
  delta: ({ net_dex }) => net_dex,
  vanna: ({ net_vex }) => net_vex,
  charm: ({ net_cex }) => net_cex,
  open_interest: (by) => by.call_open_interest.map((each, i) => each! + by.put_open_interest[i]!),
  volume: (by) => by.call_volume.map((each, i) => each + by.put_volume[i]!),
};

/** Checks the sums of the matrix against `get_gex_by_strike` and `get_gex_by_expiry`, for every measure. */
function expectSums(chain: Chain, options: Record<string, unknown> = {}): void {
  const context = contextOf(chain);
  const args = { ticker: chain.underlying, ...options };
  const strikes = callExtended(getGexByStrike, args, context) as Strikes;
  for (const [measure, columnOf] of Object.entries(BY_STRIKE)) {
    const column = columnOf(strikes);
    for (const band of [2, 20, 100]) {
      const matrix = callExtended(getGexMatrix, { ...args, measure, band }, context) as Matrix;
      const known = new Map(strikes.strike.map((strike, i) => [strike, column[i]!]));
      const inside = strikes.strike.filter((each) => Math.abs(each / chain.spot - 1) <= band / 100 + 1e-12);
      expect(matrix.strike).toEqual(inside);
      expect([matrix.count, matrix.strikes_left_out]).toEqual([inside.length, strikes.count - inside.length]);
      // Differences as shares of the gross sums that they may not exceed.
      const ofStrikes = matrix.strike.flatMap((strike, i) => {
        const cells = matrix.values.map((row) => row[i]!);
        const total = known.get(strike)!;
        return [sum(cells) - total, matrix.by_strike[i]! - total].map((each) => Math.abs(each) / most(cells));
      });
      expect(Math.max(0, ...ofStrikes)).toBeLessThanOrEqual(1e-12);
      const all = sum(column);
      expect(Math.abs(matrix.within_band + matrix.left_out - all)).toBeLessThanOrEqual(1e-9 * gross(column));
      expect(Math.abs(sum(matrix.values.flat()) - matrix.within_band)).toBeLessThanOrEqual(1e-9 * gross(column));
      expect(Math.abs(all - sum(matrix.by_expiry))).toBeLessThanOrEqual(1e-9 * gross(column));
    }
  }
}

/** Checks that the series and their sums are those of `get_gex_by_expiry`, and that a cell is null only without a live contract. */
function expectSeries(chain: Chain): void {
  const context = contextOf(chain);
  const args = { ticker: chain.underlying };
  const { root, expiry, settlement, open_interest, net_gex, gross_gex } = callExtended(
    getGexByExpiry,
    args,
    context,
  ) as Expiries;
  const matrix = callExtended(getGexMatrix, { ...args, band: 100, measure: 'open_interest' }, context) as Matrix;
  expect(matrix).toMatchObject({ root, expiry, settlement, series_count: root.length });
  for (const [row, each] of matrix.by_expiry.entries()) expect(each).toBeCloseTo(open_interest[row]!, 6);
  // The sums do not depend on the band, which selects only the cells.
  for (const band of [2, 20]) {
    const gamma = callExtended(getGexMatrix, { ...args, band }, context) as Matrix;
    for (const [row, each] of gamma.by_expiry.entries()) {
      expect(Math.abs(each - net_gex[row]!)).toBeLessThanOrEqual(1e-9 * gross_gex[row]!);
    }
  }
  const listed = new Set(
    Array.from(chain.strike, (strike, i) => {
      const series = chain.series[chain.seriesIndex[i]!]!;
      return `${series.root} ${series.expiry} ${strike}`;
    }),
  );
  for (const [row, values] of matrix.values.entries()) {
    expect(values).toHaveLength(matrix.count);
    const names = matrix.strike.map((strike) => `${root[row]} ${expiry[row]} ${strike}`);
    expect(values.map((each) => each !== null)).toEqual(names.map((name) => listed.has(name)));
  }
}

describe.each(['SPY', 'BRK.B'])('the simulated market, %s', (ticker) => {
  test('rows and columns add up to the answers by strike and by expiry', () => expectSums(simulated(ticker)));
  test('a cell is null only without a contract', () => expectSeries(simulated(ticker)));
});

describeRecorded('recorded chains', (dir) => {
  describe.each(recordedNames(dir))('%s', (name) => {
    test('rows and columns add up to the answers by strike', () => {
      expectSums(recordedChain(dir, name));
      expectSums(recordedChain(dir, name), { weight: 'volume', iv: 'own', expiries: 'next:40' });
    });
    test('a cell is null only without a contract', () => expectSeries(recordedChain(dir, name)));
  });
});

describe('cells', () => {
  const NDX = { underlying: 'NDX' };
  // Without volatilities, so that the call and the put of a strike are no pair.
  const only = (rest: object, strike: number, callPut: number, openInterest: number) =>
    contract({ root: 'NDX', expiry: EXPIRY, strike, callPut, openInterest, gamma: 1 / 128, ...rest });
  const rows = [
    ...[only({}, 90, 1, 5), only({}, 100, 1, 7), only({}, 100, -1, 2), only({}, 130, -1, 4)],
    ...[only({ root: 'NDXP' }, 100, 1, 0), only({ root: 'NDXP' }, 110, -1, 3)],
    ...[only({ expiry: LATER }, 110, 1, 6)],
  ];
  const { context } = smallMarket({ chains: [chainOf(rows, NDX)] });
  const ask = (more: object = {}) => callExtended(getGexMatrix, { ticker: 'NDX', ...more }, context) as Matrix;

  test('null is not 0, AM and PM series are apart, and calls and puts of a strike are added', () => {
    expect(ask({ measure: 'open_interest' })).toMatchObject({
      ...{ spot_price: 100, measure: 'open_interest', band: 20, count: 3, series_count: 3 },
      ...{ strike: [90, 100, 110], root: ['NDX', 'NDXP', 'NDX'], expiry: [EXPIRY, EXPIRY, LATER] },
      settlement: ['AM', 'PM', 'AM'],
      values: [
        [5, 9, null],
        [null, 0, 3],
        [null, null, 6],
      ],
      ...{ by_strike: [5, 9, 9], by_expiry: [18, 3, 6], within_band: 23, left_out: 4, strikes_left_out: 1 },
    });
  });

  test('gamma is net: calls are positive and puts negative', () => {
    // Gamma times contracts times the multiplier of 100 times 1 % of spot squared.
    const unit = (100 * 100) / 128;
    const { values, left_out } = ask(FEED_GAMMA);
    expect(values[0]).toEqual([5 * unit, (7 - 2) * unit, null]);
    expect([values[1], left_out]).toEqual([[null, 0, -3 * unit], -4 * unit]);
  });

  test.each([
    [10, [90, 100, 110]],
    [9.99, [100]],
    [30, [90, 100, 110, 130]],
    [100, [90, 100, 110, 130]],
  ])('a band of %p percent includes its edges', (band, strikes) => {
    expect(ask({ band }).strike).toEqual(strikes);
  });

  test('a band without strikes leaves all of them out', () => {
    const far = smallMarket({ chains: [chainOf(rows, { ...NDX, spot: 120 })] }).context;
    const args = { ticker: 'NDX', band: 1, measure: 'open_interest' };
    expect(callExtended(getGexMatrix, args, far) as Matrix).toMatchObject({
      ...{ strike: [], values: [[], [], []], by_expiry: [18, 3, 6], within_band: 0, left_out: 27, strikes_left_out: 4 },
    });
  });
});

test('with signed flow, the cells are those of the dealers’ positions', () => {
  const chain = chainOf(quoted({ strikes: range(95, 105), rest: { openInterest: 100 } }));
  const prints = [print({ callPut: -1, strike: 98, size: 10, side: 'bid' })];
  const { context } = smallMarket({ chains: [chain], prints });
  const ask = (sign: string) => callExtended(getGexMatrix, { ticker: 'ACME', sign }, context) as Matrix;
  const [flow, convention] = [ask('flow'), ask('calls_long_puts_short')];
  // The customer sold ten puts, so dealers are long ten puts: gamma that is positive, and a tenth of that of the 100 puts.
  const row = flow.strike.indexOf(98);
  expect(flow.values[0]!.filter((each) => each !== 0)).toEqual([flow.values[0]![row]!]);
  expect(flow.values[0]![row]!).toBeGreaterThan(0);
  // By the convention the call and the put of a strike cancel each other.
  expect(Math.abs(convention.values[0]![row]!)).toBeLessThan(1e-6 * flow.values[0]![row]!);
  expect(flow.sign_convention).not.toBe(convention.sign_convention);
});

test.each([
  [{ measure: 'theta' }, '/measure'],
  [{ band: 0.5 }, '/band'],
  [{ band: 101 }, '/band'],
  [{ band: '20' }, '/band'],
  [{ weight: 'money' }, '/weight'],
])('refuses %p', (more, field) => {
  const ask = () => callExtended(getGexMatrix, { ticker: 'UUP', ...more }, contextOf(simulated('UUP')));
  expect(refusalOf(ask).fields).toEqual([field]);
});
