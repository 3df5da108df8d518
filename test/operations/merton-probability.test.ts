import { describe, expect, test } from 'bun:test';
import { calculateMertonProbability } from '../../src/operations/merton-probability.ts';
import { normalCdf } from '../analytics/plain.ts';
import { AS_OF, chainOf, contract, EXPIRY, HEAD, LATER, quoted, range, TODAY } from '../analytics/small-chains.ts';
import { call, callExtended, refusalOf, smallMarket } from './small-market.ts';

const STRIKES = range(80, 120);
const QUESTION = { ticker: 'ACME', spot_price: 100, ambush_strike: 104 };

function marketAt(asOf = AS_OF) {
  return smallMarket({ chains: [chainOf(quoted({ strikes: STRIKES, asOf }), { asOf })] }).context;
}

const context = marketAt();

function extended(args: object, where = context) {
  return callExtended(calculateMertonProbability, { ...QUESTION, ...args }, where) as Record<string, number>;
}

test('returns ticker, strike and probability', () => {
  const answer = call(calculateMertonProbability, { ...QUESTION, ticker: 'acme' }, context);
  expect(answer).toEqual({ ticker: 'ACME', ambush_strike: 104, merton_probability: expect.any(Number) });
  expect(answer.merton_probability).toBeWithin(0.001, 0.2);
});

test('by default the probability of a jump within a day is one half', () => {
  expect(extended({ stag_prob: 0.5, days_to_expiry: 1 })).toEqual(extended({}));
  expect(extended({}).jump_intensity! * extended({}).tte!).toBeCloseTo(Math.LN2, 12);
});

test('without jumps it equals N(d2) of the smile', () => {
  const found = extended({ stag_prob: 1, days_to_expiry: 11 });
  const deviation = 0.3 * Math.sqrt(11 / 365.25);
  const d2 = (Math.log(100 / 104) + (0.04 * 11) / 365.25) / deviation - deviation / 2;
  expect(found.merton_probability).toBeCloseTo(normalCdf(d2), 6);
  expect(found.implied_volatility).toBeCloseTo(0.3, 6);
  expect(found).toMatchObject({ direction: 'at_or_above', jump_intensity: 0, jump_scale: 1 });
});

test('touching is at least as likely as ending beyond, and certain at spot', () => {
  const found = extended({ days_to_expiry: 11 });
  expect(found.touch_probability).toBeWithin(1.2 * found.merton_probability!, 3 * found.merton_probability!);
  expect(extended({ ambush_strike: 100 }).touch_probability).toBe(1);
});

describe('the probability by the densities', () => {
  const two = smallMarket({
    chains: [chainOf([EXPIRY, LATER].flatMap((expiry) => quoted({ strikes: STRIKES, expiry })))],
  }).context;

  test.each([104, 97])('agrees with diffusion for a flat smile: %d', (ambush_strike) => {
    const found = extended({ ambush_strike, stag_prob: 1, days_to_expiry: 20 }, two);
    expect(found.density_probability).toBeCloseTo(found.merton_probability!, 2);
    expect(found.density_fit_error).toBeWithin(0, 0.05);
  });

  test.each([1, 60])('is null for %d days, if no listed expiry is as near or as far', (days_to_expiry) => {
    expect(extended({ days_to_expiry }, two)).toMatchObject({ density_probability: null, density_fit_error: null });
  });
});

describe('sizes of jumps', () => {
  const skewed = (expiries: readonly string[]) => {
    const iv = (strike: number) => 0.3 - 0.4 * Math.log(strike / 100);
    const rows = expiries.flatMap((expiry) => quoted({ strikes: STRIKES, expiry, iv }));
    return extended({ days_to_expiry: 30 }, smallMarket({ chains: [chainOf(rows)] }).context);
  };

  test('come from the ticker’s options', () => {
    const found = skewed([EXPIRY, LATER]);
    expect(found).toMatchObject({ jump_sizes: 'fitted', jump_fit_points: 32 });
    expect(found.jump_fit_error).toBeWithin(0.1, 4);
    expect(found.jump_mean_unscaled).toBeWithin(-0.2, -0.03);
    expect(found.jump_mean).toBeCloseTo(found.jump_scale! * found.jump_mean_unscaled!, 12);
    expect(found.jump_vol).toBeCloseTo(found.jump_scale! * found.jump_vol_unscaled!, 12);
  });

  test('are the default if the ticker has few options', () => {
    expect(skewed([EXPIRY])).toMatchObject({
      ...{ jump_sizes: 'default', jump_fit_points: 16, jump_fit_error: null },
      ...{ jump_mean_unscaled: -0.02, jump_vol_unscaled: 0.04 },
    });
  });
});

