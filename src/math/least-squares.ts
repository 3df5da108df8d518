import { StepMeter, type Steps } from '../core/steps.ts';

/** The result of a minimisation: the parameters at the minimum, and the sum of squares for these parameters. */
export interface LeastSquares {
  readonly parameters: number[];
  readonly sumOfSquares: number;
}

export const ITERATIONS_MAX = 60;
const DAMPING_MAX = 1e10;
/** The search ends if an iteration reduces the sum of squares by less than this share. */
const GAIN_MIN = 1e-9;
/**
 * The width of a forward difference, relative to the size of the parameter (at least 0.1). The width is near the square root of a double's
 * precision.
 */
const DIFFERENCE_WIDTH = 1e-7;

/**
 * Minimises the sum of squares of `residuals` over a few parameters. The method is Levenberg and Marquardt's with forward differences
 * (Marquardt 1963, with his scaling by the diagonal). The function `residuals` may return values that are not finite for some parameters,
 * but the search never moves to such parameters. A small `iterationsMax` ends the search early, so that a caller can compare several
 * starts. Each step of the work evaluates `residuals` at most `evaluations` times.
 */
export function* leastSquares(
  residuals: (parameters: readonly number[]) => Float64Array,
  start: readonly number[],
  { iterationsMax, evaluations }: { readonly iterationsMax: number; readonly evaluations: number },
): Steps<LeastSquares> {
  const meter = new StepMeter(evaluations);
  let parameters = [...start];
  let current = residuals(parameters);
  let sumOfSquares = squares(current);
  let damping = 1e-3;
  for (let iteration = 0; iteration < iterationsMax && Number.isFinite(sumOfSquares); iteration++) {
    const jacobian: Float64Array[] = [];
    for (let i = 0; i < parameters.length; i++) {
      if (meter.beginsNextStep(1)) yield FITTING;
      jacobian.push(derivative(residuals, parameters, current, i));
    }
    const { normal, gradient } = normalEquations(jacobian, current);
    let gain = 0;
    while (damping < DAMPING_MAX) {
      const change = solve(
        normal.map((row, i) => row.map((value, j) => (i === j ? value * (1 + damping) + 1e-12 : value))),
        gradient,
      );
      const next = parameters.map((value, i) => value - change[i]!);
      if (meter.beginsNextStep(1)) yield FITTING;
      const nextResiduals = residuals(next);
      const nextSum = squares(nextResiduals);
      if (nextSum < sumOfSquares) {
        gain = (sumOfSquares - nextSum) / sumOfSquares;
        [parameters, current, sumOfSquares] = [next, nextResiduals, nextSum];
        damping = Math.max(damping / 5, 1e-12);
        break;
      }
      damping *= 4;
    }
    if (gain < GAIN_MIN) break;
  }
  return { parameters, sumOfSquares };
}

const FITTING = { message: 'Fitting to the quotes' };

/** Returns the derivatives of the residuals with respect to the parameter at index `i`. */
function derivative(
  residuals: (parameters: readonly number[]) => Float64Array,
  parameters: readonly number[],
  current: Float64Array,
  i: number,
): Float64Array {
  const value = parameters[i]!;
  const width = DIFFERENCE_WIDTH * Math.max(Math.abs(value), 0.1);
  const moved = residuals(parameters.with(i, value + width));
  return moved.map((each, i) => (each - current[i]!) / width);
}

function normalEquations(
  jacobian: readonly Float64Array[],
  current: Float64Array,
): { normal: number[][]; gradient: number[] } {
  return {
    normal: jacobian.map((a) => jacobian.map((b) => dot(a, b))),
    gradient: jacobian.map((a) => dot(a, current)),
  };
}

/** Solves linear equations by Gaussian elimination with partial pivoting. If the pivot of an unknown is 0, the unknown becomes 0. */
function solve(matrix: number[][], right: readonly number[]): number[] {
  const n = right.length;
  const rows = matrix.map((row, i) => [...row, right[i]!]);
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let i = column + 1; i < n; i++) {
      if (Math.abs(rows[i]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = i;
    }
    [rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!];
    const lead = rows[column]![column]!;
    if (lead === 0) continue;
    for (let i = column + 1; i < n; i++) {
      const factor = rows[i]![column]! / lead;
      for (let j = column; j <= n; j++) rows[i]![j]! -= factor * rows[column]![j]!;
    }
  }
  const solution = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let rest = rows[i]![n]!;
    for (let j = i + 1; j < n; j++) rest -= rows[i]![j]! * solution[j]!;
    solution[i] = rows[i]![i] === 0 ? 0 : rest / rows[i]![i]!;
  }
  return solution;
}

function squares(residuals: Float64Array): number {
  return dot(residuals, residuals);
}

/** Returns the dot product of two arrays. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
