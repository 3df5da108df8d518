import { arenaColumn, CHUNK_ROWS, type Column, checkLengths, kernels } from './kernels.ts';

/** Contracts as columns of `count` rows; a number stands for a column of it. Units as in OptionColumns. */
export interface ProfileColumns {
  readonly count: number;
  readonly strike: Column;
  readonly tte: Column;
  readonly iv: Column;
  readonly rate: Column;
  readonly dividend: Column;
  /** What each contract's gamma counts, with its sign: e.g. open interest times multiplier, negative for puts. */
  readonly weight: Column;
}

/**
 * For each level of spot (> 0), the sum over contracts of weight * gamma there, gamma per 1.00 of spot: volatility stays with
 * the strike, the forward moves in proportion to spot. A contract whose weight, T or iv is 0 adds nothing; one without a
 * number (NaN) spoils the sums. Agrees with the sum of `greeks` to about 1e-13 of the gross gamma.
 * @throws RangeError where a column's length is not `count`.
 */
export function gammaProfile(contracts: ProfileColumns, levels: Float64Array): Float64Array {
  const { count, strike, tte, iv, rate, dividend, weight } = contracts;
  const inputs = { strike, tte, iv, rate, dividend, weight };
  checkLengths(count, inputs);
  const given = Object.values(inputs);
  const rows = given.map((_, at) => arenaColumn(at));
  const [level, moves, sums] = [
    arenaColumn(given.length),
    arenaColumn(given.length + 1),
    arenaColumn(given.length + 2),
  ];
  const profile = new Float64Array(levels.length);
  const reference = levels[0] ?? 1;
  inChunks(levels.length, (from, to) => {
    level.set(levels.subarray(from, to));
    sums.fill(0);
    kernels.logMoves(to - from, level.byteOffset, reference, moves.byteOffset);
    inChunks(count, (start, end) => {
      given.forEach((column, at) => {
        if (typeof column === 'number') rows[at]!.fill(column);
        else rows[at]!.set(column.subarray(start, end));
      });
      const [K, T, v, r, q, w] = rows.map((row) => row.byteOffset) as [number, number, number, number, number, number];
      kernels.addGammaProfile(end - start, K, T, v, r, q, w, reference, to - from, moves.byteOffset, sums.byteOffset);
    });
    profile.set(sums.subarray(0, to - from), from);
  });
  return profile;
}

/**
 * For each of `strikes` strikes, the sum of gamma * weight over the contracts whose `strikeIndex` it is.
 * @throws RangeError where lengths differ or an index is not below `strikes`.
 */
export function gammaByStrike(
  gamma: Float64Array,
  weight: Float64Array,
  strikeIndex: Uint32Array,
  strikes: number,
): Float64Array {
  const count = gamma.length;
  checkLengths(count, { weight, strikeIndex });
  const outside = strikeIndex.find((index) => index >= strikes);
  if (outside !== undefined) throw new RangeError(`strikeIndex ${outside} is outside the ${strikes} strikes`);
  const [gammas, weights, indices, sums] = [arenaColumn(0), arenaColumn(1), arenaColumn(2), arenaColumn(3)];
  const result = new Float64Array(strikes);
  inChunks(strikes, (first, last) => {
    sums.fill(0);
    inChunks(count, (start, end) => {
      gammas.set(gamma.subarray(start, end));
      weights.set(weight.subarray(start, end));
      indices.set(strikeIndex.subarray(start, end));
      kernels.addGammaByStrike(
        end - start,
        gammas.byteOffset,
        weights.byteOffset,
        indices.byteOffset,
        first,
        last - first,
        sums.byteOffset,
      );
    });
    result.set(sums.subarray(0, last - first), first);
  });
  return result;
}

function inChunks(count: number, work: (start: number, end: number) => void): void {
  for (let start = 0; start < count; start += CHUNK_ROWS) work(start, Math.min(start + CHUNK_ROWS, count));
}
