import { GammaProfileColumn } from '../../assembly/columns.ts';
import type { OptionColumns } from './black-scholes.ts';
import { arenaColumn, arenaSpan, CHUNK_ROWS, type Column, checkLengths, inChunks, kernels } from './kernels.ts';

// In this file, a level is a spot price for which gamma is computed.

/** Contracts as columns. */
export interface ProfileColumns extends Omit<OptionColumns, 'callPut' | 'spot'> {
  /** Factor of each contract's gamma, for example open interest times multiplier. The factor of a put may be negative. */
  readonly weight: Column;
}

/** The levels `first * e^(i * step)`, for i from 0 to `count - 1`. Each level is the same percentage above the previous level. */
export interface LogLevels {
  /** The lowest level: a spot price, > 0. */
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** Returns the levels as spot prices. */
export function logLevels({ first, step, count }: LogLevels): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => first * Math.exp(i * step));
}

/**
 * Returns the sum of `weight * gamma` over all contracts at each level of spot (> 0). Gamma is per 1.00 of spot. Volatilities stay, and the
 * forward moves in proportion to spot. A contract whose weight, T or iv is 0 adds nothing. A NaN makes the sums NaN. Sums agree with `greeks`
 * to 1e-13 of the gross gamma, and to 1e-12 for `LogLevels`, which take a sixth of the time.
 * @throws RangeError if the length of a column is not `count`.
 */
export function gammaProfile(contracts: ProfileColumns, levels: Float64Array | LogLevels): Float64Array {
  const partial = partialProfile(levels);
  addGammaProfile(contracts, levels, partial);
  return profileOf(partial);
}

/** Returns the partial sums of a profile without contracts: two zeros for each level. */
export function partialProfile(levels: Float64Array | LogLevels): Float64Array {
  if (!(levels instanceof Float64Array)) checkLengths(levels.count, {});
  return new Float64Array(2 * levelCount(levels));
}

/** Returns the profile, which is the sum of the two partial sums of each level. */
export function profileOf(partial: Float64Array): Float64Array {
  const profile = new Float64Array(partial.length >> 1);
  for (let i = 0; i < profile.length; i++) profile[i] = partial[2 * i]! + partial[2 * i + 1]!;
  return profile;
}

function levelCount(levels: Float64Array | LogLevels): number {
  return levels instanceof Float64Array ? levels.length : levels.count;
}

/**
 * Adds contracts to the partial sums of a profile. A caller may add the contracts in several calls. If every call except the last has a
 * multiple of CHUNK_ROWS rows, the sums have the same bits as the sums of a single call with all contracts.
 * @throws RangeError if the length of a column is not `count`.
 */
export function addGammaProfile(
  contracts: ProfileColumns,
  levels: Float64Array | LogLevels,
  partial: Float64Array,
): void {
  const { count, strike, tte, iv, rate, dividend, weight } = contracts;
  const inputs = { strike, tte, iv, rate, dividend, weight };
  checkLengths(count, inputs);
  const { levels: levelColumn, moves: moveColumn, sums: sumColumn } = GammaProfileColumn;
  const [level, moves, sums] = [arenaColumn(levelColumn), arenaColumn(moveColumn), arenaSpan(sumColumn, 2)];
  const listed = levels instanceof Float64Array;
  const all = levelCount(levels);
  for (let from = 0; from < all; from += CHUNK_ROWS) {
    const length = Math.min(CHUNK_ROWS, all - from);
    const reference = listed ? levels[0]! : levels.first * Math.exp(from * levels.step);
    if (listed) {
      level.set(levels.subarray(from, from + length));
      kernels.logMoves(length, level.byteOffset, reference, moves.byteOffset);
    }
    sums.set(partial.subarray(2 * from, 2 * (from + length)));
    inChunks(count, GammaProfileColumn, inputs, (block, start, end) => {
      if (listed) kernels.addGammaProfile(end - start, block, reference, length, moves.byteOffset, sums.byteOffset);
      else kernels.addGammaLogProfile(end - start, block, reference, levels.step, length, sums.byteOffset);
    });
    partial.set(sums.subarray(0, 2 * length), 2 * from);
  }
}

/**
 * For each contract, adds `gamma * weight` to the element of `into` with the index `strikeIndex`. `into` has `strikes` elements.
 * @throws RangeError if lengths differ or an index is not below `strikes`.
 */
export function gammaByStrike(
  gamma: Float64Array,
  weight: Float64Array,
  strikeIndex: Uint32Array,
  strikes: number,
  into: Float64Array = new Float64Array(strikes),
): Float64Array {
  const count = gamma.length;
  checkLengths(count, { weight, strikeIndex });
  checkLengths(strikes, { into });
  for (let row = 0; row < count; row++) {
    if (strikeIndex[row]! >= strikes) {
      throw new RangeError(`strikeIndex ${strikeIndex[row]} is outside the ${strikes} strikes`);
    }
  }
  const [gammas, weights, indices, sums] = [arenaColumn(0), arenaColumn(1), arenaColumn(2), arenaColumn(3)];
  for (let first = 0; first < strikes; first += CHUNK_ROWS) {
    const length = Math.min(CHUNK_ROWS, strikes - first);
    sums.set(into.subarray(first, first + length));
    for (let start = 0; start < count; start += CHUNK_ROWS) {
      const end = Math.min(start + CHUNK_ROWS, count);
      gammas.set(gamma.subarray(start, end));
      weights.set(weight.subarray(start, end));
      indices.set(strikeIndex.subarray(start, end));
      kernels.addGammaByStrike(
        end - start,
        gammas.byteOffset,
        weights.byteOffset,
        indices.byteOffset,
        first,
        length,
        sums.byteOffset,
      );
    }
    into.set(sums.subarray(0, length), first);
  }
  return into;
}
