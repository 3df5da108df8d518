import { SliceColumn } from '../assembly/columns.ts';
import { COEFFICIENTS } from '../src/analytics/surface/log-density-basis.ts';
import { NEAR } from '../src/analytics/surface/near-prices.ts';
import { solveDamped } from '../src/analytics/surface/slice-model.ts';
import { arenaColumn, kernels } from '../src/math/kernels.ts';
import { add, exactly, product, sub, ZERO } from '../test/fixtures/double-double.ts';
import { draws } from '../test/fixtures/vectors.ts';
import { EPSILON } from '../test/math/reference.ts';

type See = (output: string, error: number, at: () => string) => void;

/** Measures the kernels of assembly/slice-model.ts: prices for random masses, and solutions of random normal equations. */
export function measureSlices(see: See): void {
  for (let round = 0; round < 200; round++) {
    seePrice(round, see);
    seeStep(round, see);
  }
}

/** The price of a call at strike 1 with 100 nodes, of which the nodes 40 to 52 are near. The unit is one rounding of each term. */
function seePrice(round: number, see: See): void {
  const { uniform } = draws(11 + round);
  const nodes = 100;
  const vectors = { node: arenaColumn(SliceColumn.nodes), mass: arenaColumn(SliceColumn.masses) };
  const near = arenaColumn(SliceColumn.near);
  const [from, to] = [40, 40 + NEAR];
  for (let i = 0; i < nodes; i++) {
    vectors.node[i] = 0.5 + i / nodes + uniform(0, 1 / nodes);
    vectors.mass[i] = uniform(0, 1);
  }
  for (let i = 0; i < NEAR; i++) near[i] = uniform(0, 1);
  const row = { callPut: 1, strike: 1, price: 0, scale: 1, nearFrom: from, nearTo: to };
  for (const [name, value] of Object.entries(row)) arenaColumn(SliceColumn[name as keyof typeof row])[0] = value;
  const masses = vectors.mass.slice(0, nodes);
  kernels.sliceSums(nodes, 1, arenaColumn(0).byteOffset);
  kernels.sliceErrors(1, nodes, 0, arenaColumn(0).byteOffset);
  let [exact, unit] = [ZERO, 0];
  for (let i = from; i < nodes; i++) {
    const mass = masses[i]!;
    const term = i < to ? product(mass, near[i - from]!) : sub(product(mass, vectors.node[i]!), exactly(mass));
    exact = add(exact, term);
    unit += mass;
  }
  // The sums over earlier nodes include all masses, and the price is the difference of two of them.
  for (let i = 0; i < from; i++) unit += masses[i]!;
  const error = sub(exact, exactly(arenaColumn(SliceColumn.error)[0]!)).high;
  see('price', Math.abs(error) / (EPSILON * unit), () => `draw ${round} of scripts/slice-errors.ts`);
}

/** The residual of a solution. The unit is one rounding of each product of the matrix and the solution. */
function seeStep(round: number, see: See): void {
  const { uniform } = draws(1011 + round);
  const n = COEFFICIENTS;
  const factor = Float64Array.from({ length: n * n }, () => uniform(-0.5, 0.5));
  const damping = 2 ** -7;
  const normal = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      for (let k = 0; k < n; k++) normal[i * n + j]! += factor[i * n + k]! * factor[j * n + k]!;
    }
    normal[i * n + i]! += 0.1;
  }
  const gradient = Float64Array.from({ length: n }, () => uniform(-1, 1));
  const step = new Float64Array(n);
  solveDamped(normal, gradient, damping, step);
  for (let i = 0; i < n; i++) {
    let [rest, unit] = [exactly(gradient[i]!), Math.abs(gradient[i]!)];
    for (let j = 0; j < n; j++) {
      const [row, column] = i > j ? [i, j] : [j, i];
      const element = normal[row * n + column]! * (i === j ? 1 + damping : 1);
      rest = sub(rest, product(element, step[j]!));
      unit += Math.abs(element * step[j]!);
    }
    see('step', Math.abs(rest.high) / (EPSILON * unit), () => `row ${i} of draw ${round} of scripts/slice-errors.ts`);
  }
}
