/**
 * Solves a symmetric positive definite system, of which the lower triangle is given by rows. Overwrites the matrix, and the right side with
 * the solution. A pivot that is not positive counts as 1e-300.
 */
export function solveCholesky(matrix: Float64Array, right: Float64Array): void {
  const n = right.length;
  const column = new Float64Array(n);
  // Each column is subtracted from the columns after it. These operations do not wait for each other, as those of a dot product do.
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
