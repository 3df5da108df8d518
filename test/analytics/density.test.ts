import { describe, expect, test } from 'bun:test';
import { type Density, densityOf, QUANTILES } from '../../src/analytics/density.ts';
import { DEFAULT_OPTIONS } from '../../src/analytics/options.ts';
import { prepareChain } from '../../src/analytics/prepare.ts';
import { describeRecorded } from '../support/recorded-chains.ts';
import { normalCdf } from './plain.ts';
import { recordedChain, recordedNames } from './recorded.ts';
import { contract, EXPIRY, prepared, type Quotes, quoted, range, yearsTo } from './small-chains.ts';

const TTE = yearsTo('ACME', EXPIRY);

function density(quotes: Partial<Quotes> = {}): Density {
  const ready = prepared(quoted({ strikes: range(80, 120), halfSpread: 0.01, ...quotes }));
  return densityOf(ready, ready.series[0]!);
}

/** Flat, skewed to the left, to the right, smiling, and of few strikes. */
const SHAPES: Record<string, Density> = {
  flat: density({ iv: 0.3 }),
  skew: density({ iv: (strike) => 0.3 - 0.4 * Math.log(strike / 100) }),
  'right skew': density({ iv: (strike) => 0.3 + 0.4 * Math.log(strike / 100) }),
  smile: density({ iv: (strike) => 0.25 + 6 * Math.log(strike / 100) ** 2, dividend: 0.03 }),
  'four strikes': density({ strikes: [95, 100, 105, 110] }),
};

