import { describe, expect, test } from 'bun:test';
import { findEvents, termResidual, termStructure } from '../../../src/analytics/surface/event-variance.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { quotedRange } from '../../../src/analytics/surface/fitted-surface.ts';
import { tailFigures } from '../../../src/analytics/surface/tail-figures.ts';
import { endBeyond } from '../../../src/analytics/surface/touch-probability.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, recordedNames } from '../recorded.ts';
import { preparedChain } from '../small-chains.ts';
import { humps, outsideVerticals, sumCounts, withinBands } from './quote-checks.ts';

/** Chains with fewer two-sided quotes near the money than this are sparse: a share of them is not compared with the bound. */
const QUOTES_MIN = 400;
/** Bounds of the root mean square distance from a smooth term structure, as a share of the volatility; of other chains 1.5 %. */
const RESIDUAL_MAX: Readonly<Record<string, number>> = { SPX: 0.02, SPY: 0.02, XLF: 0.02, XLK: 0.03 };
/** Chains whose bands at the money are wide (F 4 to 10 %, funds more than 10 % on most dates). Their errors are of quotes, and not of the clock. */
const WIDE: Readonly<Record<string, true>> = { F: true, XLF: true, XLK: true };
/** Chains with fewer quotes beyond three standard deviations have too few for a share. */
const FAR_QUOTES_MIN = 100;
const TIMES = 60;
const STRIKES = 200;

describeRecorded('surfaces of recorded chains', (dir) => {
  describe.each(recordedNames(dir))('%s', (name) => {
    const chain = recordedChain(dir, name);
    const surface = runToCompletion(fitSurface(preparedChain(chain)));

    test('quotes are within their bands after the fit', () => {
      const { within, count } = sumCounts(surface.slices.map((slice) => withinBands(slice)));
      expect(within / count).toBeGreaterThanOrEqual(count >= QUOTES_MIN ? 0.97 : 0.85);
    });

    test('probabilities are within the bounds of adjacent quoted verticals', () => {
      const { outside, count } = sumCounts(
        surface.slices.map((slice) => outsideVerticals(slice, (side, strike) => endBeyond(slice.law, side, strike))),
      );
      expect(outside).toBeLessThanOrEqual(0.03 * count);
    });

    // Fitted to volatilities of the feed, which are no quotes, the last nodes may have an atom.
    test.if(surface.source === 'quotes')('no density rises again beyond the outermost quotes', () => {
      for (const slice of surface.slices) expect(humps(slice), String(slice.tte)).toEqual([]);
    });

    test('a variance swap is inside its band', () => {
      for (const slice of surface.slices) {
        const { total, varianceSwap } = tailFigures(slice.law, quotedRange(slice));
        expect(total).toBeWithin(varianceSwap[0] * (1 - 1e-12), varianceSwap[1] * (1 + 1e-12));
      }
    });

    test.if(surface.source === 'quotes')('quotes beyond three standard deviations are within their bands', () => {
      const { within, count } = sumCounts(
        surface.slices.map((slice) => withinBands(slice, 3, Number.POSITIVE_INFINITY)),
      );
      if (count >= FAR_QUOTES_MIN) expect(within / count).toBeGreaterThanOrEqual(0.9);
    });

    test('the term structure at the money is smooth in trading time, apart from events', () => {
      const points = termStructure(surface);
      const events = runToCompletion(findEvents(points));
      const residual = termResidual(points, events)!;
      const inCalendar = points.map((point, i) => ({ ...point, years: surface.slices[i]!.tte }));
      expect(residual).toBeLessThan(RESIDUAL_MAX[chain.underlying] ?? 0.015);
      if (!(chain.underlying in WIDE)) expect(residual).toBeLessThan(0.95 * termResidual(inCalendar, [])!);
      for (const { variance, settlement } of events) {
        const before = surface.slices[settlement - 1]?.atmVariance ?? 0;
        expect(variance).toBeLessThan(surface.slices[settlement]!.atmVariance - before);
      }
    });

    test('no calendar or butterfly spread has a negative price, and the mean is the forward', () => {
      const [first, last] = [surface.slices[0]!, surface.slices.at(-1)!];
      const width = Math.sqrt(last.atmVariance);
      const strikes = Array.from({ length: STRIKES }, (_, i) => Math.exp(((6 * i) / (STRIKES - 1) - 3.5) * width));
      let before = strikes.map(() => 0);
      for (let i = 0; i < TIMES; i++) {
        const [from, to] = [0.3 * (first.settlesAt - chain.asOf), 1.2 * (last.settlesAt - chain.asOf)];
        const { law } = surface.lawAt(chain.asOf + from + (to - from) * (i / (TIMES - 1)) ** 2);
        const mean = law.masses.reduce((sum, mass, j) => sum + mass * law.nodes[j]!, 0);
        expect(Math.abs(mean - 1)).toBeLessThan(1e-10);
        const prices = strikes.map((strike) => law.price(strike < 1 ? -1 : 1, strike));
        expect(prices.filter((price, j) => price < before[j]! * (1 - 1e-12))).toEqual([]);
        before = prices;
        const above = strikes.map((strike) => law.above(strike));
        expect(above.filter((each, j) => j > 0 && each > above[j - 1]! + 1e-15)).toEqual([]);
      }
    });
  });
});
