import { describe, expect, test } from 'bun:test';
import { COEFFICIENTS, NODE_STEP, NODES } from '../../../src/analytics/surface/log-density-basis.ts';
import { PriceLaw } from '../../../src/analytics/surface/price-law.ts';
import {
  type PriceBounds,
  type QuoteBands,
  SliceModel,
  solveDamped,
} from '../../../src/analytics/surface/slice-model.ts';
import { generator } from '../../../src/bench/workloads.ts';
import { greeks } from '../../../src/math/black-scholes.ts';
import { lossCurvature, lossSlope } from './plain-quote-loss.ts';
import { PlainSliceModel, plainSolveDamped } from './plain-slice-model.ts';

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

function equationsOf(
  model: Pick<SliceModel, 'normalEquations'>,
  coefficients: Float64Array,
): { normal: Float64Array; gradient: Float64Array } {
  const normal = new Float64Array(COEFFICIENTS ** 2);
  const gradient = new Float64Array(COEFFICIENTS);
  model.normalEquations(coefficients, normal, gradient);
  return { normal, gradient };
}

function expectClose(found: number, expected: number, scale: number): void {
  expect(Math.abs(found - expected)).toBeLessThan(1e-6 * (scale + Math.abs(expected)));
}

/** Random quotes on both sides of the forward, not sorted, with some far from the forward and some outside their bands. */
function randomQuotes(count: number, deviation: number, random: () => number): QuoteBands {
  const moneyness = Float64Array.from({ length: count }, () => Math.exp(deviation * (26 * random() - 13)));
  return {
    callPut: moneyness.map((strike) => (strike < 1 ? -1 : 1)),
    moneyness,
    price: moneyness.map((strike) => 0.4 * deviation * Math.exp(-((Math.log(strike) / deviation) ** 2) / 2) * random()),
    halfWidth: moneyness.map(() => 0.01 * deviation * (0.01 + random())),
  };
}

describe('the kernels give the bits of plain JavaScript', () => {
  test.each([
    { quotes: 0, bounds: 1 },
    { quotes: 1, bounds: 0 },
    { quotes: 40, bounds: 17 },
    { quotes: 1024, bounds: 0 },
    { quotes: 1000, bounds: 130 },
    { quotes: 2500, bounds: 3 },
  ])('$quotes quotes and $bounds bounds', ({ quotes: count, bounds: limits }) => {
    const random = generator(count + limits);
    const deviation = 0.02 + 0.3 * random();
    const quotes = randomQuotes(count, deviation, random);
    const { halfWidth: tolerance, ...of } = randomQuotes(limits, deviation, random);
    const side = tolerance.map(() => (random() < 0.5 ? 1 : -1));
    const bounds = limits === 0 ? undefined : { ...of, tolerance, side };
    const earlier = new SliceModel(quotes, deviation);
    const model = new SliceModel(quotes, deviation, bounds, undefined, earlier);
    const plain = new PlainSliceModel(quotes, deviation, bounds);
    expect(model.nodes).toEqual(plain.nodes);
    for (let round = 0; round < 3; round++) {
      const coefficients = Float64Array.from({ length: COEFFICIENTS }, () => random() - 0.5);
      const same = coefficients.slice();
      // Models that take turns, and other kernels, overwrite the columns of the arena.
      if (round === 1) earlier.evaluate(start());
      expect(model.evaluate(coefficients)).toBe(plain.evaluate(same));
      expect(coefficients).toEqual(same);
      expect(model.masses).toEqual(plain.masses);
      if (round === 2) greeks({ count: 1, callPut: 1, spot: 1, strike: 1, tte: 1, iv: 1, rate: 0, dividend: 0 });
      const [found, expected] = [equationsOf(model, coefficients), equationsOf(plain, same)];
      expect(found.gradient).toEqual(expected.gradient);
      expect(lower(found.normal)).toEqual(lower(expected.normal));
      const [step, plainStep] = [new Float64Array(COEFFICIENTS), new Float64Array(COEFFICIENTS)];
      const promised = solveDamped(found.normal, found.gradient, 0.01, step);
      expect(promised).toBe(plainSolveDamped(expected.normal, expected.gradient, 0.01, plainStep));
      expect(step).toEqual(plainStep);
      const other = plain.masses.map((mass) => mass * 1.01);
      expect(model.errorsOf(other)).toEqual(plain.errorsOf(other));
      model.evaluate(coefficients.slice());
    }
  });
});

/** The lower triangle of a matrix. */
function lower(matrix: Float64Array): number[] {
  return [...matrix].filter((_, at) => at % COEFFICIENTS <= Math.floor(at / COEFFICIENTS));
}
