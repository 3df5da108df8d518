import { dot } from './least-squares.ts';

/**
 * Fits values by linear least squares. The model is the set of columns that the fit uses. `toggle` adds one column to the model, or removes
 * one column from it. The method is the sweep operator (Goodnight 1979, "A tutorial on the SWEEP operator"). The time of a `toggle` call is
 * proportional to the square of the number of all columns.
 */
export class StepwiseRegression {
  /**
   * The inner product of each pair of columns, and of each column with the values. The last row and the last column belong to the values.
   * `toggle` has applied the sweep operator to this matrix for each column of the model.
   */
  private readonly matrix: readonly Float64Array[];
  /** The positions of the columns in the model. */
  private readonly joined: Set<number>;

  private constructor(
    private readonly columns: readonly Float64Array[],
    matrix: readonly Float64Array[],
    joined: Iterable<number>,
  ) {
    this.matrix = matrix.map((row) => row.slice());
    this.joined = new Set(joined);
  }

  /**
   * Returns a model without columns. `columns` are the columns that can be added to the model. Each observation has one row in `columns`
   * and `values`. The caller must divide each row by the standard error of its observation.
   */
  static of(columns: readonly Float64Array[], values: Float64Array): StepwiseRegression {
    const all = [...columns, values];
    return new StepwiseRegression(
      columns,
      all.map((a) => Float64Array.from(all, (b) => dot(a, b))),
      [],
    );
  }

  copy(): StepwiseRegression {
    return new StepwiseRegression(this.columns, this.matrix, this.joined);
  }

  has(column: number): boolean {
    return this.joined.has(column);
  }

  /**
   * Adds a column to the model. If the model already has the column, removes the column. A new column must be linearly independent of the
   * columns in the model.
   */
  toggle(column: number): void {
    if (!this.joined.delete(column)) this.joined.add(column);
    const pivotRow = this.matrix[column]!;
    const pivot = pivotRow[column]!;
    for (let j = 0; j < pivotRow.length; j++) pivotRow[j]! /= pivot;
    for (const row of this.matrix) {
      if (row === pivotRow) continue;
      const factor = row[column]!;
      for (let j = 0; j < row.length; j++) row[j]! -= factor * pivotRow[j]!;
      row[column] = -factor / pivot;
    }
    pivotRow[column] = 1 / pivot;
  }

  /** The sum of the squared errors of the fit. */
  get sumOfSquares(): number {
    // Because of rounding, the computed sum can be negative if the fit is exact.
    return Math.max(0, this.matrix.at(-1)!.at(-1)!);
  }

  /** Returns the coefficient of a column in the model. */
  coefficient(column: number): number {
    return this.matrix[column]!.at(-1)!;
  }

  /**
   * Returns the variance of the coefficient of a column in the model. The variance is correct if the standard errors of the observations
   * are correct.
   */
  variance(column: number): number {
    return this.matrix[column]![column]!;
  }

  /**
   * Returns the amount by which the sum of squared errors would fall if a column were added to the model. The result has the sign of the
   * coefficient that the column would have.
   */
  signedGain(column: number): number {
    const row = this.matrix[column]!;
    const covariance = row.at(-1)!;
    return (covariance * Math.abs(covariance)) / row[column]!;
  }

  /** Returns the derivative of a coefficient with respect to each value. The coefficient belongs to a column in the model. */
  leverage(column: number): Float64Array {
    const row = this.matrix[column]!;
    const sums = new Float64Array(this.columns[0]!.length);
    for (const each of this.joined) {
      const weight = row[each]!;
      for (let i = 0; i < sums.length; i++) sums[i]! += weight * this.columns[each]![i]!;
    }
    return sums;
  }
}
