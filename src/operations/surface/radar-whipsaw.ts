import type { PreparedChain } from '../../analytics/chain/prepared-chain.ts';
import { expiringGamma, seriesNearest } from '../../analytics/exposure/gamma-concentration.ts';
import type { GexLevels } from '../../analytics/exposure/gex-levels.ts';
import { whipsawComponents, whipsawIndex } from '../../analytics/exposure/whipsaw.ts';
import { realisedVolatility } from '../../analytics/returns.ts';
import { ClientError } from '../../core/errors.ts';
import type { Steps } from '../../core/steps.ts';
import type { LevelRecord } from '../../market/level-record.ts';
import type { Context } from '../engine/operation.ts';
import { surfaceOfPrepared } from '../reading/chain-surface.ts';
import { closesKnown, levelsOf, type MarketReading, readMarket } from '../reading/market-reading.ts';

/** The default value of `target_dte` of a scan, days. */
export const TARGET_DTE = 30;

/** Number of daily returns from which the realised volatility is computed. */
const REALISED_DAYS = 20;

/** Returns the at-the-money volatility of the expiry nearest to TARGET_DTE days, decimal per year; null if no series has a smile. */
export function* whipsawIv(prepared: PreparedChain): Steps<number | null> {
  const series = seriesNearest(prepared, TARGET_DTE);
  if (!series) return null;
  const { atmVariance, tte } = (yield* surfaceOfPrepared(prepared)).lawAt(series.series.settlesAt);
  return Math.sqrt(atmVariance / tte);
}

/**
 * Computes the components of the whipsaw index. `iv` is the volatility of `whipsawIv`. Also returns the realised volatility (decimal per
 * year, null if too few closes are known), and the gross GEX of contracts that settle within a day (dollars per 1 % move).
 */
export function whipsawOf({ chain, prepared }: MarketReading, levels: GexLevels, iv: number, context: Context) {
  const realised = realisedVolatility(closesKnown(chain, REALISED_DAYS + 1, context), REALISED_DAYS);
  const expiring = expiringGamma(prepared);
  const components = whipsawComponents({
    spot: chain.spot,
    flip: levels.flip,
    iv,
    netGamma: levels.exposures.gex,
    grossGamma: levels.exposures.grossGex,
    expiringGamma: expiring,
    realised,
  });
  return { components, realised, expiring };
}

/** Computes the index from stored levels, 0 to 100; null without volatility, `undefined` for levels of an earlier program. */
export function whipsawIndexOfLevels(levels: LevelRecord, context: Context): number | null | undefined {
  const { spot, netGex: netGamma, grossGex: grossGamma, expiringGex: expiringGamma, nearestIv: iv } = levels;
  if (expiringGamma === null) return undefined;
  if (iv === null) return null;
  const flip = { level: levels.gexFlip, resolved: levels.flipResolved };
  const realised = realisedVolatility(closesKnown(levels, REALISED_DAYS + 1, context), REALISED_DAYS);
  return whipsawIndex(whipsawComponents({ spot, flip, iv, netGamma, grossGamma, expiringGamma, realised }));
}

/** Computes the whipsaw index of a ticker, 0 to 100. Returns null if the ticker has no chain, or if the chain has no volatility. */
export function* whipsawIndexOf(ticker: string, context: Context): Steps<number | null> {
  try {
    const reading = yield* readMarket(ticker, context);
    const iv = yield* whipsawIv(reading.prepared);
    if (iv === null) return null;
    const levels = yield* levelsOf(reading);
    return whipsawIndex(whipsawOf(reading, levels, iv, context).components);
  } catch (error) {
    if (error instanceof ClientError && error.code === 'no_chain') return null;
    throw error;
  }
}