describe('days to expiry', () => {
  const minutes = (found: Record<string, number>) => found.tte! * 365.25 * 24 * 60;

  test.each([
    ['0 means until the close, an hour away', AS_OF, 60],
    ['0 in the morning: six and a half hours', Date.parse('2026-01-05T14:30:00Z'), 390],
    ['0 before the open: until the close', Date.parse('2026-01-05T12:00:00Z'), 540],
    ['0 ten minutes before the close: 15 minutes', Date.parse('2026-01-05T20:50:00Z'), 15],
    ['0 after the close: 15 minutes', Date.parse('2026-01-05T22:00:00Z'), 15],
    ['0 on a Saturday: 15 minutes', Date.parse('2026-01-10T18:00:00Z'), 15],
    ['0 on a half-day: until 13:00', Date.parse('2025-11-28T17:00:00Z'), 60],
  ])('%s', (_what, asOf, expected) => {
    expect(minutes(extended({ days_to_expiry: 0 }, marketAt(asOf)))).toBeCloseTo(expected, 6);
  });

  test.each([1, 7, 3650])('%d', (days) => {
    expect(extended({ days_to_expiry: days }).tte).toBe((days * 86_400_000) / (365.25 * 86_400_000));
  });

  test.each([-1, 1.5, 3651])('rejects %d', (days) => {
    expect(refusalOf(() => extended({ days_to_expiry: days })).fields).toEqual(['/days_to_expiry']);
  });
});

describe('rejects', () => {
  test.each([
    [{ stag_prob: 0 }, '/stag_prob'],
    [{ stag_prob: 1.01 }, '/stag_prob'],
    [{ spot_price: 0 }, '/spot_price'],
    [{ ambush_strike: -5 }, '/ambush_strike'],
    [{ ambush_strike: 1e10 }, '/ambush_strike'],
  ])('%j', (overrides, field) => {
    expect(refusalOf(() => extended(overrides))).toMatchObject({ code: 'invalid_body', fields: [field] });
  });

  test('a ticker without a chain', () => {
    expect(refusalOf(() => extended({ ticker: 'SPY' })).code).toBe('no_chain');
  });

  test('a chain without any volatility', () => {
    const { context: empty } = smallMarket({ chains: [chainOf([contract({ openInterest: 5 })])] });
    expect(refusalOf(() => extended({}, empty)).code).toBe('unprocessable');
  });

  test('a chain that has settled', () => {
    const { context: late } = smallMarket({
      chains: [chainOf([contract({ expiry: TODAY })], { asOf: AS_OF + 86_400_000 })],
    });
    expect(refusalOf(() => extended({}, late)).code).toBe('no_chain');
  });
});

// A non-finite answer is thrown as a defect.
test('every corner of the input domain has an answer', () => {
  const corners = {
    spot_price: [1e-6, 100, 1e9],
    ambush_strike: [1e-6, 100, 1e9],
    stag_prob: [0.001, 1],
    days_to_expiry: [0, 1, 3650],
  };
  const hour = smallMarket({ chains: [chainOf(quoted({ strikes: STRIKES, expiry: TODAY, spot: 98 }), HEAD)] }).context;
  for (const where of [context, hour]) {
    for (const spot_price of corners.spot_price) {
      for (const ambush_strike of corners.ambush_strike) {
        for (const stag_prob of corners.stag_prob) {
          for (const days_to_expiry of corners.days_to_expiry) {
            const found = extended({ spot_price, ambush_strike, stag_prob, days_to_expiry }, where);
            expect(found.merton_probability).toBeWithin(0, 1 + 1e-15);
            expect(found.touch_probability).toBeWithin(found.merton_probability!, 1 + 1e-15);
          }
        }
      }
    }
  }
});
