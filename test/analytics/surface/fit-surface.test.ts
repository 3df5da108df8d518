import { describe, expect, spyOn, test } from 'bun:test';
import { indexChain } from '../../../bench/index-chain.ts';
import { findEvents, termStructure } from '../../../src/analytics/surface/event-variance.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import type { FittedSurface } from '../../../src/analytics/surface/fitted-surface.ts';
import { jumpLawAt } from '../../../src/analytics/surface/jump-diffusion-law.ts';
import type { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { SliceModel } from '../../../src/analytics/surface/slice-model.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { addDays, closeOf, newYorkDate, nextTradingDay, YEAR_MS } from '../../../src/market/calendar.ts';
import type { ContractRow } from '../../../src/market/contract-batch.ts';
import { CALENDAR, VarianceClock } from '../../../src/market/variance-clock.ts';
import type { Model } from '../../support/known-laws.ts';
import { volatilityOf } from '../plain.ts';
import { AS_OF, contract, prepared, preparedChain, quoted, range } from '../small-chains.ts';
import { EXPIRIES, MODELS, market, RATE, SPOT } from './known-markets.ts';

const CLOCKS: [string, VarianceClock][] = [
  ['trading time', new VarianceClock(AS_OF)],
  ['calendar time', new VarianceClock(AS_OF, CALENDAR)],
];

describe.each(CLOCKS)('a market in %s', (_, clock) => {
  describe.each(MODELS)('of %s', (_name, model) => {
    const surface = runToCompletion(fitSurface(market(model, clock)));

    test.each([7, 30, 60, 90, 180, 365])('volatility and probabilities in %d days', (days) => {
      const date = addDays(newYorkDate(AS_OF), days);
      const at = closeOf(closeOf(date) === closeOf(newYorkDate(closeOf(date))) ? date : nextTradingDay(date));
      checkAt(surface, model, clock, at);
    });

    test.each([11, 30, 102])('probabilities with jumps in %d days', (days) => {
      const { law, horizon } = runToCompletion(jumpLawAt(surface, closeOf(addDays(newYorkDate(AS_OF), days)), 0.5));
      checkProbabilities(law, model, clock.years(AS_OF + horizon.tte * YEAR_MS), Math.sqrt(horizon.atmVariance));
    });

    test('no event is found', () => {
      expect(runToCompletion(findEvents(termStructure(surface)))).toEqual([]);
    });

    test('every quote is within its band', () => {
      expect(surface.slices.map(({ fit }) => fit.outside)).toEqual(surface.slices.map(() => 0));
    });
  });
});

/** Compares the law of a surface with the model's. */
function checkAt(surface: FittedSurface, model: Model, clock: VarianceClock, at: number): void {
  const { law, atmVariance, tte, forward } = surface.lawAt(at);
  const years = clock.years(at);
  expect(forward / (SPOT * Math.exp(RATE * tte))).toBeCloseTo(1, 4);
  const atm = volatilityOf(1, 1, model(1, 1, years)) / Math.sqrt(tte);
  expect(Math.abs(Math.sqrt(atmVariance / tte) - atm)).toBeLessThan(1e-3);
  checkProbabilities(law, model, years, atm * Math.sqrt(tte));
}

/** Compares probabilities of ending above a strike with the model's. */
function checkProbabilities(law: PriceLaw, model: Model, years: number, deviation: number): void {
  for (let z = -2.5; z <= 2.5; z += 0.25) {
    const strike = Math.exp(z * deviation);
    const step = 1e-4 * strike;
    const above = (model(1, strike - step, years) - model(1, strike + step, years)) / (2 * step);
    expect(Math.abs(law.above(strike) - above), `z = ${z}`).toBeLessThan(5e-3);
  }
}

test('a series without enough strikes is refused by name, and changes nothing else', () => {
  const rows = EXPIRIES.slice(0, 4).flatMap((expiry) =>
    quoted({ root: 'SPXW', expiry, strikes: range(80, 120), halfSpread: 0.05 }),
  );
  const index = (added: readonly ContractRow[]) =>
    runToCompletion(fitSurface(prepared([...rows, ...added], {}, { underlying: 'SPX' })));
  const clean = index([]);
  const poison = { root: 'SPX', expiry: EXPIRIES[2]! };
  const cases: [string, ContractRow[]][] = [
    ['a lone strike of 1', [contract({ ...poison, strike: 1, callPut: 1, iv: 0.02 })]],
    ['two far strikes', [40, 200].flatMap((strike) => quoted({ ...poison, strikes: [strike], halfSpread: 0.01 }))],
    [
      'puts without a bid',
      quoted({ ...poison, strikes: range(80, 120), halfSpread: 0.01 }).map((row) =>
        row.callPut === 1 ? row : { ...row, bid: 0 },
      ),
    ],
  ];
  for (const [name, added] of cases) {
    const surface = index(added);
    expect(
      surface.refused.map(({ series }) => `${series.series.root} ${series.series.expiry}`),
      name,
    ).toEqual([`SPX ${poison.expiry}`]);
    for (const days of [3, 10, 20, 40]) {
      const at = AS_OF + days * 86_400_000;
      const [law, same] = [surface.lawAt(at).law, clean.lawAt(at).law];
      for (const moneyness of [0.8, 0.95, 1, 1.1]) expect(law.above(moneyness)).toBe(same.above(moneyness));
    }
  }
});

describe('the work of a fit of 30,000 contracts', () => {
  /** A settlement takes about six evaluations of all its quotes. The bounds leave room for a fit that is twice as slow. */
  const EVALUATIONS_MAX = 12;
  const chain = preparedChain(indexChain(50, 300));
  const evaluate = spyOn(SliceModel.prototype, 'evaluate');
  const works: { models: Set<unknown>; evaluations: number }[] = [];
  try {
    for (const steps = fitSurface(chain); ; evaluate.mockClear()) {
      const { done } = steps.next();
      works.push({ models: new Set(evaluate.mock.contexts), evaluations: evaluate.mock.calls.length });
      if (done) break;
    }
  } finally {
    evaluate.mockRestore();
  }
  const quotesOf = (models: Set<unknown>) => [...models].map((model) => (model as SliceModel).count);

  test('a step fits at most 500 quotes', () => {
    expect(works.length).toBeGreaterThan(20);
    for (const { models } of works) expect(quotesOf(models).reduce((sum, each) => sum + each, 0)).toBeLessThan(501);
  });

  test('a settlement takes few evaluations', () => {
    const [models, evaluations] = works.reduce(
      ([all, sum], each) => [all + each.models.size, sum + each.evaluations],
      [0, 0],
    );
    expect(models).toBe(50);
    expect(evaluations).toBeLessThan(EVALUATIONS_MAX * models);
    for (const each of works) expect(each.evaluations).toBeLessThan(61 * Math.max(1, each.models.size));
  });
});
