import { memoizeByObject } from '../../core/cache.ts';
import type { PreparedChain, PreparedSeries } from '../chain/prepared-chain.ts';
import { skew25 } from '../chain/skew.ts';
import { atmVolatility } from '../chain/smile-variance.ts';
import { atmBand } from '../chain/volatility-band.ts';
import type { FittedSurface, RefusedSeries, SurfaceSlice } from './fitted-surface.ts';
import { lognormalPrice } from './price-law.ts';
import type { RefusalReason } from './quote-bands.ts';
import { skewOf } from './smile-figures.ts';

/** The volatility at the money of a series and the moves that it implies. A figure is null if the quotes do not determine it. */
export interface SeriesVolatility {
  /** At-the-money volatility, decimal per calendar year. */
  readonly iv: number | null;
  /** The volatilities that bids and asks next to the forward imply, decimal per calendar year, or `NaN` without two-sided quotes. */
  readonly band: Readonly<{ bid: number; ask: number }>;
  /** One standard deviation of the price at settlement, dollars. */
  readonly expectedMove: number | null;
  /** Undiscounted price of the straddle at the forward, dollars: the expected distance of the price at settlement from the forward. */
  readonly straddle: number | null;
  /** Why the quotes do not determine a smile, or null. */
  readonly refused: RefusalReason | null;
}

/**
 * Returns the volatility of a series of the surface's chain. It is that of the series' law. A series without a law has at most the volatility
 * of the quotes next to the forward. With an option that chooses the feed's volatilities, it is that of the feed's smile.
 */
export function seriesVolatility(
  surface: FittedSurface,
  prepared: PreparedChain,
  series: PreparedSeries,
): SeriesVolatility {
  const { slice, refusal } = lawsOf(surface).get(series)!;
  const refused = refusal?.reason ?? null;
  const band = refusal ? (refusal.atm ?? NO_BAND) : atmBand(prepared, series);
  if (slice && prepared.options.iv === 'otm') {
    const iv = Math.sqrt(slice.atmVariance / slice.tte);
    return { iv, ...expectedMoves(series, iv), band, refused };
  }
  const iv = refusal ? refusal.atm?.iv : atmVolatility(series);
  if (iv === undefined) return { iv: null, band, expectedMove: null, straddle: null, refused };
  return { iv, ...expectedMoves(series, iv), band, refused };
}

/**
 * Returns the 25-delta skew of a series, decimal per calendar year, from the source of `seriesVolatility`. Returns null without a law, or if
 * an option's price is too small for a volatility.
 */
export function seriesSkew(surface: FittedSurface, prepared: PreparedChain, series: PreparedSeries): number | null {
  const { slice } = lawsOf(surface).get(series)!;
  if (!slice) return null;
  const skew = prepared.options.iv === 'otm' ? skewOf(slice) : skew25(series);
  return Number.isFinite(skew) ? skew : null;
}

/**
 * Returns one standard deviation of the price at settlement, and the undiscounted price of the straddle at the forward, by the volatility at
 * the money. Both are in the unit of the forward. The straddle has this price by every law with this volatility.
 */
export function expectedMoves({ forward, tte }: { forward: number; tte: number }, iv: number) {
  const deviation = iv * Math.sqrt(tte);
  return { expectedMove: forward * deviation, straddle: 2 * forward * lognormalPrice(1, 1, 1, deviation) };
}

type SeriesLaw = Readonly<{ slice?: SurfaceSlice; refusal?: RefusedSeries }>;

const lawsOf = memoizeByObject(({ slices, refused }: FittedSurface): ReadonlyMap<PreparedSeries, SeriesLaw> => {
  const laws = new Map<PreparedSeries, SeriesLaw>();
  for (const slice of slices) for (const series of slice.series) laws.set(series, { slice });
  for (const refusal of refused) laws.set(refusal.series, { refusal });
  return laws;
});

const NO_BAND = { bid: Number.NaN, ask: Number.NaN };
