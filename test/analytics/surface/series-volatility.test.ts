import { expect, test } from 'bun:test';
import { atmVolatility } from '../../../src/analytics/chain/smile-variance.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { quotedRange } from '../../../src/analytics/surface/fitted-surface.ts';
import { seriesSkew, seriesVolatility } from '../../../src/analytics/surface/series-volatility.ts';
import { smileFigures } from '../../../src/analytics/surface/smile-figures.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { LATER, prepared, quoted, range } from '../small-chains.ts';

/** A smile with noise in the quotes: the volatility of each strike is off by up to 2 %. */
const NOISY = (strike: number) => 0.3 - 0.2 * Math.log(strike / 100) + 0.006 * Math.sin(7 * strike);
const ROWS = quoted({ strikes: range(80, 125), iv: NOISY, halfSpread: 0.03 });

function volatilityOf(rows: readonly ContractRow[], options: Parameters<typeof prepared>[1] = {}) {
  const chain = prepared([...ROWS, ...rows], options);
  const surface = runToCompletion(fitSurface(chain));
  const series = chain.series.at(-1)!;
  const skew = seriesSkew(surface, chain, series);
  return { ...seriesVolatility(surface, chain, series), skew, series, surface };
}

test('a series with a law has its figures, and the price of the straddle by the law', () => {
  const { iv, expectedMove, straddle, skew, refused, series, surface } = volatilityOf([]);
  const { law, tte } = surface.slices[0]!;
  const { atm, skew25 } = smileFigures(law, tte, quotedRange(surface.slices[0]!));
  expect([iv, skew, refused]).toEqual([expect.closeTo(atm, 12), expect.closeTo(skew25, 12), null]);
  expect(Math.abs(iv! - atmVolatility(series))).toBeGreaterThan(1e-4);
  expect(expectedMove).toBeCloseTo(series.forward * atm * Math.sqrt(tte), 9);
  // The integral of |S - F| over the density.
  let mean = 0;
  for (let k = 0.3; k < 3; k += 5e-5) mean += Math.abs(k - 1) * law.density(k) * 5e-5;
  expect(straddle! / series.forward).toBeCloseTo(mean, 6);
  expect(straddle! / expectedMove!).toBeWithin(0.75, 0.85);
});

test('an option that chooses the volatilities of the feed gives those of its smile', () => {
  const { iv, series } = volatilityOf([], { iv: 'feed' });
  expect(iv).toBe(atmVolatility(series));
});

const side = (strikes: readonly number[], iv = 0.3) => quoted({ expiry: LATER, strikes, iv, halfSpread: 0.05 });
/** Takes the bids from all puts below a strike and all calls above another, which leaves fewer usable quotes. */
const onlyBetween = (rows: readonly ContractRow[], low: number, high: number) =>
  rows.map((row) => (row.strike < low || row.strike > high ? { ...row, bid: 0 } : row));

// The forward is 100.5.
test.each<[string, ContractRow[], number | null, string | null]>([
  ['puts are quoted, and one call', onlyBetween(side(range(90, 110)), 90, 101), 0.3, 'one_sided'],
  ['two strikes next to the forward', side([100, 101]), 0.3, 'too_few_strikes'],
  ['no call is quoted', onlyBetween(side(range(90, 110)), 90, 100), null, 'one_sided'],
  ['the next call has no bid', onlyBetween(side(range(90, 101)), 90, 100), null, 'one_sided'],
  ['no strike above the forward', side(range(90, 100)), null, 'one_sided'],
  ['the strikes next to the forward are far from it', side([88, 115]), null, 'too_few_strikes'],
  ['a wall of zero bids', onlyBetween(side(range(90, 110)), 0, 0), null, 'no_volatility'],
])('a series without a law: %s', (_, rows, iv, reason) => {
  const figures = volatilityOf(rows);
  expect(figures.refused as string | null).toBe(reason);
  expect([figures.skew, figures.series.series.expiry]).toEqual([null, LATER]);
  if (iv === null) {
    expect(figures).toMatchObject({ iv: null, expectedMove: null, straddle: null, band: { bid: Number.NaN } });
    return;
  }
  expect(figures.iv!).toBeCloseTo(iv, 3);
  expect(figures.iv!).toBeWithin(figures.band.bid, figures.band.ask);
  expect(figures.straddle! / figures.expectedMove!).toBeCloseTo(Math.sqrt(2 / Math.PI), 2);
});
