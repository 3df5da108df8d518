import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import { type Density, densityOf, QUANTILES } from '../../../src/analytics/density/density.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { blackScholesPrice, normalCdf } from '../plain.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { SIMULATED, simulated } from '../simulated.ts';
import { contract, EXPIRY, prepared, type Quotes, quoted, range, yearsTo } from '../small-chains.ts';

const TTE = yearsTo('ACME', EXPIRY);

function density(quotes: Partial<Quotes> = {}): Density {
  const ready = prepared(quoted({ strikes: range(80, 120), halfSpread: 0.01, ...quotes }));
  return densityOf(ready, ready.series[0]!);
}

/** Flat, skewed to the left or the right, convex, and with few strikes. */
const SHAPES: Record<string, Density> = {
  flat: density({ iv: 0.3 }),
  skew: density({ iv: (strike) => 0.3 - 0.4 * Math.log(strike / 100) }),
  'right skew': density({ iv: (strike) => 0.3 + 0.4 * Math.log(strike / 100) }),
  smile: density({ iv: (strike) => 0.25 + 6 * Math.log(strike / 100) ** 2, dividend: 0.03 }),
  'three strikes': density({ strikes: [95, 100, 105] }),
};

describe.each(Object.keys(SHAPES))('with the smile shape: %s', (shape) => {
  const found = SHAPES[shape]!;
  /** Bounds beyond which there is no probability. */
  const [low, high] = [found.forward / 8, found.forward * 8];
  const step = found.forward / 4000;

  test('has mass one, and the distribution never decreases with the price', () => {
    expect(found.cdf(low)).toBeLessThan(1e-9);
    expect(found.cdf(high)).toBeGreaterThan(1 - 1e-9);
    let before = 0;
    for (let price = low; price <= high; price += 10 * step) {
      expect(found.cdf(price)).toBeGreaterThanOrEqual(before);
      before = found.cdf(price);
    }
    expect(found.components.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 12);
  });

  test('its mean is the forward', () => {
    // The mean of a positive variable is the area above its distribution function.
    let mean = low;
    for (let price = low; price < high; price += step) mean += step * (1 - found.cdf(price + step / 2));
    expect(mean / found.forward).toBeCloseTo(1, 6);
    expect(found.components.reduce((sum, { weight, mean: its }) => sum + weight * its, 0)).toBeCloseTo(1, 12);
  });

  test('an option priced at the implied variance is worth its expected payoff', () => {
    for (const x of [-0.3, -0.1, 0, 0.05, 0.2]) {
      const [callPut, strike] = [x < 0 ? -1 : 1, found.forward * Math.exp(x)];
      // The payoff beyond the strike is the area of the distribution there.
      let paid = 0;
      for (let price = low; price < high; price += step) {
        const middle = price + step / 2;
        if (callPut * (middle - strike) > 0) paid += step * (callPut === 1 ? 1 - found.cdf(middle) : found.cdf(middle));
      }
      const iv = Math.sqrt(found.totalVariance(x) / TTE);
      const option = { callPut, spot: found.forward, strike, tte: TTE, iv, rate: 0, dividend: 0 };
      expect(Math.abs(blackScholesPrice(option) - paid) / found.forward).toBeLessThan(1e-4);
    }
  });

  test('implied variance is finite and positive at any strike, and flat where prices vanish', () => {
    for (const x of [-1e3, -20, -3, 3, 20, 1e3]) expect(found.totalVariance(x)).toBeWithin(1e-4, 1);
    expect(found.totalVariance(-1e3)).toBe(found.totalVariance(-20));
    expect(found.totalVariance(1e3)).toBe(found.totalVariance(20));
  });

  test('quantiles invert the distribution', () => {
    expect(found.quantiles).toHaveLength(QUANTILES.length);
    found.quantiles.forEach((price, i) => {
      expect(found.cdf(price)).toBeCloseTo(QUANTILES[i]!, 9);
    });
  });

  test('has its highest density at the mode', () => {
    const at = (price: number) => found.cdf(price + 0.01) - found.cdf(price - 0.01);
    for (let price = 70; price < 140; price += 0.25) expect(at(price)).toBeLessThanOrEqual(at(found.mode) + 1e-9);
  });

  test('the distribution is the mixture of its lognormal components', () => {
    const { components, forward, cdf } = found;
    for (const price of [85, 97, 100, 104, 130]) {
      const plain = components.reduce((sum, { weight, mean, volatility }) => {
        const deviation = volatility * Math.sqrt(TTE);
        return sum + weight * normalCdf(Math.log(price / (forward * mean)) / deviation + deviation / 2);
      }, 0);
      expect(cdf(price)).toBeCloseTo(plain, 12);
    }
  });
});