describe.each(Object.keys(SHAPES))('of a smile that is %s', (shape) => {
  const found = SHAPES[shape]!;
  /** Far beyond what has any probability. */
  const [low, high] = [found.forward / 8, found.forward * 8];
  const step = found.forward / 4000;

  test('has mass one, and never less below a higher price', () => {
    expect(found.cdf(low)).toBeLessThan(1e-9);
    expect(found.cdf(high)).toBeGreaterThan(1 - 1e-9);
    let before = 0;
    for (let price = low; price <= high; price += 10 * step) {
      expect(found.cdf(price)).toBeGreaterThanOrEqual(before);
      before = found.cdf(price);
    }
    expect(found.components.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 12);
  });

  test('has the forward for its mean', () => {
    // The mean of a positive number is the area above its distribution function.
    let mean = low;
    for (let price = low; price < high; price += step) mean += step * (1 - found.cdf(price + step / 2));
    expect(mean / found.forward).toBeCloseTo(1, 6);
    expect(found.components.reduce((sum, { weight, mean: its }) => sum + weight * its, 0)).toBeCloseTo(1, 12);
  });

  test('quantiles invert the distribution', () => {
    expect(found.quantiles).toHaveLength(QUANTILES.length);
    found.quantiles.forEach((price, at) => {
      expect(found.cdf(price)).toBeCloseTo(QUANTILES[at]!, 9);
    });
  });

  test('is densest at its mode', () => {
    const at = (price: number) => found.cdf(price + 0.01) - found.cdf(price - 0.01);
    for (let price = 70; price < 140; price += 0.25) expect(at(price)).toBeLessThanOrEqual(at(found.mode) + 1e-9);
  });

  test('components are lognormals the distribution is made of', () => {
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

describe('figures', () => {
  test('of a flat smile are those of the lognormal', () => {
    const { flat } = SHAPES;
    expect(flat!.atmIv).toBeCloseTo(0.3, 6);
    expect(flat!.expectedMove).toBeCloseTo(flat!.forward * 0.3 * Math.sqrt(TTE), 3);
    expect(Math.abs(flat!.skewness)).toBeLessThan(0.01);
    expect(flat!.divergence).toBeLessThan(1e-4);
    expect(flat!.fitError).toBeLessThan(0.05);
    expect(flat!.mode).toBeCloseTo(flat!.forward * Math.exp(-1.5 * 0.09 * TTE), 1);
  });

  test('skewness has the sign of the skew, divergence grows with it', () => {
    expect(SHAPES.skew!.skewness).toBeLessThan(-0.1);
    expect(SHAPES['right skew']!.skewness).toBeGreaterThan(0.1);
    for (const shape of ['skew', 'right skew', 'smile']) {
      expect(SHAPES[shape]!.divergence).toBeGreaterThan(100 * SHAPES.flat!.divergence);
      expect(SHAPES[shape]!.divergence).toBeLessThan(0.5);
    }
  });

  test('clean quotes are fitted to a fraction of a vol point', () => {
    for (const shape of ['skew', 'right skew', 'smile']) expect(SHAPES[shape]!.fitError).toBeLessThan(0.5);
  });
});

describe('what it is fitted to', () => {
  test('fewer than five strikes: the single lognormal of the volatility at the money', () => {
    const { components, points, atmIv, skewness, divergence } = SHAPES['four strikes']!;
    expect(components).toEqual([{ weight: 1, mean: 1, volatility: atmIv }]);
    expect(points).toBe(4);
    expect([skewness, divergence]).toEqual([0, expect.closeTo(0, 9)]);
  });

  test('five strikes: a mixture', () => {
    expect(density({ strikes: [90, 95, 100, 105, 110] }).components.length).toBeGreaterThanOrEqual(2);
  });

  test('strikes without a bid are left out where five have one, else they count', () => {
    const bid = quoted({ strikes: range(85, 115), iv: 0.3 }).filter(
      ({ strike, callPut }) => strike <= 100 === (callPut === -1),
    );
    const of = (bids: number) => {
      const rows = bid.map((row, at) => (at < bids ? row : { ...row, bid: Number.NaN, ask: Number.NaN, iv: 0.3 }));
      const ready = prepared(rows);
      return densityOf(ready, ready.series[0]!).points;
    };
    expect([of(5), of(4), of(0)]).toEqual([5, 31, 31]);
  });

  test('interpolated strikes are no quotes', () => {
    const rows = [...quoted({ strikes: range(90, 110) }), contract({ strike: 102.5 }), contract({ strike: 130 })];
    const ready = prepared(rows);
    expect(ready.counts.iv).toMatchObject({ interpolated: 1, extended: 1 });
    expect(densityOf(ready, ready.series[0]!).points).toBe(21);
    const own = range(95, 98).map((strike) => contract({ strike, callPut: -1, iv: 0.3 }));
    const unquoted = prepared([...own, contract({ strike: 102 })], { forward: 'flat', rate: 0 });
    expect(unquoted.counts.iv).toMatchObject({ taken: 4, extended: 1 });
    expect(densityOf(unquoted, unquoted.series[0]!).points).toBe(4);
  });

  test.each([0.6, 0.8, 1.2])('one quote at a volatility of %d, and it alone, bends no quantile', (iv) => {
    const found = withAbsurd(iv, 0.01);
    found.quantiles.forEach((price, at) => {
      expect(Math.abs(price - SHAPES.flat!.quantiles[at]!)).toBeLessThan(0.1);
    });
    expect(Math.abs(found.skewness)).toBeLessThan(0.05);
  });

  test('the wider its quote, the less a strike counts', () => {
    // Too cheap at the edge: no other quote contradicts it.
    const edge = (halfSpread: number) => {
      const rows = quoted({ strikes: range(85, 103), halfSpread: 0.01 });
      const [cheap] = quoted({ strikes: [104], iv: 0.2, halfSpread });
      const ready = prepared([...rows, cheap!]);
      return densityOf(ready, ready.series[0]!).fitError;
    };
    expect(edge(0.1)).toBeLessThan(0.8 * edge(0.01));
  });

  /** A flat smile, tightly quoted, but for one call. */
  function withAbsurd(iv: number, halfSpread: number): Density {
    const [absurd] = quoted({ strikes: [108], iv, halfSpread });
    const rows = quoted({ strikes: range(80, 120), halfSpread: 0.01 });
    const ready = prepared(rows.map((row) => (row.strike === 108 && row.callPut === 1 ? absurd! : row)));
    return densityOf(ready, ready.series[0]!);
  }

  test('once a series', () => {
    const ready = prepared(quoted({ strikes: range(80, 120) }));
    expect(densityOf(ready, ready.series[0]!)).toBe(densityOf(ready, ready.series[0]!));
  });
});

describeRecorded('densities of recorded chains', (dir) => {
  // A fit takes milliseconds and there are 300 series: a few of each chain, the nearest and the farthest among them.
  test.each(recordedNames(dir))('%s', (name) => {
    const ready = prepareChain(recordedChain(dir, name), DEFAULT_OPTIONS);
    const series = ready.series.filter(({ smile }) => smile.logMoneyness.length > 0);
    const stride = Math.ceil(series.length / 4);
    for (const each of series.filter((_, at) => at % stride === 0 || at === series.length - 1)) {
      const found = densityOf(ready, each);
      const { forward, quantiles, cdf } = found;
      const figures = [found.atmIv, found.expectedMove, found.mode, found.skewness, found.divergence, found.fitError];
      for (const figure of [...figures, ...quantiles]) expect(figure).toBeFinite();
      quantiles.forEach((price, at) => {
        expect(cdf(price)).toBeCloseTo(QUANTILES[at]!, 9);
      });
      const steps = range(-60, 60).map((at) => cdf(forward * Math.exp((at / 10) * found.atmIv * Math.sqrt(each.tte))));
      steps.forEach((probability, at) => {
        expect(probability).toBeWithin(0, 1 + 1e-12);
        if (at > 0) expect(probability).toBeGreaterThanOrEqual(steps[at - 1]!);
      });
      expect(found.components.reduce((sum, { weight, mean }) => sum + weight * mean, 0)).toBeCloseTo(1, 9);
      expect(found.divergence).toBeGreaterThanOrEqual(0);
    }
  });
});
