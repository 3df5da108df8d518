import { recordOf } from '../../core/record-of.ts';
import type { Steps } from '../../core/steps.ts';
import { STORED_HORIZONS, type StoredHorizon } from '../../market/level-record.ts';
import type { ExpirySelection } from '../chain/options.ts';
import { isSelected } from '../chain/prepare.ts';
import { PRICED_COLUMNS, type PreparedChain } from '../chain/prepared-chain.ts';
import { type LevelSet, levelSet } from './gex-levels.ts';
import { firstAtLeast } from './strike-index.ts';
import { strikeGamma } from './walls.ts';

/** The number of days of the horizon `35d`. The options of five weeks always include a monthly expiry. */
export const HORIZON_DAYS = 35;

/** The horizons of levels: the expiries whose options count. */
export const HORIZONS = [...STORED_HORIZONS, 'all'] as const;
export type Horizon = (typeof HORIZONS)[number];

/** The expiries of each horizon. */
export const EXPIRIES_OF: Readonly<Record<Horizon, ExpirySelection>> = {
  session: { kind: 'session' },
  '35d': { kind: 'next', days: HORIZON_DAYS },
  all: { kind: 'all' },
};

/** The levels of a shorter horizon, with the contracts from which they are computed. */
export interface HorizonLevels extends LevelSet {
  readonly prepared: PreparedChain;
}

/** The levels of the shorter horizons. Null if no call or no put with gamma settles within the horizon: its wall would be invented. */
export type LevelsByHorizon = Readonly<Record<StoredHorizon, HorizonLevels | null>>;

/**
 * Computes the levels of the shorter horizons of a prepared chain. `whole` are the levels of the whole chain, which a horizon has if all
 * series settle within it. `premiumBySeries` is as in `gexLevels`.
 */
export function* horizonLevels(
  prepared: PreparedChain,
  whole: LevelSet,
  premiumBySeries: ReadonlyMap<string, number>,
): Steps<LevelsByHorizon> {
  const month = yield* levelsWithin(prepared, '35d', { ...whole, prepared }, premiumBySeries);
  const session = yield* levelsWithin(prepared, 'session', month ?? { ...whole, prepared }, premiumBySeries);
  return { session, '35d': month };
}

function* levelsWithin(
  prepared: PreparedChain,
  horizon: StoredHorizon,
  longer: HorizonLevels,
  premiumBySeries: ReadonlyMap<string, number>,
): Steps<HorizonLevels | null> {
  const within = withinHorizon(prepared, horizon);
  if (!within) return null;
  if (within.count === longer.prepared.count) return longer;
  yield { message: 'Finding the levels of a horizon' };
  const { call, put } = yield* strikeGamma(within);
  const hasGamma = (gamma: Float64Array) => gamma.some((each) => each > 0);
  if (!hasGamma(call) || !hasGamma(put)) return null;
  return { ...(yield* levelSet(within, premiumBySeries)), prepared: within };
}

/**
 * Returns the contracts of a prepared chain that settle within a horizon, as views of its columns, or `undefined` if there are none. The
 * chain itself is returned if all do. `counts` remain those of the whole chain.
 */
export function withinHorizon(prepared: PreparedChain, horizon: Horizon): PreparedChain | undefined {
  const { asOf } = prepared.chain;
  // Series are in order of settlement, so the series of a horizon are the first ones.
  const outside = prepared.series.findIndex(({ series }) => !isSelected(series, asOf, EXPIRIES_OF[horizon]));
  if (outside < 0) return prepared;
  if (outside === 0) return undefined;
  const count = prepared.series[outside]!.start;
  const { pairs } = prepared;
  const pairCount = firstAtLeast(pairs.contracts, count);
  return {
    ...prepared,
    options: { ...prepared.options, expiries: EXPIRIES_OF[horizon] },
    series: prepared.series.slice(0, outside),
    count,
    row: prepared.row.subarray(0, count),
    seriesIndex: prepared.seriesIndex.subarray(0, count),
    ...columnsUpTo(prepared, CONTRACT_COLUMNS, count),
    pairs: {
      count: pairCount,
      contracts: pairs.contracts.subarray(0, pairCount + 1),
      ...columnsUpTo(pairs, PRICED_COLUMNS, pairCount),
    },
  };
}

const CONTRACT_COLUMNS = [...PRICED_COLUMNS, 'callPut', 'gamma', 'weight', 'position', 'multiplier'] as const;

function columnsUpTo<Name extends string>(
  columns: Readonly<Record<Name, Float64Array>>,
  names: readonly Name[],
  count: number,
): Record<Name, Float64Array> {
  return recordOf(names, (name) => columns[name].subarray(0, count));
}