describe('summary figures', () => {
  test('for a flat smile equal those of the lognormal', () => {
    const { flat } = SHAPES;
    expect(flat!.atmIv).toBeCloseTo(0.3, 6);
    expect(flat!.expectedMove).toBeCloseTo(flat!.forward * 0.3 * Math.sqrt(TTE), 3);
    expect(Math.abs(flat!.skewness)).toBeLessThan(0.01);
    expect(flat!.divergence).toBeLessThan(1e-4);
    expect(flat!.fitError).toBeLessThan(0.05);
    expect(flat!.mode).toBeCloseTo(flat!.forward * Math.exp(-1.5 * 0.09 * TTE), 1);
  });

  test('skewness has the sign of the skew, and divergence grows with the skew', () => {
    expect(SHAPES.skew!.skewness).toBeLessThan(-0.1);
    expect(SHAPES['right skew']!.skewness).toBeGreaterThan(0.1);
    for (const shape of ['skew', 'right skew', 'smile']) {
      expect(SHAPES[shape]!.divergence).toBeGreaterThan(100 * SHAPES.flat!.divergence);
      expect(SHAPES[shape]!.divergence).toBeLessThan(0.5);
    }
  });

  test('fits clean quotes to a fraction of a vol point', () => {
    for (const shape of ['skew', 'right skew', 'smile']) expect(SHAPES[shape]!.fitError).toBeLessThan(0.5);
  });
});

describe('choice of the model', () => {
  test('fewer than four strikes: the single lognormal of the volatility at the money', () => {
    const { components, points, atmIv, skewness, divergence } = SHAPES['three strikes']!;
    expect(components).toEqual([{ weight: 1, mean: 1, volatility: atmIv }]);
    expect(points).toBe(3);
    expect([skewness, divergence]).toEqual([0, expect.closeTo(0, 9)]);
  });

  test.each([
    ['four strikes: two components', range(60, 150, 30), 2],
    ['seven: still two', range(40, 160, 20), 2],
    ['twenty-nine: three', range(40, 180, 5), 3],
  ])('%s', (_what, strikes, components) => {
    const iv = (strike: number) => 0.2 + 0.2 * Math.abs(Math.log(strike / 110)) - 0.2 * Math.log(strike / 100);
    expect(density({ strikes, iv, expiry: '2027-01-15' }).components).toHaveLength(components);
  });

  // Regression test: strikes of an underlying at a few dollars are far apart, and a single volatility for all of them
  // was off by 15 points.
  test('fits four strikes that are far apart', () => {
    const iv = (strike: number) => 1.1 + 0.12 * Math.log(strike / 100) ** 2;
    expect(density({ strikes: [112, 225, 337, 450], iv, expiry: '2027-01-15' }).fitError).toBeLessThan(0.1);
  });

  test('leaves out strikes without a bid if five strikes have one, else uses them', () => {
    const bid = quoted({ strikes: range(85, 115), iv: 0.3 }).filter(
      ({ strike, callPut }) => strike <= 100 === (callPut === -1),
    );
    const of = (bids: number) => {
      const rows = bid.map((row, i) => (i < bids ? row : { ...row, bid: Number.NaN, ask: Number.NaN, iv: 0.3 }));
      const ready = prepared(rows);
      return densityOf(ready, ready.series[0]!).points;
    };
    expect([of(5), of(4), of(0)]).toEqual([5, 31, 31]);
  });

  test('does not use interpolated strikes as quotes', () => {
    const rows = [...quoted({ strikes: range(90, 110) }), contract({ strike: 102.5 }), contract({ strike: 130 })];
    const ready = prepared(rows);
    expect(ready.counts.iv).toMatchObject({ interpolated: 1, extended: 1 });
    expect(densityOf(ready, ready.series[0]!).points).toBe(21);
    const own = range(95, 98).map((strike) => contract({ strike, callPut: -1, iv: 0.3 }));
    const unquoted = prepared([...own, contract({ strike: 102 })], { forward: 'flat', rate: 0 });
    expect(unquoted.counts.iv).toMatchObject({ taken: 4, extended: 1 });
    expect(densityOf(unquoted, unquoted.series[0]!).points).toBe(4);
  });

  test.each([0.6, 0.8, 1.2])('one outlier quote at a volatility of %d does not distort the quantiles', (iv) => {
    const found = withAbsurd(iv, 0.01);
    found.quantiles.forEach((price, i) => {
      expect(Math.abs(price - SHAPES.flat!.quantiles[i]!)).toBeLessThan(0.1);
    });
    expect(Math.abs(found.skewness)).toBeLessThan(0.05);
  });

  test('a strike with a wider quote has less weight', () => {
    // A price that is too low, at the edge, where no other quote contradicts it.
    const edge = (halfSpread: number) => {
      const rows = quoted({ strikes: range(85, 103), halfSpread: 0.01 });
      const [cheap] = quoted({ strikes: [104], iv: 0.2, halfSpread });
      const ready = prepared([...rows, cheap!]);
      return densityOf(ready, ready.series[0]!).fitError;
    };
    expect(edge(0.1)).toBeLessThan(0.8 * edge(0.01));
  });

  /** A flat smile with narrow quotes, except for one call. */
  function withAbsurd(iv: number, halfSpread: number): Density {
    const [absurd] = quoted({ strikes: [108], iv, halfSpread });
    const rows = quoted({ strikes: range(80, 120), halfSpread: 0.01 });
    const ready = prepared(rows.map((row) => (row.strike === 108 && row.callPut === 1 ? absurd! : row)));
    return densityOf(ready, ready.series[0]!);
  }

  test('computes the density of a series only once', () => {
    const ready = prepared(quoted({ strikes: range(80, 120) }));
    expect(densityOf(ready, ready.series[0]!)).toBe(densityOf(ready, ready.series[0]!));
  });
});

