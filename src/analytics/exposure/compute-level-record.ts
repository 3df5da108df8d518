import { DAY_MS, newYorkDate, YEAR_MS } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import type { Chain } from '../../market/chain.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import type { Steps } from '../../steps.ts';
import { DEFAULT_OPTIONS } from '../chain/options.ts';
import { prepareInSteps } from '../chain/prepare.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { gexLevelsInSteps } from './gex-levels.ts';

/** The tenor at which volatilities of different days are compared, years. */
const THIRTY_DAYS = (30 * DAY_MS) / YEAR_MS;

/**
 * Computes the levels of a chain that are stored. `premiumBySeries` is the same as for `gexLevels`.
 * Throws `ClientError('no_chain')` if no live contract is left.
 */
export function* levelRecordInSteps(
  chain: Chain,
  premiumBySeries: ReadonlyMap<string, number>,
  cashDividends: readonly CashDividend[],
): Steps<LevelRecord> {
  const prepared = yield* prepareInSteps(chain, { ...DEFAULT_OPTIONS, cashDividends });
  const { exposures, walls, flip, dominant, maxPain } = yield* gexLevelsInSteps(prepared, premiumBySeries);
  return {
    underlying: chain.underlying,
    simulated: chain.simulated,
    asOf: chain.asOf,
    day: newYorkDate(chain.asOf),
    spot: chain.spot,
    netGex: exposures.gex,
    grossGex: exposures.grossGex,
    gexFlip: flip.level,
    flipResolved: flip.resolved,
    callWall: walls.call.strike,
    putWall: walls.put.strike,
    maxPain,
    expiry: dominant.series.expiry,
    dex: exposures.dex,
    vex: exposures.vex,
    cex: exposures.cex,
    atmIv30d: atmVolatilityAt(prepared, THIRTY_DAYS),
  };
}

/**
 * Returns the at-the-money volatility for `tte` years, decimal per year, from the quoted smiles. Total variance is linear in time between
 * two expiries. Before the first expiry, the volatility is that of the first, and after the last expiry, that of the last. Returns null if
 * no series has a volatility.
 */
function atmVolatilityAt(prepared: PreparedChain, tte: number): number | null {
  const known = prepared.series
    .map((series) => ({ tte: series.tte, variance: atmVolatility(series) ** 2 * series.tte }))
    .filter(({ variance }) => variance > 0)
    .sort((a, b) => a.tte - b.tte);
  const after = known.findIndex((each) => each.tte >= tte);
  if (known.length === 0) return null;
  if (after <= 0) {
    const edge = after === 0 ? known[0]! : known.at(-1)!;
    return Math.sqrt(edge.variance / edge.tte);
  }
  const [a, b] = [known[after - 1]!, known[after]!];
  const variance = a.variance + ((b.variance - a.variance) * (tte - a.tte)) / (b.tte - a.tte);
  return Math.sqrt(variance / tte);
}
