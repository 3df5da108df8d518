import { expect, test } from 'bun:test';
import { generator } from '../../src/bench/workloads.ts';
import { solveCholesky } from '../../src/math/cholesky.ts';

test.each([1, 2, 5, 27])('the solution of a system of %d unknowns', (n) => {
  const random = generator(n);
  const factor = Array.from({ length: n }, () => Float64Array.from({ length: n }, () => random() - 0.5));
  const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, each, i) => sum + each * b[i]!, 0);
  const rows = factor.map((a, i) => Float64Array.from(factor, (b, j) => dot(a, b) + (i === j ? 0.1 : 0)));
  const solution = Float64Array.from({ length: n }, () => random() - 0.5);
  const right = Float64Array.from(rows, (row) => dot(row, solution));
  // Above the diagonal, the matrix is not read.
  const lower = Float64Array.from(rows.flatMap((row, i) => [...row].map((each, j) => (j > i ? Number.NaN : each))));
  solveCholesky(lower, right);
  for (let i = 0; i < n; i++) expect(right[i]).toBeCloseTo(solution[i]!, 10);
});
