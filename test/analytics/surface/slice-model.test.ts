import { describe, expect, test } from 'bun:test';
import { COEFFICIENTS, NODE_STEP, NODES } from '../../../src/analytics/surface/log-density-basis.ts';
import { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import { lossCurvature, lossSlope } from '../../../src/analytics/surface/quote-loss.ts';
import { type PriceBounds, type QuoteBands, SliceModel } from '../../../src/analytics/surface/slice-model.ts';
import { generator } from '../../../src/bench/workloads.ts';

const DEVIATION = 0.08;
const STEP = 1e-4;

/** Puts and calls as far as 13 deviations from the forward: beyond the first and the last node. */
const MONEYNESS = Float64Array.from({ length: 53 }, (_, i) => Math.exp(DEVIATION * (i / 2 - 13)));
const random = generator(3);
const QUOTES: QuoteBands = {
  callPut: MONEYNESS.map((strike) => (strike < 1 ? -1 : 1)),
  moneyness: MONEYNESS,
  price: MONEYNESS.map((strike) => 0.03 * Math.exp(-((Math.log(strike) / DEVIATION) ** 2) / 2) * (0.8 + random() / 2)),
  halfWidth: MONEYNESS.map(() => 0.002 * (0.5 + random())),
};
const BOUNDS: PriceBounds = {
  ...{ callPut: Float64Array.of(-1, 1, 1), moneyness: Float64Array.of(0.9, 1.02, 1.1) },
  ...{ price: Float64Array.of(0.001, 0.02, 0.03), tolerance: Float64Array.of(0.001, 0.002, 0.001) },
  side: Float64Array.of(1, -1, 1),
};
const SIDES = [...MONEYNESS.map(() => 0), ...BOUNDS.side];
const start = () => Float64Array.from({ length: COEFFICIENTS }, (_, i) => Math.sin(i) / 3);

function errorsAt(coefficients: Float64Array): Float64Array {
  const model = new SliceModel(QUOTES, DEVIATION, BOUNDS);
  model.evaluate(coefficients.slice());
  return model.errorsOf(model.masses).slice();
}

describe('a slice model', () => {
  const model = new SliceModel(QUOTES, DEVIATION, BOUNDS);
  const coefficients = start();
  model.evaluate(coefficients);
  const errors = model.errorsOf(model.masses).slice();

  test('prices are those of the law of the masses', () => {
    const law = new PriceLaw(model.nodes, model.masses, new Float64Array(NODES).fill(NODE_STEP * DEVIATION));
    for (const [i, moneyness] of MONEYNESS.entries()) {
      const error = (law.price(QUOTES.callPut[i]!, moneyness) - QUOTES.price[i]!) / QUOTES.halfWidth[i]!;
      expect(errors[i]).toBeCloseTo(error, 7);
    }
  });

  test('the mean is the forward, and a second evaluation changes nothing', () => {
    const mean = model.masses.reduce((sum, mass, i) => sum + mass * model.nodes[i]!, 0);
    expect(mean).toBeCloseTo(1, 12);
    const again = coefficients.slice();
    model.evaluate(again);
    for (const [i, each] of again.entries()) expect(each).toBeCloseTo(coefficients[i]!, 10);
  });

  test('normal equations are those of differences of prices', () => {
    const change = Array.from({ length: COEFFICIENTS }, (_, i) => {
      const moved = (by: number) => errorsAt(coefficients.map((each, j) => each + (i === j ? by : 0)));
      const [up, down] = [moved(STEP), moved(-STEP)];
      return up.map((each, row) => (each - down[row]!) / (2 * STEP));
    });
    const found = equationsOf(model, coefficients);
    // Without rows, the equations are those of the penalty.
    const empty = new Float64Array(0);
    const bare = new SliceModel({ callPut: empty, moneyness: empty, price: empty, halfWidth: empty }, DEVIATION);
    bare.evaluate(coefficients.slice());
    const penalty = equationsOf(bare, coefficients);
    for (let i = 0; i < COEFFICIENTS; i++) {
      const pull = SIDES.reduce((sum, side, row) => sum + lossSlope(errors[row]!, side) * change[i]![row]!, 0);
      expectClose(penalty.gradient[i]! - found.gradient[i]!, pull, SIDES.length);
      for (let j = 0; j <= i; j++) {
        const at = i * COEFFICIENTS + j;
        const product = SIDES.reduce(
          (sum, side, row) => sum + lossCurvature(errors[row]!, side) * change[i]![row]! * change[j]![row]!,
          0,
        );
        expectClose(found.normal[at]! - penalty.normal[at]!, product, SIDES.length);
      }
    }
  });
});

function equationsOf(model: SliceModel, coefficients: Float64Array): { normal: Float64Array; gradient: Float64Array } {
  const normal = new Float64Array(COEFFICIENTS ** 2);
  const gradient = new Float64Array(COEFFICIENTS);
  model.normalEquations(coefficients, normal, gradient);
  return { normal, gradient };
}

function expectClose(found: number, expected: number, scale: number): void {
  expect(Math.abs(found - expected)).toBeLessThan(1e-6 * (scale + Math.abs(expected)));
}
