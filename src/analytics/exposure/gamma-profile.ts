import { recordOf } from '../../core/record-of.ts';
import { byRange, StepMeter, type Steps } from '../../core/steps.ts';
import {
  addGammaProfile,
  type LogLevels,
  logLevels,
  type ProfileColumns,
  partialProfile,
  profileOf,
} from '../../math/gamma-exposure.ts';
import { CHUNK_ROWS } from '../../math/kernels.ts';
import { PRICED_COLUMNS, type PreparedChain } from '../chain/prepared-chain.ts';
import { rowsOfColumn } from '../chain/rows.ts';
import { isStickyStrike, smileMover } from './smile-dynamics.ts';

// In this file, a level is a spot price at which gamma is computed.

/** Net GEX as a function of spot. */
export interface GammaProfile {
  /** Levels, ascending, dollars. */
  readonly level: Float64Array;
  /** Net GEX at each level, dollars per 1 % move. */
  readonly gex: Float64Array;
}

/** The distance between two levels, as a fraction of the present spot. */
export const STEP = 0.0025;
/** Gamma curves (deviation `v sqrt(T)` in log spot) from this width on are determined by their values at the levels. */
const WIDE_MIN = 2 * STEP;

/** Returns the net GEX at levels that are 0.25 % of spot apart, up to `halfWidth` (a fraction of spot) below and above spot. */
export function* netGammaProfile(prepared: PreparedChain, halfWidth: number): Steps<GammaProfile> {
  const level = levelsWithin(halfWidth, prepared.chain.spot);
  return { level, gex: yield* netGexOf(prepared, level) };
}

/** Returns the net GEX of a chain at each level, by the smile dynamics of its options. */
export function* netGexOf(prepared: PreparedChain, level: Float64Array): Steps<Float64Array> {
  if (isStickyStrike(prepared)) return yield* netGexAtLevels(yield* positionsOf(prepared), level);
  const moved = yield* smileMover(prepared);
  const gex = new Float64Array(level.length);
  const meter = new StepMeter(STEP_MOVED);
  for (const [i, spot] of level.entries()) {
    if (meter.beginsNextStep(prepared.pairs.count)) yield { message: MESSAGE };
    const positions = yield* positionsOf(moved(spot));
    gex[i] = (yield* netGexAtLevels(positions, Float64Array.of(spot)))[0]!;
  }
  return gex;
}

/** Returns the sum of the absolute gamma exposures of all contracts at each level, by the smile dynamics of the options. */
export function grossGexOf(prepared: PreparedChain, level: Float64Array): Steps<Float64Array> {
  return netGexOf({ ...prepared, position: prepared.position.map(Math.abs) }, level);
}

/** The number of pairs whose smiles one step moves. */
const STEP_MOVED = 16_384;
const MESSAGE = 'Pricing gamma over levels of spot';

/** Returns the net GEX of given dealer positions at given levels. */
export function* profileAt(positions: Positions, level: Float64Array): Steps<GammaProfile> {
  return { level, gex: yield* netGexAtLevels(positions, level) };
}

/** Returns the levels up to `halfWidth` (a fraction of spot) below and above spot. */
export function levelsWithin(halfWidth: number, spot: number): Float64Array {
  const side = Math.round(halfWidth / STEP);
  return Float64Array.from({ length: 2 * side + 1 }, (_, i) => spot * (1 + (i - side) * STEP));
}

/** The dealers' net positions by pair, in two groups: pairs with a wide gamma curve and pairs with a narrow gamma curve. */
export interface Positions {
  /** Pairs whose gamma curve spans several levels. */
  readonly wide: PositionColumns;
  /** Pairs whose gamma curve is so narrow that its whole peak can lie between two levels. */
  readonly narrow: PositionColumns;
}

/** The positions of a chain, with the index of each row's pair in the chain. */
export interface ChainPositions extends Positions {
  readonly pairsOf: Readonly<Record<keyof Positions, Uint32Array>>;
}

/** The input columns of the kernel, each as an array with all rows. */
export type PositionColumns = Readonly<Record<(typeof POSITION_COLUMNS)[number], Float64Array>> &
  Pick<ProfileColumns, 'count'>;
export const POSITION_COLUMNS = [...PRICED_COLUMNS, 'weight'] as const;

/** The number of pairs or rows that one step handles. */
const STEP_PAIRS = 65_536;

/**
 * Returns the net positions of a chain by pair, because a call and its put have the same gamma at every spot. Leaves out pairs whose
 * positions sum to 0, and pairs without a volatility, whose gamma at other spots is unknown.
 */
export function* positionsOf({ pairs, position, multiplier }: PreparedChain): Steps<ChainPositions> {
  const { count, contracts, tte, iv } = pairs;
  const message = 'Adding up positions';
  const net = new Float64Array(count);
  // Wide pairs fill the array from its front, and narrow pairs fill the array from its back.
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
  const meter = new StepMeter(count > STEP_PAIRS ? STEP_PAIRS : Number.POSITIVE_INFINITY);
  const sources = { ...pairs, weight: net };
  const columns = (rows: Uint32Array) =>
    positionColumns(rows.length, meter, message, (name) => rowsOfColumn(sources[name], rows));
  const pairsOf = { wide: pairRows.subarray(0, wide), narrow: pairRows.subarray(narrow) };
  return { wide: yield* columns(pairsOf.wide), narrow: yield* columns(pairsOf.narrow), pairsOf };
}

/** Computes the columns of positions one after the other. `meter` decides whether a new step begins before a column. */
export function* positionColumns(
  count: number,
  meter: StepMeter,
  message: string,
  columnOf: (name: (typeof POSITION_COLUMNS)[number]) => Float64Array,
): Steps<PositionColumns> {
  const columns: [string, Float64Array][] = [];
  for (const name of POSITION_COLUMNS) {
    if (meter.beginsNextStep(count)) yield { message };
    columns.push([name, columnOf(name)]);
  }
  return { count, ...Object.fromEntries(columns) } as PositionColumns;
}

/** Returns the net GEX of all positions at each level. */
export function* netGexAtLevels({ wide, narrow }: Positions, level: Float64Array): Steps<Float64Array> {
  const gex = yield* gexOfColumns(wide, level);
  const more = yield* gexOfColumns(narrow, level);
  return gex.map((each, i) => each + more[i]!);
}

/** Contracts times levels in one step of about 5 ms, for listed levels and for levels a fixed percentage apart. */
const STEP_LISTED = 524_288;
const STEP_LOG = 3_145_728;

/** Returns the GEX of the dealers' positions at each level, dollars per 1 % move. */
export function* gexOfColumns(columns: PositionColumns, levels: Float64Array | LogLevels): Steps<Float64Array> {
  const isListed = levels instanceof Float64Array;
  const level = isListed ? levels : logLevels(levels);
  const partial = partialProfile(levels);
  const chunks = Math.floor((isListed ? STEP_LISTED : STEP_LOG) / (level.length * CHUNK_ROWS));
  yield* byRange(columns.count, Math.max(1, chunks) * CHUNK_ROWS, MESSAGE, (from, to) => {
    const block = recordOf(POSITION_COLUMNS, (name) => columns[name].subarray(from, to));
    addGammaProfile({ count: to - from, ...block }, levels, partial);
  });
  return profileOf(partial).map((sum, i) => sum * level[i]! ** 2 * 0.01);
}
