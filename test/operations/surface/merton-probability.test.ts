import { describe, expect, test } from 'bun:test';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { jumpLawAt } from '../../../src/analytics/surface/jump-diffusion-law.ts';
import { endBeyond, touchProducts } from '../../../src/analytics/surface/touch-probability.ts';
import { runToCompletion, type Steps } from '../../../src/core/steps.ts';
import type { Chain } from '../../../src/market/chain.ts';
import { merton } from '../../../src/math/jump-diffusion.ts';
import type { Operation } from '../../../src/operations/engine/operation.ts';
import { extendedView, perform, plainToolView, toolView } from '../../../src/operations/engine/perform.ts';
import { touchCost } from '../../../src/operations/engine/request-cost.ts';
import { getOptionQuotes } from '../../../src/operations/options/option-quotes.ts';
import { calculateMertonProbability } from '../../../src/operations/surface/merton-probability.ts';
import { normalCdf } from '../../analytics/plain.ts';
import { recordedChain, someRecorded } from '../../analytics/recorded.ts';
import { simulated } from '../../analytics/simulated.ts';
import {
  AS_OF,
  chainOf,
  contract,
  EXPIRY,
  HEAD,
  LATER,
  preparedChain,
  quoted,
  range,
  TODAY,
} from '../../analytics/small-chains.ts';
import { describeRecorded } from '../../support/recorded-chains.ts';
import { call, callExtended, contextOf, performTool, refusalOf, smallMarket } from '../small-market.ts';

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
  expect(found.touch_probability).toBeWithin(1.8 * found.merton_probability!, found.touch_superhedge!);
  expect(found.touch_end).toBe(found.merton_probability!);
  expect(extended({ ambush_strike: 100 })).toMatchObject({ touch_probability: 1, touch_low: 1, touch_high: 1 });
});

test('the range of touching has all models, and only touch_jump depends on stag_prob', () => {
  const [often, rare] = [0.05, 0.95].map((stag_prob) =>
    extended({ days_to_expiry: 11, ambush_strike: 103, stag_prob }),
  );
  for (const each of [often!, rare!]) {
    for (const model of ['touch_probability', 'touch_random_volatility', 'touch_jump']) {
      expect(each[model]!).toBeWithin(each.touch_low!, each.touch_high! + 1e-12);
    }
    expect(each.touch_low).toBeGreaterThanOrEqual(each.touch_end!);
    expect(each.touch_high).toBeLessThanOrEqual(each.touch_superhedge!);
  }
  expect(often!.touch_probability).toBe(rare!.touch_probability!);
  expect(often!.touch_random_volatility).toBe(rare!.touch_random_volatility!);
  expect(often!.touch_jump).not.toBeCloseTo(rare!.touch_jump!, 3);
});

test.each([
  [104, 'at_or_above', 'C'],
  [96, 'at_or_below', 'P'],
])(
  'over MCP, the provenance has the touch probability and the prices of the option at %d',
  (strike, side, put_call) => {
    const found = extended({ ambush_strike: strike, days_to_expiry: 11 });
    const { merton_probability, touch_probability, touch_low, touch_high, option_price, jump_model_price } = found;
    const args = { ...QUESTION, ambush_strike: strike, days_to_expiry: 11 };
    const { body, echoes } = performTool(calculateMertonProbability, args, context);
    expect(body).toEqual({ ticker: 'ACME', ambush_strike: strike, merton_probability });
    expect(echoes).toMatchObject({ side, touch_probability, touch_low, touch_high, put_call });
    expect(echoes).toMatchObject({ option_price, jump_model_price });
    expect(Math.min(option_price!, jump_model_price!)).toBeGreaterThan(0.1);
  },
);

