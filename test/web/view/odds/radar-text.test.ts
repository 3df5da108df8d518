import { describe, expect, test } from 'bun:test';
import { lognormalLaw, PriceLaw } from '../../../../src/analytics/surface/price-law.ts';
import { runStrategicOmniRadar } from '../../../../src/operations/surface/omni-radar.ts';
import {
  type CursorPair,
  densityReadout,
  describeDensity,
  fitSentence,
  lognormalReadout,
} from '../../../../web/chart/density-text.ts';
import type { Radar } from '../../../../web/data/page-answers.ts';
import { whipsawParts } from '../../../../web/view/odds/whipsaw-parts.ts';
import { callExtended } from '../../../operations/small-market.ts';
import { context } from '../../quoted-market.ts';

const radar = callExtended(runStrategicOmniRadar, { ticker: 'ACME', target_dte: 11 }, context) as unknown as Radar;

describe('density', () => {
  const percents = (text: string) => [...text.matchAll(/([\d.]+) %/g)].map(([, number]) => Number(number));

  test('the probabilities at the walls are those of the answer, in whichever order the cursors are', () => {
    const { put_wall, call_wall } = radar.gex_boundaries;
    const expected = [
      radar.state_density.probability_below_put_wall,
      radar.state_density.probability_between_walls,
      radar.state_density.probability_above_call_wall,
    ].map((share) => Number((100 * share).toFixed(1)));
    for (const pair of [
      [put_wall, call_wall],
      [call_wall, put_wall],
    ] as CursorPair[]) {
      expect(percents(densityReadout(radar, pair))).toEqual(expected);
    }
    const flat = percents(lognormalReadout(radar, [put_wall, call_wall]));
    expect(flat.reduce((sum, each) => sum + each, 0)).toBeCloseTo(100, 0);
  });

  test.each([11, 30, 200])('at %d days, every probability is that of the mixture of the answer', (days) => {
    const scanned = callExtended(
      runStrategicOmniRadar,
      { ticker: 'ACME', target_dte: days },
      context,
    ) as unknown as Radar;
    const { forward, expected_move } = scanned.state_density;
    const { node, mass, kernel } = scanned.density_parameters;
    const printed = (of: PriceLaw, [low, high]: CursorPair) =>
      [of.below(low / forward), of.below(high / forward) - of.below(low / forward), of.above(high / forward)].map(
        (share) => Number((100 * share).toFixed(1)),
      );
    const own = new PriceLaw(Float64Array.from(node), Float64Array.from(mass), Float64Array.from(kernel));
    const flat = lognormalLaw((expected_move / forward) ** 2);
    // The first prices are below the curve, and the last ones above.
    for (let step = -30; step <= 30; step++) {
      const pair: CursorPair = [forward * Math.exp(step / 4), forward * Math.exp(step / 4 + 0.03)];
      expect(percents(densityReadout(scanned, pair))).toEqual(printed(own, pair));
      expect(percents(lognormalReadout(scanned, pair))).toEqual(printed(flat, pair));
    }
  });

  test('sentences say the fit, and that an expiry without quotes is interpolated', () => {
    expect(describeDensity(radar)).toMatch(
      /^ACME at 100\.00: on 2026-01-16, in 11 days, .* between \d+\.\d\d and \d+\.\d\d with a probability of 90 %, .* Fit error [\d.]+ vol points over \d+ strikes\.$/,
    );
    expect(fitSentence({ ...radar.state_density, strikes_fitted: 0 })).toContain('interpolated');
  });
});

describe('whipsaw', () => {
  test('parts are those of the answer, each with its reason', () => {
    const parts = whipsawParts(radar);
    expect(parts.map(({ value }) => value)).toEqual(Object.values(radar.whipsaw_components));
    for (const { why } of parts) expect(why).not.toMatch(/null|NaN|undefined/);
  });

  test('unknown parts say what is missing', () => {
    const { whipsaw_inputs, whipsaw_components } = radar;
    const parts = whipsawParts({
      ...radar,
      realised_volatility: null,
      whipsaw_inputs: { ...whipsaw_inputs, flip_distance: null },
      whipsaw_components: { ...whipsaw_components, flip_proximity: null, realised_over_implied: null },
    });
    expect(parts[0]).toMatchObject({ value: null, why: 'net gamma changes sign nowhere within half of spot' });
    expect(parts[2]).toMatchObject({ value: null, why: 'too few closes are known for 20 daily returns' });
  });
});
