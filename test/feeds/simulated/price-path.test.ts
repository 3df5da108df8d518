import { describe, expect, test } from 'bun:test';
import { type Instrument, instrumentsOf } from '../../../src/feeds/simulated/instruments.ts';
import { closedDays, closeOn, shortIvAt, spotAt } from '../../../src/feeds/simulated/price-path.ts';
import { closeOf, nextTradingDay, openOf } from '../../../src/market/calendar.ts';
import { STANDARD_UNIVERSE } from '../../../src/market/universe.ts';

const MINUTE_MS = 60_000;
const instruments = new Map(
  instrumentsOf({ seed: 3, universe: STANDARD_UNIVERSE, clock: 'real' }).map((instrument) => [
    instrument.ticker,
    instrument,
  ]),
);
const named = (ticker: string) => instruments.get(ticker)!;
const END = Date.parse('2026-08-21T20:00:00Z');

function returnsOf(instrument: Instrument, days: number): number[] {
  const closes = closedDays(END, days + 1).map((date) => closeOn(instrument, date));
  return closes.slice(1).map((close, i) => Math.log(close / closes[i]!));
}

function correlation(x: number[], y: number[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(x), mean(y)];
  const product = (a: number[], ma: number, b: number[], mb: number) =>
    mean(a.map((value, i) => (value - ma) * (b[i]! - mb)));
  return product(x, mx, y, my) / Math.sqrt(product(x, mx, x, mx) * product(y, my, y, my));
}

test('the realised volatility of daily returns is about nine tenths of the implied volatility', () => {
  for (const instrument of instruments.values()) {
    const returns = returnsOf(instrument, 1_000);
    const realised = Math.sqrt((returns.reduce((sum, value) => sum + value ** 2, 0) / returns.length) * 252);
    // Four standard errors of a thousand returns. Prices of a few dollars are also rounded to whole cents.
    expect(Math.abs(realised / (0.9 * instrument.baseIv) - 1)).toBeLessThan(instrument.basePrice < 5 ? 0.15 : 0.09);
  }
});

test.each([
  ['NVDA', 'SMH', 0.5, 0.9],
  ['JPM', 'XLF', 0.5, 0.9],
  ['SPY', 'QQQ', 0.8, 1],
  ['SPY', 'VXX', -1, -0.6],
  ['SPY', 'UUP', -0.2, 0.35],
])('%s and %s correlate between %p and %p', (one, other, least, most) => {
  const found = correlation(returnsOf(named(one), 750), returnsOf(named(other), 750));
  expect(found).toBeGreaterThan(least);
  expect(found).toBeLessThan(most);
});

describe('within a day', () => {
  const spy = named('SPY');
  const [open, close] = [openOf('2026-08-20'), closeOf('2026-08-20')];
  const minutes = Array.from({ length: (close - open) / MINUTE_MS + 1 }, (_, i) => spotAt(spy, open + i * MINUTE_MS));

  test('the price moves every minute, in small steps, to the close', () => {
    expect(minutes.at(-1)).toBe(closeOn(spy, '2026-08-20'));
    const steps = minutes.slice(1).map((price, i) => Math.abs(Math.log(price / minutes[i]!)));
    expect(Math.max(...steps)).toBeLessThan(0.003);
    expect(steps.filter((step) => step > 0).length).toBeGreaterThan(300);
  });

  test('the price stays constant from the close to the next open, and then starts near it', () => {
    expect(spotAt(spy, close + 3_600_000)).toBe(minutes.at(-1)!);
    const nextOpen = openOf(nextTradingDay('2026-08-20'));
    expect(spotAt(spy, nextOpen - 1)).toBe(minutes.at(-1)!);
    expect(Math.abs(Math.log(spotAt(spy, nextOpen) / minutes.at(-1)!))).toBeLessThan(0.03);
  });
});

describe('with the clock `always`', () => {
  const live = instrumentsOf({ seed: 3, universe: STANDARD_UNIVERSE, clock: 'always' });
  const [spy, nvda] = ['SPY', 'NVDA'].map((ticker) => live.find((each) => each.ticker === ticker)!) as [
    Instrument,
    Instrument,
  ];

  test('the price moves through the night to the open, and is that of the clock `real` in trading hours', () => {
    const [close, open] = [closeOf('2026-08-21'), openOf('2026-08-24')];
    const night = Array.from({ length: (open - close) / MINUTE_MS + 1 }, (_, i) => spotAt(nvda, close + i * MINUTE_MS));
    expect([night[0], night.at(-1)]).toEqual([closeOn(nvda, '2026-08-21'), spotAt(named('NVDA'), open)]);
    const steps = night.slice(1).map((price, i) => Math.abs(Math.log(price / night[i]!)));
    expect(Math.max(...steps)).toBeLessThan(0.003);
    // The minutes of a weekend are more than the parts of the path.
    expect(steps.filter((step) => step > 0).length).toBeGreaterThan(1_500);
    for (const minute of [1, 17, 300])
      expect(spotAt(nvda, open + minute * MINUTE_MS)).toBe(spotAt(named('NVDA'), open + minute * MINUTE_MS));
  });

  test('a price that sways is on the path at half hours, and near it between them', () => {
    for (let at = openOf('2026-08-20'); at <= closeOf('2026-08-20'); at += MINUTE_MS) {
      const [swayed, path] = [spotAt(spy, at), spotAt(named('SPY'), at)];
      if (at % (30 * MINUTE_MS) === 0) expect(swayed).toBe(path);
      expect(Math.abs(swayed / path - 1)).toBeLessThan(0.02);
    }
    expect([closeOn(spy, '2026-08-20'), live.filter(({ sways }) => sways).map(({ ticker }) => ticker)]).toEqual([
      closeOn(named('SPY'), '2026-08-20'),
      ['SPY', 'QQQ', 'IWM', 'DIA', 'SPX', 'NDX'],
    ]);
  });
});

test('prices stay plausible for decades', () => {
  for (const instrument of instruments.values()) {
    for (let year = 1995; year < 2095; year += 3) {
      const at = Date.parse(`${year}-06-15T18:00:00Z`);
      expect(Math.abs(Math.log(spotAt(instrument, at) / instrument.basePrice))).toBeLessThan(
        4 * instrument.baseIv + 0.01,
      );
      expect(Math.abs(Math.log(shortIvAt(instrument, at) / instrument.baseIv))).toBeLessThan(1.2);
    }
  }
});
