import {
  addGammaProfile,
  type LogLevels,
  logLevels,
  type ProfileColumns,
  partialProfile,
  profileOf,
} from '../../math/gamma-exposure.ts';
import { CHUNK_ROWS } from '../../math/kernels.ts';
import { byRange, runToCompletion, StepMeter, type Steps } from '../../steps.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { rowsOfColumn } from '../chain/rows.ts';

export interface GammaProfile {
  /** Spots, ascending, dollars. */
  readonly level: Float64Array;
  /** Net GEX at each, dollars per 1 % move. */
  readonly gex: Float64Array;
}

/** Distance between levels, as a fraction of the present spot. */
export const STEP = 0.0025;
/** A gamma with at least this standard deviation over log spot is wide: levels that far apart determine the values between them. */
const WIDE_MIN = 2 * STEP;

/** Net GEX over spots within `halfWidth` (a fraction) of the present one, in steps of a quarter percent. */
export function netGammaProfile(prepared: PreparedChain, halfWidth: number): GammaProfile {
  return runToCompletion(netGammaProfileInSteps(prepared, halfWidth));
}

function* netGammaProfileInSteps(prepared: PreparedChain, halfWidth: number): Steps<GammaProfile> {
  return yield* profileInSteps(yield* positionsInSteps(prepared), levelsWithin(halfWidth, prepared.chain.spot));
}

export function* profileInSteps(positions: Positions, level: Float64Array): Steps<GammaProfile> {
  return { level, gex: yield* netGexInSteps(positions, level) };
}

export function levelsWithin(halfWidth: number, spot: number): Float64Array {
  const steps = Math.round(halfWidth / STEP);
  return Float64Array.from({ length: 2 * steps + 1 }, (_, i) => spot * (1 + (i - steps) * STEP));
}

/** Net position in each gamma curve over spot. `wide`: several levels see the curve. `narrow`: its peak may pass between two levels. */
export interface Positions {
  readonly wide: PositionColumns;
  readonly narrow: PositionColumns;
}

/** Columns as the kernel takes them. Each is an array with all rows. */
export type PositionColumns = Readonly<Record<'strike' | 'tte' | 'iv' | 'rate' | 'dividend' | 'weight', Float64Array>> &
  Pick<ProfileColumns, 'count'>;

/** Pairs that one step handles, and rows of columns that it fills. */
const STEP_PAIRS = 65_536;

/**
 * A call and a put that share their volatility share their gamma at every spot, so only the net of their positions counts. Pairs with a net
 * of 0 are left out. So are pairs without a volatility, since they have no gamma elsewhere either.
 */
export function* positionsInSteps({ pairs, position, multiplier }: PreparedChain): Steps<Positions> {
  const { count, contracts, tte, iv } = pairs;
  const message = 'Adding up positions';
  const net = new Float64Array(count);
  // Wide pairs from the front, narrow pairs from the back.
  const pairRows = new Uint32Array(count);
  let [wide, narrow] = [0, count];
  yield* byRange(count, STEP_PAIRS, message, (from, to) => {
    for (let pair = from; pair < to; pair++) {
      let pairNet = 0;
      for (let i = contracts[pair]!; i < contracts[pair + 1]!; i++) pairNet += position[i]! * multiplier[i]!;
      net[pair] = pairNet;
      if (pairNet === 0 || !(iv[pair]! > 0)) continue;
      if (iv[pair]! * Math.sqrt(tte[pair]!) >= WIDE_MIN) pairRows[wide++] = pair;
      else pairRows[--narrow] = pair;
    }
  });
  const meter = new StepMeter(STEP_PAIRS);
  const column = function* (rows: Uint32Array, source: Float64Array): Steps<Float64Array> {
    if (count > STEP_PAIRS && meter.isFull(rows.length)) yield { message };
    return rowsOfColumn(source, rows);
  };
  const columns = function* (rows: Uint32Array): Steps<PositionColumns> {
    return {
      count: rows.length,
      strike: yield* column(rows, pairs.strike),
      tte: yield* column(rows, tte),
      iv: yield* column(rows, iv),
      rate: yield* column(rows, pairs.rate),
      dividend: yield* column(rows, pairs.dividend),
      weight: yield* column(rows, net),
    };
  };
  return { wide: yield* columns(pairRows.subarray(0, wide)), narrow: yield* columns(pairRows.subarray(narrow)) };
}

/** Net GEX at each level, of all positions. */
export function* netGexInSteps({ wide, narrow }: Positions, level: Float64Array): Steps<Float64Array> {
  const gex = yield* gexInSteps(wide, level);
  const more = yield* gexInSteps(narrow, level);
  return gex.map((each, i) => each + more[i]!);
}

/** Contracts times levels in a step of some 5 ms. Each takes one exponential, or two products if levels are a fixed percentage apart. */
const STEP_LISTED = 524_288;
const STEP_LOG = 3_145_728;

export function* gexInSteps(columns: PositionColumns, levels: Float64Array | LogLevels): Steps<Float64Array> {
  const isListed = levels instanceof Float64Array;
  const level = isListed ? levels : logLevels(levels);
  const partial = partialProfile(levels);
  const chunks = Math.floor((isListed ? STEP_LISTED : STEP_LOG) / (level.length * CHUNK_ROWS));
  yield* byRange(columns.count, Math.max(1, chunks) * CHUNK_ROWS, 'Pricing gamma over levels of spot', (from, to) => {
    const slice = (column: Float64Array) => column.subarray(from, to);
    const block = {
      count: to - from,
      strike: slice(columns.strike),
      tte: slice(columns.tte),
      iv: slice(columns.iv),
      rate: slice(columns.rate),
      dividend: slice(columns.dividend),
      weight: slice(columns.weight),
    };
    addGammaProfile(block, levels, partial);
  });
  return profileOf(partial).map((sum, i) => sum * level[i]! ** 2 * 0.01);
}
