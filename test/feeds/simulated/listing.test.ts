import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Instrument, instrumentsOf } from '../../../src/feeds/simulated/instruments.ts';
import { expiriesOn, listedStrikesOf, termsOn } from '../../../src/feeds/simulated/listing.ts';
import { addDays, isTradingDay } from '../../../src/market/calendar.ts';
import { STANDARD_UNIVERSE } from '../../../src/market/universe.ts';

describe('expiries', () => {
  test('weekly: Fridays, then third Fridays of months, quarters and Januaries', () => {
    expect(expiriesOn('2026-08-21', 'weekly')).toEqual([
      ...['2026-08-21', '2026-08-28', '2026-09-04', '2026-09-11', '2026-09-18', '2026-09-25'],
      ...['2026-10-16', '2026-11-20', '2026-12-18', '2027-01-15', '2027-03-19', '2027-06-17', '2028-01-21'],
    ]);
  });

  test('daily: also every trading day of two weeks', () => {
    const days = [
      '2026-08-31',
      '2026-09-01',
      '2026-09-02',
      '2026-09-03',
      '2026-09-04',
      '2026-09-08',
      '2026-09-09',
      '2026-09-10',
    ];
    expect(expiriesOn('2026-08-31', 'daily').slice(0, 8)).toEqual(days);
  });

  test('monthly: third Fridays only', () => {
    expect(expiriesOn('2026-08-21', 'monthly')).toEqual([
      ...['2026-08-21', '2026-09-18', '2026-10-16', '2026-12-18', '2027-01-15', '2027-03-19'],
    ]);
  });

  test('a third Friday that is Good Friday moves to the Thursday', () => {
    expect(expiriesOn('2022-04-11', 'weekly')[0]).toBe('2022-04-14');
    expect(expiriesOn('2022-04-15', 'weekly')[0]).toBe('2022-04-22');
  });

  test('a listed date stays listed until it has passed', () => {
    const date = fc.nat({ max: 12_000 }).map((days) => addDays('2000-01-01', days));
    fc.assert(
      fc.property(date, fc.constantFrom('daily', 'weekly', 'monthly'), (today, cadence) => {
        const tomorrow = addDays(today, 1);
        const still = new Set(expiriesOn(tomorrow, cadence));
        for (const expiry of expiriesOn(today, cadence)) {
          expect(isTradingDay(expiry)).toBe(true);
          expect(expiry < tomorrow || still.has(expiry)).toBe(true);
        }
      }),
    );
  });
});

describe('strikes', () => {
  const instruments = instrumentsOf({ seed: 1, universe: STANDARD_UNIVERSE, clock: 'real' });
  const spy = instruments.find(({ ticker }) => ticker === 'SPY')!;
  const strikes = (instrument: Instrument, expiry: string, price: number) =>
    listedStrikesOf(instrument, termsOn(instrument, '2026-08-21').find((term) => term.expiry === expiry)!, price);

  test('are one dollar apart near the money, and coarser far out and for later expiries', () => {
    const weekly = strikes(spy, '2026-08-28', 650);
    expect(weekly).toContain(651);
    expect(weekly.length).toBeLessThanOrEqual(120);
    const leaps = strikes(spy, '2028-01-21', 650);
    expect(leaps).not.toContain(651);
    expect(leaps[0]!).toBeLessThan(400);
    expect(leaps.at(-1)!).toBeGreaterThan(900);
  });

  test('are few, ascending, positive, and reach above any price', () => {
    const price = fc.double({ min: Math.log(0.05), max: Math.log(20_000), noNaN: true }).map(Math.exp);
    fc.assert(
      fc.property(fc.constantFrom(...instruments), price, (instrument, spot) => {
        for (const term of termsOn(instrument, '2026-08-21')) {
          const listed = listedStrikesOf(instrument, term, spot);
          expect(listed.length).toBeLessThanOrEqual(500);
          expect(listed[0]!).toBeGreaterThan(0);
          expect(listed.at(-1)!).toBeGreaterThan(spot);
          for (let i = 1; i < listed.length; i++) expect(listed[i]!).toBeGreaterThan(listed[i - 1]!);
        }
      }),
    );
  });
});
