import type { Steps } from '../../core/steps.ts';
import { horizonEnd, newYorkDate } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import type { Chain } from '../../market/chain.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import { DEFAULT_OPTIONS } from '../chain/options.ts';
import { prepareChain } from '../chain/prepare.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { cachedSurface } from '../surface/fit-surface.ts';
import { gexLevels } from './gex-levels.ts';

/** The common maturity at which volatilities of different days are compared, calendar days. */
const DAYS = 30;

/**
 * Computes the level record of a chain for the store. `premiumBySeries` has the same meaning as in `gexLevels`. Throws
 * `ClientError('no_chain')` if no live contract is left. Callers may give the 30-day volatility as `atmIv30d`. Without `atmIv30d`, the
 * function fits a surface, which takes most of the time.
 */
export function* computeLevelRecord(
  chain: Chain,
  premiumBySeries: ReadonlyMap<string, number>,
  cashDividends: readonly CashDividend[],
  atmIv30d?: number | null,
): Steps<LevelRecord> {
  const prepared = yield* prepareForRecord(chain, cashDividends);
  const { exposures, walls, flip, dominant, maxPain } = yield* gexLevels(prepared, premiumBySeries);
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
    atmIv30d: atmIv30d === undefined ? yield* volatilityAt30Days(chain, cashDividends) : atmIv30d,
  };
}

/**
 * Computes the surface's at-the-money volatility at a horizon of 30 days, decimal per calendar year. If the last settlement is less than 30
 * days away, the surface extrapolates at a constant volatility per year of trading time. Returns null if no series determines a smile.
 */
export function* volatilityAt30Days(chain: Chain, cashDividends: readonly CashDividend[]): Steps<number | null> {
  const prepared = yield* prepareForRecord(chain, cashDividends);
  const surface = yield* cachedSurface(prepared);
  if (surface.slices.length === 0) return null;
  const { atmVariance, tte } = surface.lawAt(horizonEnd(prepared.chain.asOf, DAYS));
  return Math.sqrt(atmVariance / tte);
}

/** Prepares a chain with the default options. The result is cached by the chain. */
function prepareForRecord(chain: Chain, cashDividends: readonly CashDividend[]): Steps<PreparedChain> {
  return prepareChain(chain, { ...DEFAULT_OPTIONS, cashDividends });
}
