import type { Steps } from '../../core/steps.ts';
import { horizonEnd, newYorkDate, YEAR_MS } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import type { Chain } from '../../market/chain.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import type { VarianceClock } from '../../market/variance-clock.ts';
import { DEFAULT_OPTIONS } from '../chain/options.ts';
import { prepareChain } from '../chain/prepare.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { fitClock, type VariancePoint } from '../surface/fit-clock.ts';
import { atmVariancesAround } from '../surface/fit-surface.ts';
import { seriesAtm } from '../surface/series-atm.ts';
import { expiringGamma, seriesNearest } from './gamma-concentration.ts';
import { gexLevels } from './gex-levels.ts';

/** The common maturity at which volatilities of different days are compared, calendar days. */
const DAYS = 30;

/**
 * Computes the level record of a chain for the store. `premiumBySeries` has the same meaning as in `gexLevels`. Throws
 * `ClientError('no_chain')` if no live contract is left.
 */
export function* computeLevelRecord(
  chain: Chain,
  premiumBySeries: ReadonlyMap<string, number>,
  cashDividends: readonly CashDividend[],
): Steps<LevelRecord> {
  const prepared = yield* prepareChain(chain, { ...DEFAULT_OPTIONS, cashDividends });
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
    ...(yield* volatilitiesOf(prepared)),
    expiringGex: expiringGamma(prepared),
  };
}

/** Computes the volatilities of a level record from the settlements around the horizon of 30 days. */
function* volatilitiesOf(prepared: PreparedChain): Steps<Pick<LevelRecord, 'atmIv30d' | 'nearestIv'>> {
  const { asOf } = prepared.chain;
  const end = horizonEnd(asOf, DAYS);
  const around = yield* atmVariancesAround(prepared, end);
  const nearest = seriesNearest(prepared, DAYS);
  if (around.length === 0) return { atmIv30d: null, nearestIv: nearest ? atmVolatility(nearest) : null };
  const clock = fitClock(asOf, atmVariances(prepared));
  const volatilityAt = (atMs: number) => Math.sqrt((varianceAt(around, clock, atMs) * YEAR_MS) / (atMs - asOf));
  return { atmIv30d: volatilityAt(end), nearestIv: nearest ? volatilityAt(nearest.series.settlesAt) : null };
}

/** Returns the total variances at the money of all settlements whose quotes determine a smile, from the smiles of their series. */
function atmVariances(prepared: PreparedChain): VariancePoint[] {
  const variances = new Map<number, number>();
  for (const series of prepared.series.toSorted((a, b) => a.series.settlesAt - b.series.settlesAt)) {
    const { iv } = seriesAtm(prepared, series);
    if (iv !== null) variances.set(series.series.settlesAt, iv * iv * series.tte);
  }
  return Array.from(variances, ([settlesAt, variance]) => ({ settlesAt, variance }));
}

/**
 * Returns the total variance at an instant from one or two points. Between two points, it is linear in the time of the clock. Outside, the
 * variance per time is that of the nearest point.
 */
function varianceAt(points: readonly VariancePoint[], clock: VarianceClock, atMs: number): number {
  const years = clock.years(atMs);
  const [first, last] = [points[0]!, points.at(-1)!];
  const [from, to] = [clock.years(first.settlesAt), clock.years(last.settlesAt)];
  if (years <= from) return (first.variance * years) / from;
  if (years >= to) return (last.variance * years) / to;
  return first.variance + ((years - from) / (to - from)) * (last.variance - first.variance);
}
