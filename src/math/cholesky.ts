/**
 * Solves a system of linear equations with a symmetric positive definite matrix. The argument `matrix` contains the rows one after the
 * other. The function reads only the lower triangle of the matrix. Overwrites `right` with the solution, and the lower triangle with the
 * Cholesky factor. Replaces a pivot below 1e-300 by 1e-300.
 */
export function solveCholesky(matrix: Float64Array, right: Float64Array): void {
  const n = right.length;
  const column = new Float64Array(n);
  // After computing a column of the factor, the code subtracts the products of this column from all later columns. The processor can
  // compute these differences in parallel. With dot products instead, each addition would have to wait for the previous addition.
  for (let k = 0; k < n; k++) {
    const root = Math.sqrt(Math.max(matrix[k * n + k]!, 1e-300));
    matrix[k * n + k] = root;
    const solved = right[k]! / root;
    right[k] = solved;
    for (let i = k + 1, at = i * n; i < n; i++, at += n) {
      const factor = matrix[at + k]! / root;
      matrix[at + k] = factor;
      column[i] = factor;
      right[i]! -= factor * solved;
      for (let j = k + 1; j <= i; j++) matrix[at + j]! -= factor * column[j]!;
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    const solved = right[i]! / matrix[i * n + i]!;
    right[i] = solved;
    for (let k = 0; k < i; k++) right[k]! -= matrix[i * n + k]! * solved;
  }
}