test('an answer without the touch probability costs no further tokens, and one with it as many as its computation is long', () => {
  const chain = chainOf(quoted({ strikes: STRIKES }));
  const where = contextOf(chain);
  const args = { ...QUESTION, ambush_strike: 101, days_to_expiry: 11, stag_prob: 0.05 };
  const operation = calculateMertonProbability as unknown as Operation;
  const cost = (view = toolView(operation)) => tokensOf(perform(view, args, where, 'invalid_body'));
  // The first call also pays for the analysis of the chain.
  cost();
  const surface = runToCompletion(fitSurface(preparedChain(chain)));
  const jumpLaws = [0.05, 0.5, 0.95].map((noJump) =>
    runToCompletion(jumpLawAt(surface, surface.slices[0]!.settlesAt, noJump)),
  );
  const costs = jumpLaws.map(({ jumpDiffusion, horizon: { forward } }) =>
    touchCost(touchProducts(jumpDiffusion, { spot: 100, strike: 101, forward })),
  );
  expect(costs[0]).toBeGreaterThan(1);
  expect(extended(args, where).horizon_ends_at).toBe(new Date(jumpLaws[0]!.endsAt).toISOString());
  const expected = costs.reduce((sum, each) => sum + each, 0);
  expect([cost(), cost(extendedView(operation)), cost(plainToolView(operation))]).toEqual([expected, expected, 0]);
});

/** Runs the steps and returns how many tokens they cost. */
function tokensOf(steps: Steps<unknown>): number {
  for (let sum = 0; ; ) {
    const { value, done } = steps.next();
    if (done) return sum;
    sum += value.tokens ?? 0;
  }
}

const iv = (strike: number) => 0.3 - 0.4 * Math.log(strike / 100);
const SKEWED = chainOf([EXPIRY, LATER].flatMap((expiry) => quoted({ strikes: STRIKES, expiry, iv, halfSpread: 0.02 })));
const skewed = contextOf(SKEWED);

