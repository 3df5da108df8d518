import { expect, test } from 'bun:test';
import { computeOptionsGreeks } from '../../../src/operations/options/options-greeks.ts';
import { blackScholesDelta, blackScholesPrice, bumpedGamma } from '../../analytics/plain.ts';
import { call, callExtended, callRoute, refusalOf, smallMarket } from '../small-market.ts';

const { context } = smallMarket();

const QUESTION = { put_call: 'C', spot: 100, strike: 105, tte: 0.25, iv: 0.22, rate: 0.04, dividend: 0.01 };
const { put_call: _, ...rest } = QUESTION;

test.each(['C', 'P'])('market units equal bumped plain prices (%s)', (put_call) => {
  const found = call(computeOptionsGreeks, { ...QUESTION, put_call }, context) as Record<string, number>;
  const option = { ...rest, callPut: put_call === 'C' ? 1 : -1 };
  /** The change of a figure per unit of the input, by a central difference of a thousandth. */
  const bump = (of: typeof blackScholesPrice, field: 'iv' | 'tte' | 'rate', unit: number) =>
    (of({ ...option, [field]: option[field] + unit / 1000 }) -
      of({ ...option, [field]: option[field] - unit / 1000 })) *
    500;
  expect(found.delta).toBeCloseTo(blackScholesDelta(option), 9);
  expect(found.gamma).toBeCloseTo(bumpedGamma(option), 7);
  expect(found.vega).toBeCloseTo(bump(blackScholesPrice, 'iv', 0.01), 7);
  expect(found.rho).toBeCloseTo(bump(blackScholesPrice, 'rate', 0.01), 7);
  expect(found.theta).toBeCloseTo(-bump(blackScholesPrice, 'tte', 1 / 365), 7);
  expect(found.vanna).toBeCloseTo(bump(blackScholesDelta, 'iv', 0.01), 7);
  expect(found.charm).toBeCloseTo(-bump(blackScholesDelta, 'tte', 1 / 365), 7);
  const price = (iv: number) => blackScholesPrice({ ...option, iv });
  expect(found.volga).toBeCloseTo(price(0.23) - 2 * price(0.22) + price(0.21), 4);
});

test('the extended answer has the price and the raw derivatives', () => {
  const found = callExtended(computeOptionsGreeks, QUESTION, context) as {
    price: number;
    vega: number;
    raw: Record<string, number>;
  };
  expect(found.price).toBeCloseTo(blackScholesPrice({ ...rest, callPut: 1 }), 9);
  expect(found.raw.vega! / found.vega).toBeCloseTo(100, 9);
});

test('the tool requires the rate, the route has a default', () => {
  const { rate: __, ...noRate } = QUESTION;
  expect(refusalOf(() => call(computeOptionsGreeks, noRate, context)).fields).toEqual(['/rate']);
  expect(callRoute(computeOptionsGreeks, noRate, context)).toEqual(call(computeOptionsGreeks, QUESTION, context));
});
