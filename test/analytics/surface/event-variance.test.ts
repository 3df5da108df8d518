import { describe, expect, test } from 'bun:test';
import {
  type EventVariance,
  findEvents,
  type TermPoint,
  termResidual,
  termStructure,
} from '../../../src/analytics/surface/event-variance.ts';
import { fitSurface } from '../../../src/analytics/surface/fit-surface.ts';
import { runToCompletion } from '../../../src/core/steps.ts';
import { closeOf } from '../../../src/market/calendar.ts';
import { CALENDAR, VarianceClock } from '../../../src/market/variance-clock.ts';
import { AS_OF } from '../small-chains.ts';
import { EXPIRIES, MODELS, market, withEvent } from './known-markets.ts';

const DAYS = {
  daily: [...Array.from({ length: 20 }, (_, i) => 1 + 1.4 * i), 35, 42, 49, 56, 91, 147, 210, 301, 392, 574, 847],
  weekly: [3, 5, 7, 14, 21, 28, 35, 42, 56, 91, 119, 147, 182, 210, 301, 392, 483, 574, 847],
  monthly: [28, 56, 91, 119, 147, 182, 210, 301, 392, 483, 574, 847],
  few: [7, 14, 28, 56, 91, 147, 182],
};
type Listed = keyof typeof DAYS;

/** Total variance by years, for variances now and in the long run, and the speed at which one becomes the other. */
const reverting = (now: number, later: number, speed: number) => (years: number) =>
  later * years + ((now - later) * (1 - Math.exp(-speed * years))) / speed;

const CURVES = {
  flat: reverting(0.09, 0.09, 1),
  rising: reverting(0.04, 0.09, 2),
  calm: reverting(0.01, 0.05, 6),
  falling: reverting(0.16, 0.05, 8),
  'after a crash': reverting(0.6, 0.06, 12),
};
type Curve = keyof typeof CURVES;

/** The term structure of a curve, in which events of some moves lie before some settlements. */
function term(curve: Curve, listed: Listed, moves: Readonly<Record<number, number>> = {}): TermPoint[] {
  return DAYS[listed].map((days, i) => {
    const events = Object.entries(moves).filter(([settlement]) => Number(settlement) <= i);
    const years = days / 365.25;
    const variance = CURVES[curve](years) + events.reduce((sum, [, move]) => sum + move * move, 0);
    return { years, variance, band: 0.01 };
  });
}

/** The moves of some events, by settlement. */
const movesOf = (events: readonly EventVariance[]) =>
  Object.fromEntries(events.map(({ settlement, variance }) => [settlement, Math.sqrt(variance)]));

describe.each(Object.keys(DAYS) as Listed[])('%s expiries', (listed) => {
  test.each(Object.keys(CURVES) as Curve[])('a smooth curve has no event: %s', (curve) => {
    expect(runToCompletion(findEvents(term(curve, listed)))).toEqual([]);
  });
});

test.each<[Curve, Listed, Record<number, number>]>([
  ['flat', 'weekly', { 3: 0.05 }],
  ['rising', 'weekly', { 9: 0.08 }],
  ['rising', 'weekly', { 1: 0.06, 9: 0.08 }],
  ['flat', 'monthly', { 2: 0.06 }],
  ['rising', 'monthly', { 2: 0.1, 6: 0.12 }],
  ['flat', 'few', { 2: 0.05 }],
  ['calm', 'daily', { 4: 0.03 }],
  ['falling', 'daily', { 4: 0.05, 5: 0.04 }],
  ['after a crash', 'daily', { 2: 0.08 }],
  ['flat', 'weekly', { 0: 0.04 }],
])('%s, %s expiries: events are found with their moves: %p', (curve, listed, moves) => {
  const points = term(curve, listed, moves);
  const events = runToCompletion(findEvents(points));
  const found = movesOf(events);
  expect(Object.keys(found)).toEqual(Object.keys(moves));
  for (const [settlement, move] of Object.entries(moves)) expect(found[settlement]! / move).toBeWithin(0.95, 1.05);
  expect(termResidual(points, events)!).toBeLessThan(termResidual(points, [])!);
});

test('an event before the last settlement alone is not told from a steep end', () => {
  expect(runToCompletion(findEvents(term('flat', 'weekly', { [DAYS.weekly.length - 1]: 0.2 })))).toEqual([]);
});

test('too few settlements have neither events nor a smooth curve', () => {
  const points = term('flat', 'few', { 2: 0.1 }).slice(0, 4);
  expect([runToCompletion(findEvents(points)), termResidual(points, [])]).toEqual([[], undefined]);
});

test('the band of an event is what the bands of the volatilities move it', () => {
  const points = term('flat', 'weekly', { 3: 0.06 }).map((point, i) => ({ ...point, band: 0.01 + 0.003 * (i % 4) }));
  const eventOf = (each: readonly TermPoint[]) =>
    runToCompletion(findEvents(each)).find(({ settlement }) => settlement === 3)!;
  const event = eventOf(points);
  const share = 1e-3;
  const moves = points.map((point, i) => {
    const up = { ...point, variance: point.variance * (1 + share * point.band) ** 2 };
    return (eventOf(points.with(i, up)).variance - event.variance) / share;
  });
  expect(event.band / Math.hypot(...moves)).toBeCloseTo(1, 2);
});

test('a wide band hides an event', () => {
  const wide = term('flat', 'weekly', { 9: 0.05 }).map((point) => ({ ...point, band: 0.3 }));
  expect(runToCompletion(findEvents(wide))).toEqual([]);
});

describe.each([
  ['trading time', new VarianceClock(AS_OF)],
  ['calendar time', new VarianceClock(AS_OF, CALENDAR)],
])('a market in %s', (_, clock) => {
  // The price of a Heston option takes too long to be computed for each size of the event.
  test.each(MODELS.slice(0, 3).flatMap(([name, model]) => [3, 7].map((settlement) => ({ name, model, settlement }))))(
    'of $name with an event before settlement $settlement',
    ({ model, settlement }) => {
      const after = clock.years(closeOf(EXPIRIES[settlement - 1]!));
      const events = runToCompletion(
        findEvents(termStructure(runToCompletion(fitSurface(market(withEvent(model, 0.08, after), clock))))),
      );
      expect(movesOf(events)).toEqual({ [settlement]: expect.closeTo(0.08, 2.1) });
      expect(movesOf(events)[settlement]! / 0.08).toBeWithin(0.95, 1.05);
    },
  );
});
