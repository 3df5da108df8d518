import { describe, expect, test } from 'bun:test';
import { DEFAULT_OPTIONS } from '../../../src/analytics/chain/options.ts';
import { prepareChain } from '../../../src/analytics/chain/prepare.ts';
import { findEvents, termResidual, termStructure } from '../../../src/analytics/surface/event-variance.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import type { FittedSurface, SurfaceSlice } from '../../../src/analytics/surface/fitted-surface.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { recordedChain, recordedNames } from '../recorded.ts';

/** Chains with fewer two-sided quotes near the money than this are sparse: a share of them is not compared with the bound. */
const QUOTES_MIN = 900;
/** Bounds of the root mean square distance from a smooth term structure, as a share of the volatility; of other chains 1.5 %. */
const RESIDUAL_MAX: Readonly<Record<string, number>> = { SPX: 0.02, SPY: 0.02, XLF: 0.02, XLK: 0.03 };
/** Sector funds whose bands at the money are wider than 10 % on most dates. Their errors are of quotes, and not of the clock. */
const WIDE: Readonly<Record<string, true>> = { XLF: true, XLK: true };
const TIMES = 60;
const STRIKES = 200;

describeRecorded('surfaces of recorded chains', (dir) => {
  describe.each(recordedNames(dir))('%s', (name) => {
    const chain = recordedChain(dir, name);
    const surface = fitSurface(prepareChain(chain, DEFAULT_OPTIONS));

    test('quotes are within their bands after the fit', () => {
      const { within, count } = withinBands(surface);
      expect(within / count).toBeGreaterThan(count >= QUOTES_MIN ? 0.965 : 0.85);
    });

    test('probabilities are within the bounds of adjacent quoted verticals', () => {
      const { outside, count } = verticals(surface);
      expect(outside).toBeLessThanOrEqual(0.03 * count + 1);
    });

    test('the term structure at the money is smooth in trading time, apart from events', () => {
      const points = termStructure(surface);
      const events = findEvents(points);
      const residual = termResidual(points, events)!;
      const inCalendar = points.map((point, i) => ({ ...point, years: surface.slices[i]!.tte }));
      expect(residual).toBeLessThan(RESIDUAL_MAX[chain.underlying] ?? 0.015);
      if (!(chain.underlying in WIDE)) expect(residual).toBeLessThan(0.9 * termResidual(inCalendar, [])!);
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

/** Two-sided quotes out of the money within three standard deviations, and how many of them contain the fitted price. */
function withinBands({ slices }: FittedSurface): { within: number; count: number } {
  let [within, count] = [0, 0];
  for (const { law, quotes, atmVariance } of slices) {
    for (const [i, moneyness] of quotes.moneyness.entries()) {
      if (Math.abs(Math.log(moneyness)) > 3 * Math.sqrt(atmVariance)) continue;
      count++;
      const error = Math.abs(law.price(quotes.callPut[i]!, moneyness) - quotes.price[i]!);
      if (error <= 1.0001 * quotes.halfWidth[i]!) within++;
    }
  }
  return { within, count };
}

/** Strikes 0.3 to 3.2 deviations from the forward, and those whose probability is outside the bounds of the quotes beside them. */
function verticals({ slices }: FittedSurface): { outside: number; count: number } {
  let [outside, count] = [0, 0];
  for (const slice of slices) {
    for (const [low, strike, high, probability] of triples(slice)) {
      count++;
      if (probability < low - 1e-9 || probability > high + 1e-9 || strike <= 0) outside++;
    }
  }
  return { outside, count };
}

/** Lower bound of the probability of ending out of the money, strike, upper bound, and the law's probability. */
function* triples({ law, quotes, atmVariance }: SurfaceSlice): Generator<[number, number, number, number]> {
  const { callPut, moneyness, price, halfWidth } = quotes;
  for (const side of [1, -1]) {
    const rows = [...moneyness.keys()]
      .filter((i) => callPut[i] === side)
      .sort((a, b) => side * (moneyness[a]! - moneyness[b]!));
    for (let i = 1; i + 1 < rows.length; i++) {
      const [near, own, far] = [rows[i - 1]!, rows[i]!, rows[i + 1]!];
      const strike = moneyness[own]!;
      const distance = Math.abs(Math.log(strike)) / Math.sqrt(atmVariance);
      if (distance < 0.3 || distance > 3.2) continue;
      const bid = (row: number) => price[row]! - halfWidth[row]!;
      const ask = (row: number) => price[row]! + halfWidth[row]!;
      const most = (ask(near) - bid(own)) / Math.abs(strike - moneyness[near]!);
      const least = (bid(own) - ask(far)) / Math.abs(moneyness[far]! - strike);
      yield [least, strike, most, side === 1 ? law.above(strike) : law.below(strike)];
    }
  }
}

describeRecorded('events of recorded chains', (dir) => {
  test.each<[string, [string, string, number][]]>([
    ['RUT 2023-09-21', []],
    ['SPY 2025-09-25', []],
    // Inflation on December 13 and January 12, the central bank on December 14 and February 1.
    [
      'SPX 2022-12-12',
      [
        ['', '2022-12-13', 0.023],
        ['2022-12-13', '2022-12-14', 0.022],
        ['2023-01-11', '2023-01-13', 0.024],
        ['2023-01-31', '2023-02-03', 0.021],
      ],
    ],
    // Earnings on August 26 and in November.
    [
      'NVDA 2026-08-21',
      [
        ['2026-08-24', '2026-08-28', 0.059],
        ['2026-10-16', '2026-11-20', 0.056],
      ],
    ],
    // Earnings at the end of October or at the beginning of November.
    ['AMD 2026-08-21', [['2026-10-16', '2026-11-20', 0.106]]],
    ['AMZN 2026-08-21', [['2026-10-16', '2026-11-20', 0.081]]],
    ['MSFT 2026-08-21', [['2026-10-16', '2026-11-20', 0.072]]],
    ['TSLA 2026-08-21', [['2026-10-16', '2026-11-20', 0.066]]],
    ['GOOGL 2026-08-21', [['2026-10-16', '2026-11-20', 0.063]]],
    ['AAPL 2026-08-21', [['2026-10-16', '2026-11-20', 0.044]]],
    ['JPM 2026-08-21', [['2026-10-02', '2026-10-16', 0.036]]],
  ])('of %s', (name, expected) => {
    const { slices } = fitSurface(prepareChain(recordedChain(dir, name), DEFAULT_OPTIONS));
    const found = findEvents(termStructure({ slices }));
    const dateOf = (settlement: number) => slices[settlement]?.series[0]?.series.expiry ?? '';
    for (const [after, before, move] of expected) {
      const event = found.find(({ settlement }) => dateOf(settlement - 1) === after && dateOf(settlement) === before);
      expect(event, `${after} ${before}`).toBeDefined();
      expect(Math.sqrt(event!.variance)).toBeCloseTo(move, 2);
    }
    if (expected.length === 0) expect(found).toEqual([]);
  });
});
