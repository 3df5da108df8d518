import { describe, expect, test } from 'bun:test';
import { lognormalPrice } from '../../../src/analytics/surface/price-law.ts';
import { addDays, closeOf } from '../../../src/market/calendar.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { VarianceClock } from '../../../src/market/variance-clock.ts';
import { normalCdf } from '../../../src/math/normal.ts';
import type { SurfaceAnswer } from '../../../src/operations/surface/surface-answer.ts';
import { getVolatilitySurface } from '../../../src/operations/surface/surface-report.ts';
import { AS_OF, chainOf, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import { EXPIRIES as LISTED, MODELS, market, withEvent } from '../../analytics/surface/known-markets.ts';
import { callExtended, contextOf } from '../small-market.ts';

const EXPIRIES = [4, 11, 18, 25, 32, 46, 382].map((days) => addDays(TODAY, days));

/** A smile that falls with the strike, the same at every expiry. */
const iv = (strike: number) => 0.3 - 0.2 * Math.log(strike / 100);
const CHAIN = chainOf(EXPIRIES.flatMap((expiry) => quoted({ expiry, iv, strikes: range(70, 140), halfSpread: 0.01 })));

const surfaceOf = (chain: Chain, more: object = {}) =>
  callExtended(getVolatilitySurface, { ticker: 'ACME', ...more }, contextOf(chain)) as SurfaceAnswer;
const surface = (more: object = {}) => surfaceOf(CHAIN, more);

test('the figures of each expiry are those of the smile', () => {
  const { expiries, refused, fitted_to } = surface();
  expect([expiries.count, fitted_to, refused.count]).toEqual([EXPIRIES.length, 'quotes', 0]);
  expect(expiries.expiry).toEqual(EXPIRIES);
  expect(expiries.outside_band).toEqual(EXPIRIES.map(() => 0));
  for (const [i, tte] of expiries.tte.entries()) {
    const volatilityAt = (deviations: number) => iv(expiries.forward[i]! * Math.exp(0.3 * deviations * Math.sqrt(tte)));
    expect(expiries.atm_iv[i]!).toBeCloseTo(iv(expiries.forward[i]!), 3);
    expect(expiries.atm_iv_band[i]!).toBeWithin(0, 0.01);
    // Vega at 25 deltas is 0.8 of that at the money, and two bands add up.
    expect(expiries.skew_25d_band[i]! / expiries.atm_iv_band[i]!).toBeWithin(2.2, 2.9);
    // Later, the 25-delta strikes are too far from this approximation.
    if (tte > 0.2) continue;
    expect(expiries.put_25d_iv[i]!).toBeCloseTo(volatilityAt(-0.67), 2);
    expect(expiries.call_25d_iv[i]!).toBeCloseTo(volatilityAt(0.67), 2);
    expect(expiries.skew_25d[i]!).toBeCloseTo(expiries.put_25d_iv[i]! - expiries.call_25d_iv[i]!, 12);
  }
});

test('forward volatilities restore the total variance at the money', () => {
  const { expiries } = surface();
  let variance = 0;
  for (const [i, years] of expiries.trading_years.entries()) {
    variance += expiries.forward_iv_trading[i]! ** 2 * (years - (expiries.trading_years[i - 1] ?? 0));
    expect(Math.sqrt(variance / expiries.tte[i]!)).toBeCloseTo(expiries.atm_iv[i]!, 10);
  }
});

test('a maturity ends at a close, on the next trading day if the exchange is shut', () => {
  const { maturities } = surface();
  expect(maturities.days).toEqual([7, 30, 60, 90, 180, 365]);
  // In 90 days it is Easter Sunday, in 180 days the Saturday after a holiday on Friday.
  expect(maturities.ends_at.map((each) => each.slice(0, 16))).toEqual([
    '2026-01-12T21:00',
    '2026-02-04T21:00',
    '2026-03-06T21:00',
    '2026-04-06T20:00',
    '2026-07-06T20:00',
    '2027-01-05T21:00',
  ]);
  expect(maturities.atm_iv.every((each) => Math.abs(each! - 0.3) < 0.02)).toBe(true);
});

test('the variance of an event is told apart', () => {
  const clock = new VarianceClock(AS_OF);
  const [model, settlement, move] = [MODELS[0]![1], 3, 0.06];
  const at = LISTED.map((expiry) => closeOf(expiry));
  const { chain } = market(withEvent(model, move, clock.years(at[settlement - 1]!)), clock);
  const { events, expiries, maturities } = surfaceOf(chain);
  expect(events).toMatchObject({
    count: 1,
    after: [new Date(at[settlement - 1]!).toISOString()],
    before: [new Date(at[settlement]!).toISOString()],
  });
  const [implied] = events.implied_move;
  expect(implied! / move).toBeWithin(0.95, 1.05);
  expect(events.variance).toEqual([expect.closeTo(implied! ** 2, 12)]);
  expect(events.expected_absolute_move).toEqual([expect.closeTo(0.7978845608 * implied!, 9)]);
  expect([events.implied_move_band[0]! > 0, events.implied_move_error[0]! > 0]).toEqual([true, true]);
  // The flat volatility of the model is 0.3.
  for (const [i, each] of expiries.atm_iv_trading_without_events.entries()) {
    expect(each!).toBeCloseTo(0.3, 1.5);
    if (i < settlement) expect(each).toBe(expiries.atm_iv_trading[i]!);
    else expect(expiries.atm_iv_trading[i]!).toBeGreaterThan(each!);
  }
  for (const each of maturities.atm_iv_trading_without_events) expect(each!).toBeCloseTo(0.3, 1.5);
});

test('a maturity between the settlements of an event has its share of the event', () => {
  const clock = new VarianceClock(AS_OF);
  const after = clock.years(closeOf(LISTED[6]!));
  const { chain } = market(withEvent(MODELS[0]![1], 0.1, after), clock);
  const { events, maturities, expiries } = surfaceOf(chain);
  const row = maturities.days.indexOf(60);
  const [from, to] = [expiries.trading_years[6]!, expiries.trading_years[7]!];
  const years = maturities.trading_years[row]!;
  const ofEvent = (maturities.atm_iv_trading[row]! ** 2 - maturities.atm_iv_trading_without_events[row]! ** 2) * years;
  expect(ofEvent / events.variance[0]!).toBeCloseTo((years - from) / (to - from), 9);
});

describe('detail', () => {
  test('the grid is free of arbitrage', () => {
    const { grid, parameters } = surface({ detail: 'grid' });
    expect(parameters).toBeNull();
    const { log_moneyness, total_variance, tte } = grid!;
    expect([tte.length, log_moneyness.length]).toEqual([60, 200]);
    for (let i = 1; i < tte.length; i++) {
      const falls = total_variance[i]!.filter((each, j) => each! < total_variance[i - 1]![j]! * (1 - 1e-9));
      expect(falls).toEqual([]);
    }
  });

  test('the laws of the expiries are given as mixtures of mean 1', () => {
    const { grid, parameters } = surface({ detail: 'parameters' });
    expect(grid).toBeNull();
    for (const [i, masses] of parameters!.mass.entries()) {
      const mean = masses.reduce((sum, mass, j) => sum + mass * parameters!.node[i]![j]!, 0);
      expect([masses.reduce((sum, mass) => sum + mass, 0), mean]).toEqual([
        expect.closeTo(1, 12),
        expect.closeTo(1, 12),
      ]);
    }
  });

  test('the smile of each expiry is that of the law, from three standard deviations below the forward to three above', () => {
    const { smiles, expiries } = surface({ detail: 'smiles' });
    const { kernel, node, mass } = surface({ detail: 'parameters' }).parameters!;
    for (const [i, forward] of expiries.forward.entries()) {
      const [tte, atm, width] = [expiries.tte[i]!, expiries.atm_iv[i]!, kernel[i]!];
      const mixture = (term: (mean: number) => number) =>
        node[i]!.reduce((sum, mean, j) => sum + mass[i]![j]! * term(mean), 0);
      const [strikes, ivs, deltas, below] = [smiles!.strike, smiles!.iv, smiles!.delta, smiles!.probability_below].map(
        (column) => column[i]!,
      ) as [number[], number[], number[], number[]];
      expect([strikes.length, strikes[30]! / forward, ivs[30]! / atm]).toEqual([
        61,
        expect.closeTo(1, 12),
        expect.closeTo(1, 9),
      ]);
      for (const [j, strike] of strikes.entries()) {
        expect(Math.log(strike / forward) / (atm * Math.sqrt(tte))).toBeCloseTo((j - 30) / 10, 9);
        const callPut = j < 30 ? -1 : 1;
        const deviation = ivs[j]! * Math.sqrt(tte);
        const priced = lognormalPrice(callPut, 1, strike / forward, deviation);
        const price = mixture((mean) => lognormalPrice(callPut, mean, strike / forward, width));
        expect(priced / price).toBeCloseTo(1, 8);
        const d1 = -Math.log(strike / forward) / deviation + deviation / 2;
        expect(deltas[j]!).toBeCloseTo(callPut * normalCdf(callPut * d1), 12);
        const under = mixture((mean) => normalCdf(Math.log(strike / forward / mean) / width + width / 2));
        expect(below[j]!).toBeCloseTo(under, 12);
      }
      // The put with a delta of -0.25 is between two of the strikes.
      const at = deltas.findIndex((delta) => delta < -0.25);
      const share = (-0.25 - deltas[at - 1]!) / (deltas[at]! - deltas[at - 1]!);
      expect(ivs[at - 1]! + share * (ivs[at]! - ivs[at - 1]!)).toBeCloseTo(expiries.put_25d_iv[i]!, 3);
    }
  });

  test('none is computed by default', () => {
    expect(surface()).toMatchObject({ grid: null, parameters: null, smiles: null });
  });
});

describe('the quotes of one settlement', () => {
  test('are left out by default', () => expect(surface().quotes).toBeNull());

  test.each([
    [0, 0],
    [12, 1],
    [31, 4],
    [3_650, 6],
  ])(
    'at %d days they are those of settlement %d, in order of the strike, with the volatility between those of bid and ask',
    (days, row) => {
      const { quotes, expiries } = surface({ quotes_days: days });
      const { count, strike, side, iv_bid, iv_ask, settles_at } = quotes!;
      expect(settles_at).toBe(expiries.settles_at[row]!);
      expect(count).toBe(expiries.quotes[row]!);
      expect(strike).toEqual(strike.toSorted((a, b) => a - b));
      expect(strike.every(Number.isInteger)).toBe(true);
      for (const [i, at] of strike.entries()) {
        expect(side[i]).toBe(at >= expiries.forward[row]! ? 'C' : 'P');
        expect([at, iv_bid[i]! <= iv(at) + 1e-9 && iv(at) <= iv_ask[i]! + 1e-9]).toEqual([at, true]);
      }
    },
  );
});

test('a chain whose series all have too few quotes gets an error', () => {
  const chain = chainOf(quoted({ strikes: [95, 100, 105] }));
  expect(() => surfaceOf(chain)).toThrow(/too few quotes/);
});
