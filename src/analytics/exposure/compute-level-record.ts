import type { Steps } from '../../core/steps.ts';
import { horizonEnd, newYorkDate, YEAR_MS } from '../../market/calendar.ts';
import type { CashDividend } from '../../market/cash-dividend.ts';
import type { Chain } from '../../market/chain.ts';
import type { LevelRecord, StoredLevels } from '../../market/level-record.ts';
import type { VarianceClock } from '../../market/variance-clock.ts';
import { DEFAULT_OPTIONS } from '../chain/options.ts';
import { prepareChain } from '../chain/prepare.ts';
import type { PreparedChain } from '../chain/prepared-chain.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { atmBand } from '../chain/volatility-band.ts';
import { fitClock } from '../surface/fit-clock.ts';
import { fitSurface } from '../surface/fit-surface.ts';
import type { SurfaceSlice } from '../surface/fitted-surface.ts';
import { bandSource, smileRefusals } from '../surface/quote-bands.ts';
import { expiringGamma, seriesNearest } from './gamma-concentration.ts';
import { gexLevels, type LevelSet } from './gex-levels.ts';
import { horizonLevels } from './horizons.ts';

/** The common maturity at which volatilities of different days are compared, calendar days. */
const DAYS = 30;

/**
 * Computes the level record of a chain. `premiumBySeries` is as in `gexLevels`. Throws `ClientError('no_chain')` without a live contract.
 */
export function* computeLevelRecord(
  chain: Chain,
  premiumBySeries: ReadonlyMap<string, number>,
  cashDividends: readonly CashDividend[],
): Steps<LevelRecord> {
  const prepared = yield* prepareChain(chain, { ...DEFAULT_OPTIONS, cashDividends });
  const levels = yield* gexLevels(prepared, premiumBySeries);
  const { session, '35d': month } = yield* horizonLevels(prepared, levels, premiumBySeries);
  const { exposures } = levels;
  return {
    underlying: chain.underlying,
    simulated: chain.simulated,
    asOf: chain.asOf,
    day: newYorkDate(chain.asOf),
    spot: chain.spot,
    ...storedLevels(levels),
    byHorizon: { session: session && storedLevels(session), '35d': month && storedLevels(month) },
    dex: exposures.dex,
    vex: exposures.vex,
    cex: exposures.cex,
    ...(yield* volatilitiesOf(prepared)),
    expiringGex: expiringGamma(prepared),
  };
}

function storedLevels({ exposures, walls, flip, dominant, maxPain }: LevelSet): StoredLevels {
  return {
    netGex: exposures.gex,
    grossGex: exposures.grossGex,
    signProbability: exposures.signProbability,
    gexFlip: flip.level,
    flipResolved: flip.resolved,
    callWall: walls.call.strike,
    putWall: walls.put.strike,
    maxPain,
    expiry: dominant.series.expiry,
  };
}

/**
 * Computes the volatilities of a level record from the fits of the last settlement before a horizon of 30 days and of the first settlement
 * from the horizon on. The fits of a whole surface are slightly different, because each fit also depends on those of its neighbours.
 */
function* volatilitiesOf(prepared: PreparedChain): Steps<Pick<LevelRecord, 'atmIv30d' | 'nearestIv'>> {
  const { asOf } = prepared.chain;
  const nearest = seriesNearest(prepared, DAYS);
  const refusals = smileRefusals(prepared);
  const usable = prepared.series.filter((each) => !refusals.has(each));
  if (usable.length === 0) return { atmIv30d: null, nearestIv: nearest ? atmVolatility(nearest) : null };
  const variances = new Map(usable.map((each) => [each.series.settlesAt, atmVolatility(each) ** 2 * each.tte]));
  const times = [...variances.keys()].sort((a, b) => a - b);
  const end = horizonEnd(asOf, DAYS);
  const next = times.find((each) => each >= end);
  const last = next === end ? next : times.findLast((each) => each < end);
  const series = usable.filter(({ series: { settlesAt } }) => settlesAt === last || settlesAt === next);
  yield { message: 'Fitting the volatility at 30 days' };
  const source = bandSource(prepared);
  const { slices } = yield* fitSurface({ ...prepared, series }, source);
  const bands = new Map(usable.map((each) => [each.series.settlesAt, atmBand(prepared, each)]));
  const clock = fitClock(
    asOf,
    times.map((settlesAt) => {
      const { bid, ask } = bands.get(settlesAt)!;
      const band = (ask - bid) / (ask + bid);
      return { settlesAt, variance: variances.get(settlesAt)!, ...(source === 'quotes' && { band }) };
    }),
  );
  const volatilityAt = (atMs: number) => Math.sqrt((varianceAt(slices, clock, atMs) * YEAR_MS) / (atMs - asOf));
  return { atmIv30d: volatilityAt(end), nearestIv: nearest ? volatilityAt(nearest.series.settlesAt) : null };
}

/**
 * Returns the total variance at the money at an instant, from the slices of one or two settlements. Between two settlements, it is linear in
 * the time of the clock. Outside, the variance per time is that of the nearest settlement.
 */
function varianceAt(slices: readonly SurfaceSlice[], clock: VarianceClock, atMs: number): number {
  const years = clock.years(atMs);
  const [first, last] = [slices[0]!, slices.at(-1)!];
  const [from, to] = [clock.years(first.settlesAt), clock.years(last.settlesAt)];
  if (years <= from) return (first.atmVariance * years) / from;
  if (years >= to) return (last.atmVariance * years) / to;
  return first.atmVariance + ((years - from) / (to - from)) * (last.atmVariance - first.atmVariance);
}
