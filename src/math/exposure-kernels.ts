import { ExposureColumn } from '../../assembly/columns.ts';
import { arenaColumn, CHUNK_ROWS, type Column, kernels, mapColumns } from './kernels.ts';
import { memoryBytes, SCRATCH } from './text-area.ts';

/** Options now and at a later time, as columns of `count` rows. If a column is given as a number, every row has this value. */
export interface HedgeInputs {
  readonly count: number;
  /** +1 call, -1 put. */
  readonly callPut: Column;
  /** > 0. */
  readonly spot: Column;
  /** > 0. */
  readonly strike: Column;
  /** Volatility per square root of a year, >= 0. */
  readonly iv: Column;
  /** Years to expiry, >= 0. */
  readonly tte: Column;
  /** The carry ln(F/S), where F is the forward and S is spot. */
  readonly carry: Column;
  /** The delta of a forward. The delta of a call is `factor * N(d1)`. */
  readonly factor: Column;
  /**
   * The later delta of a call is `laterFactor * N((ln(F/K) + iv^2 * laterDrift) / (iv * sqrt(laterTte)))`, where `laterTte` and
   * `laterDrift` are in years.
   */
  readonly laterTte: Column;
  readonly laterDrift: Column;
  readonly laterFactor: Column;
}

/** Delta, raw vanna (as in `greeks`), and the change of delta: the later delta minus the present delta. */
export type Hedges<Value> = Readonly<Record<'delta' | 'vanna' | 'change', Value>>;

const OUTPUTS = [ExposureColumn.delta, ExposureColumn.vanna, ExposureColumn.change];

/**
 * Computes delta, vanna and the change of delta of each option. If T or iv is 0, the results are the limits as T or iv approaches 0.
 * @throws RangeError if the length of a column is not `count`.
 */
export function hedges(inputs: HedgeInputs): Hedges<Float64Array> {
  const { count, ...columns } = inputs;
  const [delta, vanna, change] = mapColumns(kernels.hedges, count, ExposureColumn, columns, OUTPUTS);
  return { delta: delta!, vanna: vanna!, change: change! };
}

/** The maximum number of pairs in the arena. The contracts of so many pairs, which are calls and puts, fit into a column. */
export const PAIRS_MAX = CHUNK_ROWS / 2;
/** The length of the array `partial` of `pairExposures`. */
const PARTIAL_SUMS = 8;
const PARTIAL = arenaColumn(ExposureColumn.sums).subarray(0, PARTIAL_SUMS);
const BLOCK = arenaColumn(0).byteOffset;

/**
 * For each of the three hedges, computes the sum of `position * multiplier * spot * hedge` over the contracts of the `count` pairs in the
 * arena's columns of `ExposureColumn`, and of those before. `partial` passes the sums from one call to the next. Each call except the last
 * must have an even number of pairs. The pairs stay in the arena.
 */
export function pairExposures(count: number, spot: number, partial: Float64Array): Hedges<number> {
  PARTIAL.set(partial);
  kernels.addPairExposures(count, BLOCK, spot, PARTIAL.byteOffset);
  partial.set(PARTIAL);
  const sum = (of: number) => partial[of]! + partial[of + 1]!;
  return { delta: sum(0) + partial[6]!, vanna: sum(2), change: sum(4) + partial[7]! };
}

/** Returns the partial sums of no pairs, for the first call of `pairExposures`. */
export function partialSums(): Float64Array {
  return new Float64Array(PARTIAL_SUMS);
}

/** The names of the sums of `addGroupExposures`, in the order of the kernel. */
export const GROUP_SUMS = [
  ...(['callGex', 'putGex', 'callOpenInterest', 'putOpenInterest', 'callVolume', 'putVolume'] as const),
  ...(['netGex', 'grossGex', 'dex', 'vex', 'cex'] as const),
];
const GROUPS = new Uint32Array(memoryBytes.buffer, arenaColumn(ExposureColumn.group).byteOffset, PAIRS_MAX);
/** The number of groups whose sums a kernel call gets. */
const GROUPS_MAX = 4096;
const SUMS = GROUP_SUMS.map((_, i) => new Float64Array(memoryBytes.buffer, SCRATCH + 8 * i * GROUPS_MAX, GROUPS_MAX));

/**
 * Adds the exposures of the pairs in the arena to the sums of their groups. `group` has the group of each pair, an index of the sums.
 * `scale` converts gamma * contracts * multiplier to GEX, and `vannaUnit` converts raw vanna.
 */
export function addGroupExposures(
  group: Uint32Array,
  spot: number,
  scale: number,
  vannaUnit: number,
  sums: Readonly<Record<(typeof GROUP_SUMS)[number], Float64Array>>,
): void {
  GROUPS.set(group);
  let [least, most] = [group[0]!, group[0]!];
  for (let i = 1; i < group.length; i++) {
    least = Math.min(least, group[i]!);
    most = Math.max(most, group[i]!);
  }
  for (let first = least; first <= most; first += GROUPS_MAX) {
    const last = Math.min(first + GROUPS_MAX - 1, most);
    for (const [i, name] of GROUP_SUMS.entries()) SUMS[i]!.set(sums[name].subarray(first, last + 1));
    const groups = [first, last, SCRATCH, 8 * GROUPS_MAX] as const;
    kernels.addGroupExposures(group.length, BLOCK, spot, scale, vannaUnit, ...groups);
    for (const [i, name] of GROUP_SUMS.entries()) sums[name].set(SUMS[i]!.subarray(0, last + 1 - first), first);
  }
}