describe('prices', () => {
  const surface = runToCompletion(fitSurface(preparedChain(SKEWED)));

  test.each([
    [94, 11, 0.5],
    [104, 11, 0.95],
    [110, 46, 0.05],
    [97, 30, 0.5],
  ])('at %d in %d days, with stag_prob %d: those of the law and of the jump diffusion', (strike, days, stag_prob) => {
    const found = extended({ ambush_strike: strike, days_to_expiry: days, stag_prob }, skewed);
    const { forward, tte, rate, dividend } = found as Record<string, number>;
    const { law } = runToCompletion(jumpLawAt(surface, Date.parse(found.horizon_ends_at), stag_prob));
    const side = strike >= 100 ? 1 : -1;
    // The undiscounted price of an option is the integral of the probability of ending beyond, over all strikes beyond.
    const reach = side > 0 ? 100 * Math.exp(12 * found.atm_iv! * Math.sqrt(tte!)) : 1e-9;
    const [count, width] = [4_001, (reach - strike) / 4_000];
    const strikes = Float64Array.from({ length: count }, (_, i) => strike + i * width);
    const integral = (beyond: (row: number) => number) =>
      strikes.reduce((sum, _, i) => sum + (i % 2 ? 4 : i % (count - 1) ? 2 : 1) * beyond(i), 0) * (Math.abs(width) / 3);
    const discount = Math.exp(-rate! * tte!);
    expect(found.option_price).toBeCloseTo(discount * integral((i) => endBeyond(law, side, strikes[i]! / forward!)), 7);
    const columns = { count, spot: 100, strike: strikes, tte: tte!, rate: rate!, dividend: dividend! };
    // The columns of `zomma merton`.
    const model = merton({
      ...{ ...columns, iv: found.diffusion_volatility!, jumpIntensity: found.jump_intensity! },
      ...{ jumpMean: found.jump_mean!, jumpVol: found.jump_vol! },
    });
    const beyond = side > 0 ? model.probAbove : model.probBelow;
    expect(found.jump_model_price).toBeCloseTo(discount * integral((i) => beyond[i]!), 7);
    expect(found.jump_model_price).toBeCloseTo((side > 0 ? model.call : model.put)[0]!, 10);
    expect(Math.abs(found.jump_model_price! - found.option_price!)).toBeGreaterThan(1e-6);
  });

  test.each([0.05, 0.5, 1])('of call and put at one strike have put-call parity, with stag_prob %d', (stag_prob) => {
    const at = (spot_price: number) =>
      extended({ spot_price, ambush_strike: 103, days_to_expiry: 11, stag_prob }, skewed);
    // A strike at spot is that of a call, and one below spot that of a put.
    const [call, put] = [at(103), at(103 * (1 + 1e-12))];
    expect([call.put_call, put.put_call] as unknown).toEqual(['C', 'P']);
    const parity = Math.exp(-call.rate! * call.tte!) * (call.forward! - 103);
    expect(parity).toBeGreaterThan(0.05);
    for (const price of ['option_price', 'jump_model_price']) {
      expect(call[price]! - put[price]!).toBeCloseTo(parity, 8);
    }
  });

  test('without jumps are those of the lognormal law', () => {
    const found = extended({ days_to_expiry: 11, stag_prob: 1 }, skewed);
    expect(found.jump_model_price).toBe(found.option_price!);
  });

  test('the law has the price of a quote that a jump diffusion cannot have', () => {
    const bump = (strike: number) => 0.3 + 0.03 * Math.exp(-(((strike - 104) / 8) ** 2));
    const chain = chainOf(quoted({ strikes: STRIKES, expiry: LATER, iv: bump, halfSpread: 0.03 }));
    const { count, byLaw, byJumps } = withinQuotes(chain);
    expect([count, byLaw]).toEqual([9, 9]);
    expect(byJumps).toBeLessThan(5);
  });

  test.each(['NVDA', 'UUP'])('by the law are within the quotes of %s on the simulated market', (ticker) => {
    const { count, byLaw } = withinQuotes(simulated(ticker));
    expect(count).toBeGreaterThan(15);
    expect(byLaw).toBe(count);
  });

  describeRecorded('within the quotes of recorded chains', (dir) => {
    test.each(someRecorded(dir))('%s', (name) => {
      const { count, byLaw, byJumps } = withinQuotes(recordedChain(dir, name));
      // The recording of SPX, taken after the close, has no bids and asks near spot.
      expect(count >= 10).toBe(!name.startsWith('SPX'));
      expect(byLaw).toBeGreaterThanOrEqual(0.95 * count);
      expect(byJumps).toBeLessThanOrEqual(byLaw);
    });
  });

  /** Returns how many out-of-the-money quotes of two expiries contain the price of the law, and that of the jump diffusion. */
  function withinQuotes(chain: Chain): { count: number; byLaw: number; byJumps: number } {
    const [where, ticker, spot] = [contextOf(chain), chain.underlying, chain.spot];
    const { expiries } = call(getOptionQuotes, { ticker }, where) as { expiries: { expiry: string; days: number }[] };
    const counts = { count: 0, byLaw: 0, byJumps: 0 };
    for (const { expiry, days } of expiries.length > 6 ? [1, 6].map((i) => expiries[i]!) : expiries) {
      const { quotes } = call(getOptionQuotes, { ticker, expiry, limit: 18 }, where) as {
        quotes: { strike: number; put_call: string; bid: number; ask: number }[];
      };
      for (const { strike, put_call, bid, ask } of quotes) {
        if (put_call !== (strike >= spot ? 'C' : 'P') || bid <= 0) continue;
        const args = { ticker, spot_price: spot, ambush_strike: strike, days_to_expiry: days };
        const { option_price, jump_model_price } = performTool(calculateMertonProbability, args, where)
          .echoes as Record<string, number>;
        const isWithin = (price: number) => price > bid - 1e-9 && price < ask + 1e-9;
        counts.count++;
        if (isWithin(option_price!)) counts.byLaw++;
        if (isWithin(jump_model_price!)) counts.byJumps++;
      }
    }
    return counts;
  }
});

describe('quotes determine the probability', () => {
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

  test.each([
    ['of one price at every strike', { bid: 1, ask: 1.02 }, 0.5, true],
    ['wider than the price', { ask: 30 }, 0.5, true],
    ['of one price, for the lognormal', { bid: 1, ask: 1.02 }, 1, false],
    ['of one volatility', {}, 0.5, false],
  ])('quotes %s', (_what, quote, stag_prob, isNoted) => {
    const rows = quoted({ strikes: STRIKES }).map((row) => ({ ...row, ...quote }));
    const where = smallMarket({ chains: [chainOf(rows)] }).context;
    const { provenance, fit_error } = extended({ days_to_expiry: 11, stag_prob }, where) as unknown as {
      provenance: { notes: string[] };
      fit_error: number;
    };
    if (stag_prob < 1) expect(fit_error > 2).toBe(isNoted);
    const noted = isNoted
      ? [
          `The law is ${fit_error.toPrecision(2)} vol points from the mids (root mean square): the quotes are wide or contradict each other.`,
        ]
      : [];
    expect(provenance.notes.filter((each) => each.startsWith('The law is'))).toEqual(noted);
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
