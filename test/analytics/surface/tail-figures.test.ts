import { describe, expect, test } from 'bun:test';
import { lognormalLaw, PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { smileFigures } from '../../../src/analytics/surface/smile-figures.ts';
import { tailFigures } from '../../../src/analytics/surface/tail-figures.ts';
import { normalCdf } from '../plain.ts';

/** Integrals over one tail of the standard normal law, by parts: of t^2, |t|^3 and t^4 beyond t = u > 0. */
function normalTails(u: number): [number, number, number] {
  const [density, tail] = [Math.exp((-u * u) / 2) / Math.sqrt(2 * Math.PI), normalCdf(-u)];
  return [u * density + tail, (u * u + 2) * density, (u ** 3 + 3 * u) * density + 3 * tail];
}

describe('the shares of moments beyond the quotes', () => {
  test.each([0.5, 1, 2, 3, 4])('of a lognormal law quoted to %d standard deviations', (u) => {
    const deviation = 0.2;
    const center = -(deviation ** 2) / 2;
    const { shares } = tailFigures(lognormalLaw(deviation ** 2), [center - u * deviation, center + u * deviation]);
    const [second, third, fourth] = normalTails(u);
    const expected = [2 * second, (2 * third) / (2 * normalTails(0)[1]), (2 * fourth) / 3];
    for (const [i, share] of shares.entries()) expect(share).toBeCloseTo(expected[i]!, 12);
  });

  test('a skewness or a kurtosis that rests more on extrapolation than on quotes is not a number', () => {
    const law = lognormalLaw(0.04);
    for (const [reach, isKnown] of [
      [0.6, true],
      [0.1, false],
    ] as const) {
      const { skewness, kurtosis, varianceSwap } = smileFigures(law, 1, [-reach, reach]);
      expect([Number.isNaN(skewness), Number.isNaN(kurtosis)]).toEqual([!isKnown, !isKnown]);
      expect(varianceSwap).toBeCloseTo(0.2, 12);
    }
  });
});

describe('the band of a variance swap', () => {
  /** Masses that fall geometrically on both sides of the forward. */
  const nodes = Float64Array.from({ length: 121 }, (_, i) => Math.exp(0.02 * (i - 80)));
  const raw = nodes.map((node) => Math.exp(-40 * Math.abs(Math.log(node))));
  const total = raw.reduce((sum, mass) => sum + mass, 0);
  const mean = raw.reduce((sum, mass, i) => sum + (mass * nodes[i]!) / total, 0);
  const law = new PriceLaw(
    nodes.map((node) => node / mean),
    raw.map((mass) => mass / total),
    nodes.map(() => 0.02),
  );

  test.each([0.05, 0.15, 0.3])(
    'quoted to ln(K/F) of +-%d, it is that of option prices integrated over the strike',
    (reach) => {
      const step = 5e-4;
      const integral = (price: (x: number) => number) => {
        let sum = 0;
        for (let x = -3 + step / 2; x < 2; x += step) sum += 2 * Math.max(0, price(x)) * Math.exp(-x) * step;
        return sum;
      };
      const own = (x: number) => law.price(x < 0 ? -1 : 1, Math.exp(x));
      const beyond = (extension: (x: number, edge: number, side: 1 | -1) => number) => (x: number) =>
        Math.abs(x) <= reach ? own(x) : extension(x, Math.sign(x) * reach, x < 0 ? -1 : 1);
      const slope = (edge: number, side: 1 | -1) => (side < 0 ? law.below(Math.exp(edge)) : -law.above(Math.exp(edge)));
      const { varianceSwap, total: found } = tailFigures(law, [-reach, reach]);
      const tangent = beyond((x, edge, side) => own(edge) + slope(edge, side) * (Math.exp(x) - Math.exp(edge)));
      const logLinear = beyond(
        (x, edge, side) => own(edge) * Math.exp(((slope(edge, side) * Math.exp(edge)) / own(edge)) * (x - edge)),
      );
      expect(found).toBeCloseTo(integral(own), 6);
      expect(varianceSwap[0]).toBeCloseTo(integral(tangent), 6);
      expect(varianceSwap[1]).toBeCloseTo(integral(logLinear), 6);
      expect([varianceSwap[0] <= found, found <= varianceSwap[1]]).toEqual([true, true]);
    },
  );
});
