import { expect, test } from 'bun:test';
import { StepwiseRegression } from '../../src/math/stepwise-regression.ts';

const X = Array.from({ length: 12 }, (_, i) => i / 5 - 1);
const COLUMNS = [
  X.map(() => 1),
  X,
  X.map((x) => x * x),
  X.map((x) => Number(x > 0.3)),
  X.map((x) => Math.sin(7 * x)),
].map((column) => Float64Array.from(column));
const NOISE = X.map((_, i) => 0.01 * Math.cos(9 * i * i));
/** 2 - 3 x + 0.5 [x > 0.3], with small errors. */
const VALUES = Float64Array.from(X, (x, i) => 2 - 3 * x + 0.5 * Number(x > 0.3) + NOISE[i]!);

function model(columns: readonly number[], values = VALUES): StepwiseRegression {
  const regression = StepwiseRegression.of(COLUMNS, values);
  for (const column of columns) regression.toggle(column);
  return regression;
}

/** Sum of squared errors of some coefficients. */
function squares(columns: readonly number[], coefficients: readonly number[]): number {
  return VALUES.reduce((sum, value, i) => {
    const fitted = columns.reduce((total, column, j) => total + coefficients[j]! * COLUMNS[column]![i]!, 0);
    return sum + (value - fitted) ** 2;
  }, 0);
}

test('the coefficients minimise the sum of squares', () => {
  const columns = [0, 1, 3];
  const fit = model(columns);
  const found = columns.map((column) => fit.coefficient(column));
  [2, -3, 0.5].forEach((each, i) => {
    expect(found[i]!).toBeCloseTo(each, 1);
  });
  expect(fit.sumOfSquares).toBeCloseTo(squares(columns, found), 12);
  for (const [i, each] of found.entries()) {
    for (const change of [-1e-4, 1e-4])
      expect(squares(columns, found.with(i, each + change))).toBeGreaterThan(fit.sumOfSquares);
  }
});

test('the order in which columns join does not matter, and a column that joins and leaves changes nothing', () => {
  const [one, other] = [model([0, 1, 3]), model([3, 4, 1, 2, 0, 4, 2])];
  for (const column of [0, 1, 3]) expect(other.coefficient(column)).toBeCloseTo(one.coefficient(column), 9);
  expect([...COLUMNS.keys()].map((column) => other.has(column))).toEqual([true, true, false, true, false]);
});

test('the signed gain is the fall of the sum of squares', () => {
  const fit = model([0, 1]);
  for (const column of [2, 3, 4]) {
    const larger = model([0, 1, column]);
    expect(Math.abs(fit.signedGain(column))).toBeCloseTo(fit.sumOfSquares - larger.sumOfSquares, 9);
    expect(Math.sign(fit.signedGain(column))).toBe(Math.sign(larger.coefficient(column)));
  }
});

test('leverage is the change of a coefficient with each value, and variance its sum of squares', () => {
  const leverage = model([0, 1, 3]).leverage(3);
  for (const [i, each] of leverage.entries()) {
    const moved = model([0, 1, 3], VALUES.with(i, VALUES[i]! + 1)).coefficient(3);
    expect(moved - model([0, 1, 3]).coefficient(3)).toBeCloseTo(each, 9);
  }
  expect(model([0, 1, 3]).variance(3)).toBeCloseTo(
    leverage.reduce((sum, each) => sum + each * each, 0),
    9,
  );
});

test('a copy is independent', () => {
  const fit = model([0, 1]);
  const before = fit.sumOfSquares;
  fit.copy().toggle(3);
  expect([fit.sumOfSquares, fit.has(3)]).toEqual([before, false]);
});

test('the sum of squares of an exact fit is not negative', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const x = Float64Array.from({ length: 9 }, (_, i) => Math.log(seed * (i + 1)));
    const columns = [0, 1, 2].map((power) => x.map((each) => each ** power));
    const model = StepwiseRegression.of(
      columns,
      columns[0]!.map((each, i) => each + 0.3 * columns[2]![i]!),
    );
    for (const column of columns.keys()) model.toggle(column);
    expect(model.sumOfSquares).toBeGreaterThanOrEqual(0);
  }
});
