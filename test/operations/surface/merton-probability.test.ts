import { describe, expect, test } from 'bun:test';
import { calculateMertonProbability } from '../../../src/operations/surface/merton-probability.ts';
import { normalCdf } from '../../analytics/plain.ts';
import { AS_OF, chainOf, contract, EXPIRY, HEAD, LATER, quoted, range, TODAY } from '../../analytics/small-chains.ts';
import { call, callExtended, refusalOf, smallMarket } from '../small-market.ts';

const STRIKES = range(80, 120);
const QUESTION = { ticker: 'ACME', spot_price: 100, ambush_strike: 104 };

function marketAt(asOf = AS_OF) {
  return smallMarket({ chains: [chainOf(quoted({ strikes: STRIKES, asOf }), { asOf })] }).context;
}

const context = marketAt();

type Answer = Record<string, number> & { horizon_ends_at: string; side: string };

function extended(args: object, where = context): Answer {
  return callExtended(calculateMertonProbability, { ...QUESTION, ...args }, where) as Answer;
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

test('without jumps it is the lognormal law with the volatility at the money', () => {
  const found = extended({ stag_prob: 1, days_to_expiry: 11 });
  // Slightly off, because the law of the surface has a kernel of finite width.
  expect(found.atm_iv).toBeCloseTo(0.3, 4);
  const deviation = found.atm_iv! * Math.sqrt(found.tte!);
  const d2 = (Math.log(100 / 104) + 0.04 * found.tte!) / deviation - deviation / 2;
  expect(found.merton_probability).toBeCloseTo(normalCdf(d2), 9);
  expect(found.lognormal_probability).toBe(found.merton_probability!);
  expect(found.implied_volatility).toBeCloseTo(found.atm_iv!, 9);
  expect(found).toMatchObject({ side: 'at_or_above', jump_intensity: 0, jump_mean: 0, jump_vol: 0 });
});

test('touching is at least as likely as ending beyond, at most the super-hedge, and certain at spot', () => {
  const found = extended({ days_to_expiry: 11 });
  expect(found.touch_probability).toBeWithin(1.2 * found.merton_probability!, found.touch_high!);
  expect(extended({ ambush_strike: 100 }).touch_probability).toBe(1);
});

describe('quotes determine the probability', () => {
  const iv = (strike: number) => 0.3 - 0.4 * Math.log(strike / 100);
  const skewed = smallMarket({
    chains: [chainOf([EXPIRY, LATER].flatMap((expiry) => quoted({ strikes: STRIKES, expiry, iv, halfSpread: 0.02 })))],
  }).context;

  test.each([
    [94, 11],
    [104, 11],
    [110, 46],
    [104, 30],
  ])('for every stag_prob, at strike %d in %d days', (ambush_strike, days_to_expiry) => {
    for (const stag_prob of [0.05, 0.5, 0.95]) {
      const found = extended({ ambush_strike, days_to_expiry, stag_prob }, skewed);
      expect(Math.abs(found.merton_probability! - found.surface_probability!)).toBeLessThan(0.01);
      expect(found.fit_error).toBeLessThan(0.5);
      if (days_to_expiry === 30) expect(found.vertical_low).toBeNull();
      else expect(found.merton_probability).toBeWithin(found.vertical_low! - 1e-9, found.vertical_high! + 1e-9);
    }
    const plain = extended({ ambush_strike, days_to_expiry, stag_prob: 1 }, skewed);
    expect(plain.merton_probability).toBe(plain.lognormal_probability!);
  });

  test('unless they are few', () => {
    const sparse = smallMarket({ chains: [chainOf(quoted({ strikes: [98, 100, 102], expiry: EXPIRY }))] }).context;
    const [rare, often] = [0.95, 0.05].map((stag_prob) =>
      extended({ stag_prob, days_to_expiry: 11, ambush_strike: 85 }, sparse),
    );
    expect(rare!.quotes).toBe(0);
    expect(Math.abs(rare!.merton_probability! - often!.merton_probability!)).toBeGreaterThan(0.005);
    expect(rare!.atm_iv).toBeCloseTo(0.3, 3);
    expect(rare).toMatchObject({ fit_error: null, jump_fit_error: null, vertical_low: null, vertical_high: null });
  });
});

describe('notes', () => {
  const notesOf = (args: object) =>
    (extended({ days_to_expiry: 11, ...args }) as unknown as { provenance: { notes: string[] } }).provenance.notes;

  test.each([
    ['none', {}, []],
    ['a spot 8 % off', { spot_price: 108, ambush_strike: 108 }, []],
    ['a spot 25 % above', { spot_price: 125, ambush_strike: 125 }, [/spot_price is 25.0 % above .* 100\./]],
    ['a spot 20 % below', { spot_price: 80, ambush_strike: 80 }, [/spot_price is 20.0 % below/]],
    ['a strike above all others', { ambush_strike: 140 }, [/above all quoted strikes/]],
    ['a strike below all others', { ambush_strike: 60 }, [/below all quoted strikes/]],
    ['a horizon after the last expiry', { days_to_expiry: 400 }, [/after the last listed expiry/]],
  ] as const)('%s', (_what, args, expected) => {
    const notes = notesOf(args);
    expect(notes).toHaveLength(expected.length);
    for (const [i, pattern] of expected.entries()) expect(notes[i]).toMatch(pattern);
  });
});

describe('days to expiry', () => {
  const minutes = (found: Answer) => found.tte! * 365.25 * 24 * 60;

  test.each([
    ['0 means until the close, an hour away', AS_OF, 60],
    ['0 in the morning: six and a half hours', Date.parse('2026-01-05T14:30:00Z'), 390],
    ['0 before the open: until the close', Date.parse('2026-01-05T12:00:00Z'), 540],
    ['0 ten minutes before the close: 15 minutes', Date.parse('2026-01-05T20:50:00Z'), 15],
    ['0 after the close: 15 minutes', Date.parse('2026-01-05T22:00:00Z'), 15],
    ['0 on a Saturday: until the close of Monday', Date.parse('2026-01-10T18:00:00Z'), 51 * 60],
    ['0 on a half-day: until 13:00', Date.parse('2025-11-28T17:00:00Z'), 60],
  ])('%s', (_what, asOf, expected) => {
    expect(minutes(extended({ days_to_expiry: 0 }, marketAt(asOf)))).toBeCloseTo(expected, 6);
  });

  test.each([
    [1, '2026-01-06T21:00:00.000Z'],
    [4, '2026-01-09T21:00:00.000Z'],
    [5, '2026-01-12T21:00:00.000Z'],
    [7, '2026-01-12T21:00:00.000Z'],
    [180, '2026-07-06T20:00:00.000Z'],
  ])('%d ends at %s', (days_to_expiry, end) => {
    expect(extended({ days_to_expiry }).horizon_ends_at).toBe(end);
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
  const hour = smallMarket({ chains: [chainOf(quoted({ strikes: STRIKES, expiry: TODAY, spot: 98 }), HEAD)] }).context;
  const prices = [1e-6, 100, 1e9];
  const corners = prices.flatMap((spot_price) =>
    prices.flatMap((ambush_strike) =>
      [0.001, 1].flatMap((stag_prob) =>
        [0, 1, 3650].map((days_to_expiry) => ({ spot_price, ambush_strike, stag_prob, days_to_expiry })),
      ),
    ),
  );
  for (const where of [context, hour]) {
    for (const corner of corners) {
      const found = extended(corner, where);
      expect(found.merton_probability).toBeWithin(0, 1 + 1e-15);
      expect(found.touch_probability).toBeWithin(found.merton_probability!, 1 + 1e-15);
    }
  }
});
