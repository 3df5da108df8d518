import { describe, expect, test } from 'bun:test';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { quotedRange } from '../../../src/analytics/surface/fitted-surface.ts';
import { smileFigures } from '../../../src/analytics/surface/smile-figures.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { randomOf } from '../../../src/feeds/simulated/random.ts';
import { FAMILIES, simulatedMarket, truthOf } from '../../support/simulated-markets.ts';
import { IS_FULL } from '../../support/size.ts';
import { EXPIRY, prepared, quoted, range } from '../small-chains.ts';
import { humps } from './quote-checks.ts';

const MARKETS = IS_FULL ? 6 : 2;
/** Largest errors of a variance swap (vol points) and of a kurtosis (share of the true one). */
const SWAP_ERRORS = { 3: 1, 4: 0.5 } as const;
const KURTOSIS_ERROR = 0.25;

describe.each(Object.entries(FAMILIES))('markets of %s', (name, family) => {
  test.each([3, 4] as const)(
    'with strikes to %d standard deviations: variance swap, kurtosis and its share beyond the quotes',
    (reach) => {
      const { uniform } = uniformOf(reach * 100 + name.length);
      for (let i = 0; i < MARKETS; i++) {
        const model = family(uniform);
        const { chain, settlements } = simulatedMarket(model, reach, uniform(0.002, 0.03));
        const { slices } = runToCompletion(fitSurface(chain));
        expect(slices).toHaveLength(settlements.length);
        for (const [n, slice] of slices.entries()) {
          const quoted = quotedRange(slice);
          const truth = truthOf(model, settlements[n]!, quoted);
          const { varianceSwap, varianceSwapLow, varianceSwapHigh, kurtosis } = smileFigures(
            slice.law,
            slice.tte,
            quoted,
          );
          expect(Math.abs(100 * (varianceSwap - truth.varianceSwap))).toBeLessThan(SWAP_ERRORS[reach]);
          expect(varianceSwap).toBeWithin(varianceSwapLow - 1e-12, varianceSwapHigh + 1e-12);
          const isKnown = !Number.isNaN(kurtosis);
          if (truth.share < 0.4) expect(isKnown).toBe(true);
          if (truth.share > 0.6) expect(isKnown).toBe(false);
          if (isKnown) expect(Math.abs(kurtosis / truth.kurtosis - 1)).toBeLessThan(KURTOSIS_ERROR);
          expect(humps(slice)).toEqual([]);
        }
      }
    },
  );
});

function uniformOf(seed: number) {
  const { uniform } = randomOf(seed);
  return { uniform: (low: number, high: number) => low + (high - low) * uniform() };
}

describe('quotes at the edge', () => {
  const strikes = range(80, 120);
  const rows = quoted({ strikes, iv: 0.3, halfSpread: 0.02 });
  const lowest = (added: typeof rows) => {
    const slice = runToCompletion(fitSurface(prepared([...rows, ...added]))).slices[0]!;
    return { slice, priceAt: (strike: number) => slice.law.price(-1, strike / slice.forward) * slice.forward };
  };

  test('the ask of an option without a bid is an upper bound', () => {
    const free = lowest([]).priceAt(75);
    const [put] = quoted({ strikes: [75], iv: 0.3 }).filter(({ callPut }) => callPut === -1);
    const bound = { ...put!, bid: 0, ask: free / 2 };
    expect(lowest([bound]).priceAt(75)).toBeLessThan(0.75 * free);
    // A higher ask binds nothing.
    expect(lowest([{ ...bound, ask: 40 * free }]).priceAt(75) / free).toBeWithin(0.9, 1.1);
  });

  test('a quote that two later settlements contradict is left out and counted', () => {
    const later = ['2026-02-20', '2026-03-20'].flatMap((expiry) =>
      quoted({ expiry, strikes, iv: 0.3, halfSpread: 0.02 }),
    );
    const wide = quoted({ expiry: EXPIRY, strikes: range(97, 103), iv: 0.3, halfSpread: 1 });
    const [stale] = quoted({ expiry: EXPIRY, strikes: [60], iv: 0.3 }).filter(({ callPut }) => callPut === -1);
    const chain = prepared([...wide, { ...stale!, bid: 0.5, ask: 1.5 }, ...later]);
    const [slice] = runToCompletion(fitSurface(chain)).slices;
    expect([slice!.leftOut, slice!.quotes.moneyness.some((each) => each < 0.7)]).toEqual([1, false]);
    expect(lowest(later).slice.leftOut).toBe(0);
  });
});