const INTERVALS = 1200;

/** Checks every series of a chain: integrates its distribution by Simpson's rule over the logarithm of the price. */
function judgeDensities(chain: Chain): void {
  const ready = prepareChain(chain, DEFAULT_OPTIONS);
  const series = ready.series.filter(({ smile }) => smile.logMoneyness.length > 0);
  expect(series.length).toBeGreaterThan(0);
  for (const each of series) {
    const { forward, components, quantiles, cdf, ...figures } = densityOf(ready, each);
    expect(forward).toBe(each.forward);
    for (const figure of [...quantiles, figures.atmIv, figures.expectedMove, figures.mode, figures.fitError]) {
      expect(figure).toBeGreaterThanOrEqual(0);
      expect(figure).toBeFinite();
    }
    expect(figures.skewness).toBeFinite();
    expect(figures.divergence).toBeWithin(0, 10);
    quantiles.forEach((price, i) => {
      expect(cdf(price)).toBeCloseTo(QUANTILES[i]!, 9);
    });
    const reach = Math.max(
      ...components.map(({ mean, volatility }) => Math.abs(Math.log(mean)) + 10 * volatility * Math.sqrt(each.tte)),
    );
    const step = (2 * reach) / INTERVALS;
    const [mass, mean] = [cdf(forward * Math.exp(reach)) - cdf(forward * Math.exp(-reach)), Math.exp(-reach)];
    let [above, falls, before] = [0, 0, 0];
    for (let i = 0; i <= INTERVALS; i++) {
      const moneyness = Math.exp(i * step - reach);
      const below = cdf(forward * moneyness);
      if (below < before) falls++;
      before = below;
      const simpson = i === 0 || i === INTERVALS ? 1 : i % 2 === 1 ? 4 : 2;
      above += (simpson * step * moneyness * (1 - below)) / 3;
    }
    // Not negative, mass one, and the mean of a positive variable is the area above its distribution.
    expect(falls).toBe(0);
    expect(Math.abs(mass - 1)).toBeLessThan(1e-12);
    expect(Math.abs(mean + above - 1)).toBeLessThan(1e-6);
  }
}

describe('densities of simulated chains are positive, have mass one, and have the forward as mean', () => {
  test.each(SIMULATED)('%s', (ticker) => judgeDensities(simulated(ticker)));
});

describeRecorded('densities of recorded chains are positive, of mass one, and of the forward for their mean', (dir) => {
  test.each(recordedNames(dir))('%s', (name) => judgeDensities(recordedChain(dir, name)));
});

// The median and the largest error over all series, in vol points. XLE and XLF have quotes so wide (at the median 5 and
// 2.4 points from the middle to either side) that neighbouring strikes differ by as much. The others show the quality
// of the fit.
describeRecorded('fits of recorded chains', (dir) => {
  test.each([
    ['SPX 2022-12-12', 0.15, 1],
    ['SPY 2025-09-25', 0.35, 0.5],
    ['RUT 2023-09-21', 0.1, 0.2],
    ['AAPL 2026-08-21', 0.2, 0.5],
    ['TSLA 2026-08-21', 0.15, 0.3],
    ['XLE 2026-08-21', 2.7, 6.2],
    ['XLF 2026-08-21', 1.7, 5.8],
  ] as const)('%s: median error %d, largest error %d', (name, median, worst) => {
    const ready = prepareChain(recordedChain(dir, name), DEFAULT_OPTIONS);
    const series = ready.series.filter(({ smile }) => smile.logMoneyness.length > 0);
    const errors = series.map((each) => densityOf(ready, each).fitError).sort((a, b) => a - b);
    expect(errors[errors.length >> 1]).toBeLessThan(median);
    expect(errors.at(-1)).toBeLessThan(worst);
  });
});
